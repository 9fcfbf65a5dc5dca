/** The real harnesses, connected: one prompt through the gateway, where a script plays the model, and back to the byte. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hermesEnvironment } from '../../main/harness/connect-hermes.js';
import type { HarnessName } from '../../main/harness/connector.js';
import { findHarness } from '../../main/harness/find-harness.js';
import { yamlText } from '../../main/harness/yaml-text.js';
import { type Rig, startRig } from '../proxy/support.js';
import { notInstalled, type Ran, realHermes, realOpencode, realPi, runHarness } from '../support/real-harnesses.js';
import { EXISTING, Home, MAIN_FILE } from './connect-support.js';

const ANSWER = 'The gateway says hello.';
const PROMPT = 'Say hello.';
/** Keeps hermes from the network and from installing things; also settings that must survive. */
const QUIET_HERMES = `# mine
model:
  default: other/big   # keep
  provider: openrouter
agent: {verify_on_stop: false, environment_probe: false}
security: {tirith_enabled: false, allow_lazy_installs: false}
lsp: {enabled: false}
display: {show_reasoning: false, file_mutation_verifier: false}
auxiliary: {title_generation: {enabled: false}}
`;

let rig: Rig;
let home: Home;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  home.remove();
  await rig.close();
});

function existing(harness: HarnessName): void {
  home = new Home(harness);
  home.existing(harness === 'hermes' ? { [MAIN_FILE.hermes]: QUIET_HERMES } : EXISTING[harness]);
  mkdirSync(join(home.root, 'work'));
  mkdirSync(join(home.root, 'tmp'));
}

const runIn = (command: string, args: string[], env: Record<string, string> = {}, stdin = ''): Promise<Ran> =>
  runHarness(command, args, {
    cwd: join(home.root, 'work'),
    env: { HOME: home.root, TMPDIR: join(home.root, 'tmp'), ...env },
    stdin,
  });

async function roundTrip(harness: HarnessName, prompt: () => Promise<Ran>): Promise<void> {
  const files = harness === 'pi' ? Object.keys(EXISTING.pi) : [MAIN_FILE[harness]];
  const before = files.map((name) => home.read(name));
  rig.engine.script({ text: ['pong'] }, { text: [ANSWER] });
  const text = await home.connect({ port: rig.port, token: rig.token, contextTokens: 131_072 });
  expect(text).toContain('A test call arrived');
  const ran = await prompt();
  expect(`${ran.stdout}\n${ran.stderr}`).toContain(ANSWER);
  expect(ran.code).toBe(0);
  expect(JSON.stringify(rig.engine.asked.at(-1)?.messages)).toContain(PROMPT);
  expect(rig.store.session.list({}).every((session) => session.harness === harness)).toBe(true);
  await home.disconnect();
  expect(files.map((name) => home.read(name))).toEqual(before);
  expect(existsSync(join(dirname(join(home.root, files[0]!)), 'tackroom-connect.json'))).toBe(false);
}

describe('the real pi', () => {
  it.skipIf(!realPi.node || !realPi.cli)(
    `answers through the gateway${realPi.cli ? '' : `: ${notInstalled('pi')}`}`,
    async () => {
      existing('pi');
      const env = { PI_OFFLINE: '1', PI_TELEMETRY: '0' };
      await roundTrip('pi', () => runIn(realPi.node!, [realPi.cli!, '-p', PROMPT], env));
    },
    180_000,
  );
});

describe('the real opencode', () => {
  const env = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
  it.skipIf(!realOpencode)(
    `answers through the gateway${realOpencode ? '' : `: ${notInstalled('opencode')}`}`,
    async () => {
      existing('opencode');
      await roundTrip('opencode', () => runIn(realOpencode!, ['run', '--title', 'x'], env, PROMPT));
    },
    180_000,
  );
  it.skipIf(!realOpencode)(
    `leaves a file alone that Tackroom made${realOpencode ? '' : `: ${notInstalled('opencode')}`}`,
    async () => {
      existing('opencode');
      home.remove();
      home = new Home('opencode');
      mkdirSync(join(home.root, 'work'));
      mkdirSync(join(home.root, 'tmp'));
      await home.connect({ port: rig.port, token: rig.token });
      const name = '.config/opencode/opencode.json';
      const written = home.read(name);
      const ran = await runIn(realOpencode!, ['models'], env);
      expect(ran.stdout.trim()).toBe('tackroom/demo');
      expect(home.read(name)).toBe(written);
      await home.disconnect();
      expect(existsSync(join(home.root, name))).toBe(false);
    },
    180_000,
  );
  it.skipIf(!realOpencode)(
    `may write its own line into the user's file meanwhile${realOpencode ? '' : `: ${notInstalled('opencode')}`}`,
    async () => {
      existing('opencode');
      const own = '{\n  // mine\n  "model": "other/big"\n}\n';
      home.write(MAIN_FILE.opencode, own);
      await home.connect({ port: rig.port, token: rig.token });
      await runIn(realOpencode!, ['models'], env);
      const written = home.read(MAIN_FILE.opencode);
      await home.disconnect();
      const left = home.read(MAIN_FILE.opencode);
      expect(left.replace(/\n? *"\$schema": "[^"]*",/, '')).toBe(own);
      expect(left.includes('$schema')).toBe(written.includes('$schema'));
    },
    180_000,
  );
  it.skipIf(!realOpencode)(`says its version${realOpencode ? '' : `: ${notInstalled('opencode')}`}`, async () => {
    existing('opencode');
    const found = await findHarness({ name: 'opencode', programs: [] }, { env: { PATH: dirname(realOpencode!) } });
    expect(found).toEqual({ path: realOpencode, version: '1.18.33' });
  });
});

describe('the real hermes', () => {
  const args = ['chat', '-q', PROMPT, '-Q', '--yolo', '--max-turns', '5', '-t', 'terminal,file'];
  it.skipIf(!realHermes)(
    `answers through the gateway${realHermes ? '' : `: ${notInstalled('hermes')}`}`,
    async () => {
      existing('hermes');
      await roundTrip('hermes', () => runIn(realHermes!, args));
    },
    180_000,
  );
  it.skipIf(!realHermes)(
    `starts on a model that is too small for it, as the note says${realHermes ? '' : `: ${notInstalled('hermes')}`}`,
    async () => {
      existing('hermes');
      const text = await home.connect({ port: rig.port, token: rig.token, contextTokens: 2048 });
      expect(text).toContain('Note: hermes refuses models below 64,000 tokens');
      rig.engine.script({ text: [ANSWER] });
      expect((await runIn(realHermes!, args)).stdout).toContain(ANSWER);
    },
    180_000,
  );
  it.skipIf(!realHermes).each([
    [
      'provider custom',
      'model: {default: x, provider: custom, base_url: "http://127.0.0.1:9/v1", context_length: 70000}\n',
      [],
    ],
    [
      'another provider',
      'model: {default: other/big, provider: openrouter, context_length: 70000}\n',
      ['--provider', 'custom', '-m', 'demo'],
    ],
  ])(
    `comes by its environment alone, where its file names %s${realHermes ? '' : `: ${notInstalled('hermes')}`}`,
    async (_name, model, more) => {
      existing('hermes');
      const config = QUIET_HERMES.replace(/model:[\s\S]*?(?=agent:)/, model);
      home.write(MAIN_FILE.hermes, config);
      rig.engine.script({ text: [ANSWER] });
      const settings = {
        baseUrl: `http://127.0.0.1:${rig.port}/hermes/v1`,
        modelId: 'demo',
        token: rig.token,
        contextTokens: null,
      };
      // Through a real shell: that is what the exports are for.
      const script = `${hermesEnvironment(settings)}\nexec "$0" "$@"`;
      const ran = await runIn('/bin/sh', ['-c', script, realHermes!, ...args, ...more]);
      expect(`${ran.stdout}\n${ran.stderr}`).toContain(ANSWER);
      expect(home.read(MAIN_FILE.hermes)).toBe(config);
      expect(rig.store.session.list({}).map((session) => session.harness)).toContain('hermes');
    },
    180_000,
  );
  it.skipIf(!realHermes)(
    `may rewrite its whole file meanwhile${realHermes ? '' : `: ${notInstalled('hermes')}`}`,
    async () => {
      existing('hermes');
      const before = yamlText.parse(QUIET_HERMES);
      await home.connect({ port: rig.port, token: rig.token });
      const connected = home.read(MAIN_FILE.hermes);
      expect((await runIn(realHermes!, ['config', 'set', 'agent.max_turns', '31'])).code).toBe(0);
      expect(home.read(MAIN_FILE.hermes)).not.toBe(connected);
      await home.disconnect();
      const { agent, model, ...others } = yamlText.parse(home.read(MAIN_FILE.hermes));
      expect(model).toEqual(before.model);
      expect(agent).toMatchObject({ verify_on_stop: false, max_turns: 31 });
      expect(others).toMatchObject({ security: before.security, lsp: before.lsp });
      expect(home.read(MAIN_FILE.hermes)).not.toContain(rig.token);
    },
    180_000,
  );
  it.skipIf(!realHermes)(`says its version${realHermes ? '' : `: ${notInstalled('hermes')}`}`, async () => {
    existing('hermes');
    const found = await findHarness({ name: 'hermes', programs: [] }, { env: { PATH: dirname(realHermes!) } });
    expect(found).toEqual({ path: realHermes, version: '0.19.0' });
  });
});
