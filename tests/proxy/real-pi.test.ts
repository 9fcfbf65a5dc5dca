/** The real pi, unmodified, against the proxy; only the model is scripted. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { type Rig, startRig } from './support.js';

const modules = join(import.meta.dirname, '../../.harness/pi/node_modules');
const node = join(modules, 'node/bin/node');
const cli = join(modules, '@earendil-works/pi-coding-agent/dist/bundle/cli.js');
const missing = !existsSync(node) || !existsSync(cli);

let rig: Rig;
let work: string;
beforeEach(async () => {
  rig = await startRig();
  work = join(rig.home, 'work');
  mkdirSync(work);
});
afterEach(() => rig.close());

function configure(headers: boolean, api = 'openai-completions'): void {
  const agent = join(rig.home, 'agent');
  mkdirSync(agent, { recursive: true });
  const compat = headers ? { sendSessionAffinityHeaders: true, sessionAffinityFormat: 'openai' } : {};
  const provider = {
    // Where it speaks Anthropic's API it adds the version to the path itself.
    baseUrl: `http://127.0.0.1:${rig.port}/pi${api === 'anthropic-messages' ? '' : '/v1'}`,
    api,
    apiKey: rig.token,
    compat: { ...compat, supportsStore: false, maxTokensField: 'max_tokens' },
    models: [{ id: 'tackroom/demo', name: 'Tackroom', reasoning: false, contextWindow: 32768, maxTokens: 1024 }],
  };
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { tackroom: provider } }));
}

interface PiRun {
  code: number | null;
  events: {
    type: string;
    message?: { role: string; responseId?: string; content?: { type: string; text?: string }[] };
  }[];
}

function runPi(...args: string[]): Promise<PiRun> {
  const env = {
    PATH: process.env.PATH,
    HOME: rig.home,
    PI_CODING_AGENT_DIR: join(rig.home, 'agent'),
    PI_OFFLINE: '1',
    PI_TELEMETRY: '0',
  };
  const child = spawn(node, [cli, '--model', 'tackroom/tackroom/demo', '--mode', 'json', ...args], {
    cwd: work,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({
        code,
        events: text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as PiRun['events'][number]),
      }),
    );
  });
}

const finalText = ({ events }: PiRun): string => {
  const message = events.findLast(
    (event) => event.type === 'message_end' && event.message?.role === 'assistant',
  )?.message;
  return (message?.content ?? []).map((part) => part.text ?? '').join('');
};
const bash = (command: string) => ({ name: 'bash', arguments: JSON.stringify({ command }) });

const MISSING = 'pi is not installed (node scripts/install-pi.mjs)';

describe('pi 1.6', () => {
  it('runs the tool call, and its session is recorded under its own id', async (context) => {
    context.skip(missing, MISSING);
    configure(true);
    rig.engine.script({ text: ['I make it.'], calls: [bash('echo made > made.txt')] }, { text: ['Made.'] });
    const run = await runPi('Make the file.');
    expect([run.code, finalText(run)]).toEqual([0, 'Made.']);
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
    const sessions = join(rig.home, 'agent/sessions');
    const file = join(sessions, readdirSync(sessions)[0]!, readdirSync(join(sessions, readdirSync(sessions)[0]!))[0]!);
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; id: string; message?: { role: string; responseId?: string } });
    const [session] = rig.store.session.list();
    expect(session).toMatchObject({
      harness: 'pi',
      harnessSessionId: lines[0]!.id,
      requests: 2,
      toolCalls: 1,
      title: 'Make the file.',
    });
    const answers = lines.flatMap((line) => (line.message?.role === 'assistant' ? [line.message.responseId] : []));
    const requests = rig.store.request.list({ orderBy: 'createdAt', descending: false });
    expect(answers).toEqual(requests.map((request) => `chatcmpl-${request.id}`));
    const { steps } = rig.recorder.sessionTranscript(session!.id)!;
    expect(steps.map((step) => step.kind)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  }, 60_000);

  it('is grouped by prefix when it sends no id, and ends its turn on a blocked call', async (context) => {
    context.skip(missing, MISSING);
    configure(false);
    rig.engine.script(
      { calls: [bash('echo one'), bash('echo evil > evil.txt')] },
      { calls: [bash('echo evil > evil.txt')] },
    );
    const run = await runPi('Do it.');
    expect([run.code, finalText(run)]).toEqual([0, '[tackroom] blocked call to `bash`: It is evil.']);
    expect(existsSync(join(work, 'evil.txt'))).toBe(false);
    expect(rig.store.session.list()).toMatchObject([{ harnessSessionId: null, requests: 2, toolCalls: 3, blocked: 2 }]);
  }, 60_000);

  it.for([
    ['openai-responses', 'responses'],
    ['anthropic-messages', 'messages'],
  ])(
    'speaks %s: tools run, a blocked call does not, the session is one',
    { timeout: 60_000 },
    async ([api, recorded], context) => {
      context.skip(missing, MISSING);
      configure(true, api);
      rig.engine.script(
        {
          reasoning: ['I thi', 'nk.'],
          text: ['I make it.'],
          calls: [bash('echo made > made.txt'), bash('echo evil > evil.txt')],
        },
        { text: ['Made.'] },
      );
      const run = await runPi('Make the file.');
      expect([run.code, finalText(run)]).toEqual([0, 'Made.']);
      expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
      expect(existsSync(join(work, 'evil.txt'))).toBe(false);
      expect(rig.store.session.list()).toMatchObject([{ requests: 2, toolCalls: 2, blocked: 1 }]);
      expect(rig.store.request.list().map((request) => request.api)).toEqual([recorded, recorded]);
      // What pi sends back in the second turn is read as what it was served in the first.
      expect(rig.engine.asked[1]!.messages.at(-2)).toMatchObject({
        role: 'assistant',
        content: expect.stringContaining('I make it.') as string,
        tool_calls: [{ function: { name: 'bash' } }],
      });
      expect(rig.engine.asked[1]!.messages.at(-1)).toMatchObject({ role: 'tool' });
    },
  );

  it('asks again after the engine was gone, but not after a permanent error', async (context) => {
    context.skip(missing, MISSING);
    configure(true);
    rig.engine.script({ error: new TackroomError('SERVICE_GONE', 'The engine stopped.') }, { text: ['Back again.'] });
    expect(finalText(await runPi('Hello.'))).toBe('Back again.');
    expect(rig.store.request.list({ descending: false }).map((request) => request.status)).toEqual(['error', 'ok']);
    rig.engine.script({ error: new TackroomError('NOT_FOUND', 'There is no adapter x.') });
    const before = rig.engine.asked.length;
    await runPi('Hello.');
    expect(rig.engine.asked.length - before).toBe(1);
  }, 90_000);
});
