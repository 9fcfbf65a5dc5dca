/** Claude Code, Codex and ATIF, which have no recorded traffic: against what the fixtures' READMEs say is in them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MessageStore } from '../../../main/record/message-store.js';
import { sessionTranscript } from '../../../main/record/transcript.js';
import { toAtif } from '../../../main/trajectory/to-atif.js';
import { describeShared } from '../../support/shared.js';
import { SESSION } from '../../trajectory/support.js';
import { CLAUDE_LINES } from './sessions.js';
import { filesBelow, type Home, openTestHome, outline } from './support.js';

let at: Home;
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

const callsOf = (sessionId: string) =>
  at.store.toolCall
    .list({ where: { sessionId }, descending: false })
    .map((call) => [call.name, call.exitCode, call.isError]);
const stepsOf = (sessionId: string) => sessionTranscript(at.store, new MessageStore(at.store.db), sessionId)!.steps;

describeShared('sessions of other programs', (shared) => {
  const root = join(shared, 'fixtures', 'imports');

  it('Claude Code: one message over three lines is one request, its usage counted once', async () => {
    const { sessions, skipped } = await at.import(join(root, 'claude-code'));
    expect(skipped).toEqual([]);
    expect(sessions).toHaveLength(2);
    const [main, child] = sessions.map(({ session }) => session);
    expect(main).toMatchObject({
      title: 'Fix calc test',
      model: 'claude-sonnet-4-5-20250929',
      requests: 7,
      toolCalls: 5,
    });
    expect(main!.source).toMatchObject({ harness: 'claude-code', cwd: '/home/dev/calc', harnessVersion: '2.1.144' });
    expect(callsOf(main!.id)).toEqual([
      ['Bash', 1, true],
      ['Read', null, false],
      ['Edit', null, false],
      ['Bash', 0, false],
      ['Write', null, false],
    ]);
    const requests = at.requests(main!.id);
    expect(requests[0]).toMatchObject({ promptTokens: 4012, completionTokens: 80, cachedTokens: 4000 });
    expect(at.prompt(requests.at(-1)!)).toHaveLength(14);
    expect(stepsOf(main!.id).flatMap((step) => (step.kind === 'user' ? [step.mark ?? step.text] : []))).toEqual([
      'context',
      'Fix the failing test',
      'Now write NOTES.md',
    ]);
    expect(child!.source?.parent).toEqual({ sessionId: main!.id, kind: 'subagent' });
  });

  it('Codex: both kinds of output give exit codes, injected texts are marked', async () => {
    const { sessions, skipped } = await at.import(join(root, 'codex'));
    expect(skipped).toEqual([]);
    expect(sessions.map(({ session }) => [session.title, session.model, session.requests, session.toolCalls])).toEqual([
      ['Fix the failing test', 'gpt-5-codex', 7, 5],
      ['Fix the failing test', 'gpt-5-codex', 7, 5],
    ]);
    for (const { session } of sessions) {
      expect(callsOf(session.id).map(([, code, failed]) => [code, failed])).toEqual([
        [1, true],
        [0, false],
        [0, false],
        [0, false],
        [0, false],
      ]);
      const requests = at.requests(session.id);
      expect(requests.map((request) => request.promptTokens)).toEqual([3000, 3300, 3500, 3700, 3900, 4100, 4200]);
      expect(requests.reduce((sum, request) => sum + request.completionTokens, 0)).toBe(268);
      expect(stepsOf(session.id).flatMap((step) => (step.kind === 'user' ? [step.mark ?? step.text] : []))).toEqual([
        'context',
        'Fix the failing test',
        'Now write NOTES.md',
      ]);
    }
  });

  it('reads every valid ATIF sample', async () => {
    const dir = join(shared, 'specs', 'formats', 'atif', 'samples', 'valid');
    const { sessions, skipped } = await at.import(dir);
    expect(skipped).toEqual([]);
    expect(sessions.length).toBeGreaterThanOrEqual(filesBelow(dir, '.json').length);
  });

  it('refuses each invalid ATIF sample by name and imports nothing of it', async () => {
    const dir = join(shared, 'specs', 'formats', 'atif', 'samples', 'invalid');
    const { skipped } = await at.import(dir);
    expect(skipped.length).toBeGreaterThan(0);
    for (const { reason } of skipped) expect(reason).toMatch(/ATIF|schema|known here/);
  });
});

describe('Claude Code', () => {
  it('makes a session of the subagent whose lines stand among the others', async () => {
    const aside = CLAUDE_LINES.slice(0, 2).map((line) => ({ ...line, isSidechain: true }) as Record<string, unknown>);
    aside[0] = { ...aside[0], uuid: 's1', message: { role: 'user', content: 'Look around' } };
    aside[1] = {
      ...aside[1],
      uuid: 's2',
      parentUuid: 's1',
      message: { id: 'sub', content: [{ type: 'text', text: 'Seen.' }] },
    };
    const file = join(at.home, 'mixed.jsonl');
    writeFileSync(
      file,
      [...CLAUDE_LINES.slice(0, 4), ...aside, ...CLAUDE_LINES.slice(4)].map((line) => JSON.stringify(line)).join('\n'),
    );
    const { sessions, skipped } = await at.import(file);
    expect(skipped).toEqual([]);
    expect(sessions.map(({ session }) => [session.title, session.requests, session.source?.parent?.kind])).toEqual([
      ['Fix the test', 2, undefined],
      ['Look around', 1, 'subagent'],
    ]);
    const [main] = sessions.map(({ session }) => session);
    // Both results stand after both calls, in one conversation.
    expect(outline(at.prompt(at.requests(main!.id)[1]!)).map((line) => line.split('|')[0])).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
  });
});

describe('ATIF', () => {
  it('comes back as what was written', async () => {
    const file = join(at.home, 'session.json');
    writeFileSync(file, JSON.stringify(toAtif(SESSION, { mode: 'raw' })));
    const { sessions } = await at.import(file);
    const [{ session }] = sessions as [(typeof sessions)[number]];
    const requests = at.requests(session.id);
    expect(requests.map((request) => [request.promptTokens, request.synthetic])).toEqual([
      [3, false],
      [0, true],
      [5, false],
    ]);
    expect(callsOf(session.id)).toEqual([
      ['bash', 0, false],
      ['bash', null, true],
    ]);
    expect(outline(at.prompt(requests[1]!))).toEqual(['user|A summary.||']);
  });
});
