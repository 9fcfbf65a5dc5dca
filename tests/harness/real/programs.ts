/** How each real harness is set up in a home of its own, called, and heard. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HarnessName } from '../../../main/harness/connector.js';
import type { Api } from '../../../main/proxy/dialects/dialect.js';
import { type Ran, realHermes, realOpencode, realPi } from '../../support/real-harnesses.js';
import type { Command } from './program.js';
import type { Setting } from './scenarios.js';

export interface Setup {
  /** An empty folder: the harness's home. */
  home: string;
  /** Where it works, with the files of a small project. */
  work: string;
  /** Of the model server or of the gateway, before `/v1`. */
  origin: string;
  key: string;
  model: string;
  api: Api;
  set: ReadonlySet<Setting>;
}

export interface Said {
  /** What the user reads at the end. */
  answer: string;
  /** Why it gave up, as it says; '' when it did not. */
  failure: string;
}

export interface Program {
  configure(setup: Setup): void;
  begin(setup: Setup): Command;
  /** A second turn in the session of the first. */
  goOn(setup: Setup, first: Ran): Command;
  hear(ran: Ran): Said;
}

const PROMPT = 'Say what this project does.';
const SECOND_PROMPT = 'And what does it not do?';
/** A red dot of one pixel. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
const json = (file: string, value: unknown): void => write(file, JSON.stringify(value));

export function writeProject(work: string): void {
  write(join(work, 'README.md'), '# Small\n\nPrints a greeting.\n');
  write(join(work, 'main.py'), "print('hello')\n");
  write(join(work, 'scratch', 'old.txt'), 'old\n');
  write(join(work, 'picture.png'), Buffer.from(PICTURE, 'base64'));
}

const PI_APIS: Record<Api, string> = {
  chat: 'openai-completions',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
};

function piCommand({ home, model, set }: Setup, more: string[], prompt: string): Command {
  const image = set.has('image') ? ['@picture.png'] : [];
  return {
    command: realPi.node!,
    args: [realPi.cli!, '-p', '--model', `scripted/${model}`, ...more, ...image, prompt],
    env: { HOME: home, TMPDIR: join(home, 'tmp'), PI_OFFLINE: '1', PI_TELEMETRY: '0' },
    stdin: '',
  };
}

const pi: Program = {
  configure({ home, origin, key, model, api, set }) {
    const agent = join(home, '.pi', 'agent');
    const small = set.has('small-window');
    const reasoning = set.has('reasoning');
    const provider = {
      // Where it speaks Anthropic's API it adds the version to the path itself.
      baseUrl: api === 'messages' ? origin : `${origin}/v1`,
      api: PI_APIS[api],
      apiKey: key,
      models: [
        {
          id: model,
          name: 'Scripted',
          reasoning,
          contextWindow: small ? 32_768 : 131_072,
          maxTokens: 4096,
          ...(set.has('image') && { input: ['text', 'image'] }),
        },
      ],
    };
    json(join(agent, 'models.json'), { providers: { scripted: provider } });
    json(join(agent, 'settings.json'), {
      retry: { baseDelayMs: 100 },
      ...(set.has('short-patience') && { httpIdleTimeoutMs: 3000 }),
      ...(small && { compaction: { keepRecentTokens: 200, reserveTokens: 16_384 } }),
    });
  },
  begin: (setup) => piCommand(setup, [], PROMPT),
  goOn: (setup) => piCommand(setup, ['-c'], SECOND_PROMPT),
  hear: ({ stdout, stderr }) => ({ answer: stdout.trim(), failure: stderr.trim() }),
};

const OPENCODE_APIS: Record<Api, string> = {
  chat: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
};

function opencodeCommand({ home, model, set }: Setup, more: string[], prompt: string): Command {
  const args = ['run', '--format', 'json', '-m', `scripted/${model}`, ...more];
  if (!set.has('title')) args.push('--title', 'scripted');
  if (set.has('outside')) args.push('--auto');
  if (set.has('image')) args.push('--file', 'picture.png');
  const env = { HOME: home, TMPDIR: join(home, 'tmp') };
  return {
    command: realOpencode!,
    args,
    env: { ...env, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    // An argument with spaces would come with quotation marks.
    stdin: prompt,
  };
}

interface OpencodeEvent {
  type: string;
  part?: { text?: string };
  error?: { name?: string; data?: { message?: string } };
}

const opencode: Program = {
  configure({ home, origin, key, model, api, set }) {
    const limit = { context: set.has('small-window') ? 32_768 : 131_072, output: 4096 };
    const options = {
      baseURL: `${origin}/v1`,
      apiKey: key,
      ...(set.has('short-patience') && { timeout: 3000 }),
    };
    const settings = {
      limit,
      reasoning: set.has('reasoning'),
      ...(set.has('image') && { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } }),
    };
    json(join(home, '.config', 'opencode', 'opencode.json'), {
      model: `scripted/${model}`,
      small_model: `scripted/${model}`,
      enabled_providers: ['scripted'],
      autoupdate: false,
      share: 'disabled',
      snapshot: false,
      provider: { scripted: { npm: OPENCODE_APIS[api], name: 'Scripted', options, models: { [model]: settings } } },
    });
  },
  begin: (setup) => opencodeCommand(setup, [], PROMPT),
  goOn: (setup) => opencodeCommand(setup, ['-c'], SECOND_PROMPT),
  hear({ stdout, stderr }) {
    const events = stdout.split('\n').flatMap((line): OpencodeEvent[] => {
      try {
        return [JSON.parse(line) as OpencodeEvent];
      } catch {
        return [];
      }
    });
    const texts = events.flatMap(({ type, part }) => (type === 'text' ? [part?.text ?? ''] : []));
    const errors = events.flatMap(({ error }) => (error ? [`${error.name}: ${error.data?.message ?? ''}`] : []));
    return { answer: texts.join('\n'), failure: [...errors, stderr.trim()].filter(Boolean).join('\n') };
  },
};

const HERMES_MODES: Partial<Record<Api, string>> = { responses: 'codex_responses', messages: 'anthropic_messages' };

function hermesCommand({ home, set }: Setup, more: string[], prompt: string): Command {
  const args = ['chat', '-q', prompt, '--max-turns', set.has('few-turns') ? '3' : '12', '-t', 'terminal,file', ...more];
  if (!set.has('title')) args.push('-Q');
  if (!set.has('asks-approval')) args.push('--yolo');
  const env = { HOME: home, HERMES_HOME: join(home, '.hermes'), TMPDIR: join(home, 'tmp') };
  return { command: realHermes!, args, env, stdin: '' };
}

const hermes: Program = {
  configure({ home, origin, key, model, api, set }) {
    // Anthropic's client brings the rest of the path itself.
    const base = { base_url: api === 'messages' ? origin : `${origin}/v1`, api_key: key };
    const named = HERMES_MODES[api];
    const provider =
      named === undefined
        ? { model: { default: model, provider: 'custom', ...base, context_length: 65_536, max_tokens: 4096 } }
        : {
            model: { default: model, provider: 'scripted', max_tokens: 4096 },
            providers: {
              scripted: { ...base, api_mode: named, models: { [model]: { context_length: 65_536 } } },
            },
          };
    // JSON is YAML.
    json(join(home, '.hermes', 'config.yaml'), {
      ...provider,
      agent: {
        verify_on_stop: set.has('verify'),
        environment_probe: false,
        ...(set.has('reasoning') && { reasoning_effort: 'high' }),
      },
      security: { tirith_enabled: false, allow_lazy_installs: false },
      lsp: { enabled: false },
      display: { show_reasoning: false, file_mutation_verifier: false },
      auxiliary: { title_generation: { enabled: set.has('title') } },
      ...(set.has('small-window') && { compression: { target_ratio: 0.1, protect_last_n: 2, protect_first_n: 1 } }),
    });
    // Without it hermes looks for a newer version of itself.
    json(join(home, '.hermes', '.update_check'), { ts: Date.now() / 1000, behind: 0, rev: null, ver: '0.19.0' });
  },
  begin: (setup) => hermesCommand(setup, [], PROMPT),
  goOn: (setup, first) =>
    hermesCommand(setup, ['--resume', /session_id: (\S+)/.exec(first.stderr)?.[1] ?? ''], SECOND_PROMPT),
  hear: ({ stdout, stderr }) => ({
    answer: stdout.trim(),
    failure: stderr.replace(/^.*session_id: .*$/gm, '').trim(),
  }),
};

export const PROGRAMS: Record<HarnessName, Program> = { pi, opencode, hermes };
export const INSTALLED: Record<HarnessName, boolean> = {
  pi: realPi.node !== null && realPi.cli !== null,
  opencode: realOpencode !== null,
  hermes: realHermes !== null,
};
