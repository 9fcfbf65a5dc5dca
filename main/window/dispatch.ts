/** Answers one call of the window: checks its input, runs it, checks its output, maps errors. Used by every transport. */
import { CALLS, type CallName, isCallName, type Reply, type WindowServices } from '../../contract/api.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';

const refuse = (message: string, hint?: string): Reply<never> => ({
  ok: false,
  error: { code: 'BAD_ARGUMENT', message, hint },
});

/** Never throws. Unknown errors keep their sentence only: no stack, no cause, no path of a source file. */
export async function dispatchCall(services: WindowServices, name: unknown, input: unknown): Promise<Reply<unknown>> {
  if (!isCallName(name))
    return refuse('The window asked for something this version does not know.', 'Reload the window.');
  const parsed = CALLS[name].input.safeParse(input ?? {});
  if (!parsed.success) {
    const first = parsed.error.issues[0];
    return refuse(
      `The input of ${name} is wrong at ${first?.path.join('.') || 'its top'}: ${first?.message ?? 'unknown reason'}.`,
    );
  }
  try {
    const run = services[name] as (args: unknown) => unknown;
    return { ok: true, output: checkOutput(name, await run(parsed.data)) };
  } catch (error) {
    return { ok: false, error: publicShape(toErrorShape(error)) };
  }
}

function checkOutput(name: CallName, output: unknown): unknown {
  const parsed = CALLS[name].output.safeParse(output);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0];
  throw new Error(
    `The answer of ${name} does not have the agreed shape at ${first?.path.join('.')}: ${first?.message}.`,
  );
}

/** Cuts a message down to its first line of at most 500 characters. */
function publicShape(shape: ErrorShape): ErrorShape {
  const line = shape.message.split('\n', 1)[0] ?? '';
  return { code: shape.code, message: line.slice(0, 500), hint: shape.hint };
}
