import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MessageStore } from '../../../main/record/message-store.js';
import { sessionTranscript } from '../../../main/record/transcript.js';
import { describeShared } from '../../support/shared.js';
import { type Home, openTestHome, outline, servedPrompts } from './support.js';

/** The folders hold the first or the last requests only. */
const PARTLY_SERVED = /chat-(?:loop|sametool|continue)$|pi-0\.73\/chat-err429$/;

let at: Home;
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

describeShared('session files of the real pi', (shared) => {
  const root = join(shared, 'fixtures', 'harness');
  const scenarios = ['pi', 'pi-0.73'].flatMap((harness) =>
    readdirSync(join(root, harness))
      .filter((name) => name.startsWith('chat-') || name === 'tree-branches')
      .map((name) => join(root, harness, name))
      .filter((dir) => existsSync(join(dir, 'session')) && existsSync(join(dir, 'http'))),
  );

  it.each(scenarios)('%s: as the model saw it', async (dir) => {
    const { sessions, skipped } = await at.import(join(dir, 'session'));
    expect(skipped).toEqual([]);
    const served = servedPrompts(dir).map((messages) =>
      outline(messages.filter((m) => !/system|developer/.test(m.role))),
    );
    const imported = sessions.flatMap(({ session }) =>
      at.requests(session.id).map((request) => outline(at.prompt(request).filter((m) => m.role !== 'system'))),
    );
    const keys = imported.map((prompt) => JSON.stringify(prompt));
    // pi asks a repeated request once: the server saw each try.
    for (const prompt of served) expect(keys).toContain(JSON.stringify(prompt));
    if (!PARTLY_SERVED.test(dir)) expect(imported).toHaveLength(served.length);
  });

  it('keeps the system prompt and the tools of pi 1.x', async () => {
    const dir = join(root, 'pi', 'chat-text');
    const { session } = (await at.import(join(dir, 'session'))).sessions[0]!;
    const [request] = at.requests(session.id);
    expect(outline(at.prompt(request!))).toEqual(outline(servedPrompts(dir)[0]!));
    const tools = new MessageStore(at.store.db).tools(request!.toolsHash!)!;
    expect(tools.map((tool) => tool.function.name)).toEqual(['read', 'bash', 'edit', 'write']);
    expect(session).toMatchObject({ harness: 'pi', origin: 'import', model: 'fake-model', requests: 1 });
    expect(session.source).toMatchObject({ harness: 'pi', cwd: '/home/dev/proj', parent: null });
  });

  it('recovers exit codes', async () => {
    const codes = async (name: string) => {
      const { session } = (await at.import(join(root, name, 'session'))).sessions[0]!;
      return at.store.toolCall.list({ where: { sessionId: session.id } }).map((call) => [call.exitCode, call.isError]);
    };
    expect(await codes('pi/chat-tool')).toEqual([[0, false]]);
    expect(await codes('pi/chat-toolfail')).toEqual([[3, true]]);
    expect(await codes('pi-0.73/chat-toolfail')).toEqual([[3, true]]);
    expect(await codes('pi/chat-tooltimeout')).toEqual([[null, true]]);
    expect(await codes('pi/chat-unknowntool')).toEqual([[null, true]]);
  });

  it('keeps branches, and says which user messages nobody typed', async () => {
    const { session } = (await at.import(join(root, 'pi/tree-branches/session'))).sessions[0]!;
    const steps = sessionTranscript(at.store, new MessageStore(at.store.db), session.id)!.steps;
    const asked = steps.flatMap((step) =>
      step.kind === 'user' ? [[step.text.slice(0, 30), step.mark ?? 'typed']] : [],
    );
    expect(asked).toEqual([
      ['First question: run the comman', 'typed'],
      ['Second question on branch A.', 'typed'],
      ['The following is a summary of ', 'summary'],
      ['Second question on branch B.', 'typed'],
      ['First question, rewritten (bra', 'typed'],
    ]);
    expect(steps.filter((step) => step.kind === 'rewrite')).toHaveLength(2);
  });

  it('links a forked file with the one it came from', async () => {
    const { sessions } = await at.import(join(root, 'pi', '_rpc'));
    expect(sessions.length).toBe(4);
    const forked = sessions.find(({ session }) => session.source?.parent);
    expect(sessions.map(({ session }) => session.id)).toContain(forked?.session.source?.parent?.sessionId);
    expect(forked?.session.source?.parent?.kind).toBe('fork');
  });

  it('imports 108 sessions with 272 answers', { timeout: 120_000 }, async () => {
    const { sessions } = await at.import(root);
    const own = sessions.filter(({ session }) => session.harness === 'pi');
    expect(own.length).toBe(108);
    expect(own.reduce((sum, { session }) => sum + session.requests, 0)).toBe(272);
  });
});
