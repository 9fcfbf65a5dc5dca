/** `tackroom guard wrong`, `guard allowances`, `guard test`. */
import { AllowanceStore } from '../guard/allowance-store.js';
import { answerWrong, revokeAllowance } from '../guard/answer-wrong.js';
import { runRuleTests } from '../guard/run-rule-tests.js';
import { MessageStore } from '../record/message-store.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { oneLine } from './printable.js';
import { minuteText, table } from './table.js';

/** Errors: NOT_FOUND, BAD_ARGUMENT (nothing to allow). */
export async function guardWrongCommand(options: GlobalOptions & { verdict: string }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const { id, rule, tool } = answerWrong(store, new MessageStore(store.db), options.verdict);
    io.stdout.write(`${rule} lets this call of ${oneLine(tool, 60)} pass from now on (${id}).\n`);
    return 0;
  });
}

/** Errors: NOT_FOUND. */
export async function guardAllowancesCommand(
  options: GlobalOptions & { revoke?: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    if (options.revoke !== undefined) {
      const { rule, tool } = revokeAllowance(store, options.revoke);
      io.stdout.write(`${rule} looks at this call of ${oneLine(tool, 60)} again.\n`);
      return 0;
    }
    const allowances = new AllowanceStore(store).list();
    if (options.json) io.stdout.write(`${JSON.stringify({ allowances })}\n`);
    else
      io.stdout.write(
        table(
          ['id', 'since', 'rule', 'tool', 'verdict'],
          allowances.map((one) => [one.id, minuteText(one.createdAt), one.rule, oneLine(one.tool, 30), one.verdictId]),
        ),
      );
    return 0;
  });
}

/** Exit 1 when one says something else, or cannot be read. */
export async function guardTestCommand(options: GlobalOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  return withStore(options, async (store) => {
    const { results, unreadable } = await runRuleTests(store);
    if (options.json) io.stdout.write(`${JSON.stringify({ results, unreadable })}\n`);
    else
      io.stdout.write(
        table(
          ['test', 'tool', 'state', 'expected', 'now', 'rule'],
          results.map((one) => [
            oneLine(one.id, 40),
            oneLine(one.tool, 30),
            one.status,
            one.expected,
            one.verdict,
            one.rule,
          ]),
        ),
      );
    for (const place of unreadable) io.stderr.write(`guard-tests/${place} is no rule test.\n`);
    return results.some(({ status }) => status === 'changed') || unreadable.length > 0 ? 1 : 0;
  });
}
