/** Disconnecting after the user edited the files: only our entries go, or nothing does and it is said why. */
import { existsSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../main/harness/connector.js';
import { jsonText } from '../../main/harness/json-text.js';
import { yamlText } from '../../main/harness/yaml-text.js';
import { Home, MAIN_FILE } from './connect-support.js';

const MODELS = '.pi/agent/models.json';

describe.each(HARNESS_NAMES)('%s, edited since', (harness) => {
  let home: Home;
  const main = MAIN_FILE[harness];
  const syntax = harness === 'hermes' ? yamlText : jsonText;
  beforeEach(async () => {
    home = new Home(harness);
    home.existing();
  });
  afterEach(() => home.remove());
  const edit = (change: (text: string) => string): void => home.write(main, change(home.read(main)));
  const parsed = () => syntax.parse(home.read(main));
  const refused = async (place: string): Promise<void> => {
    const before = home.snapshot();
    for (const command of [() => home.disconnect(), () => home.connect({ port: 2 })])
      await expect(command()).rejects.toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining(place),
        hint: expect.stringContaining('.tackroom-backup'),
      });
    expect(home.snapshot()).toEqual(before);
  };

  it('keeps a new setting and a comment, also across a second connect', async () => {
    const before = parsed();
    await home.connect();
    edit((text) =>
      harness === 'hermes'
        ? `${text}# mine too\nlater: [1, 2]\n`
        : text.replace('{', '{ // mine too\n"later": [1, 2],'),
    );
    await home.connect({ port: 2 });
    expect(home.read(main)).toContain('mine too');
    await home.disconnect();
    expect(parsed()).toEqual({ ...before, later: [1, 2] });
    expect(home.read(main)).toContain('mine too');
    expect(home.snapshot().map(String).join('\n')).not.toMatch(/tackroom-(backup|connect\.json)/);
  });

  it('is content when our entries are gone already', async () => {
    const before = parsed();
    await home.connect();
    home.write(main, `${home.read(`${main}.tackroom-backup`)}\n`);
    await home.disconnect();
    expect(parsed()).toEqual(before);
  });

  it('leaves a deleted file deleted', async () => {
    await home.connect();
    rmSync(`${home.root}/${main}`);
    await home.disconnect();
    expect(existsSync(`${home.root}/${main}`)).toBe(false);
  });

  it('refuses when the file can no longer be read', async () => {
    await home.connect();
    edit((text) => `${text}\n{ [`);
    const before = home.snapshot();
    await expect(home.disconnect()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(home.snapshot()).toEqual(before);
  });

  if (harness === 'pi') {
    it('does not touch a default the user chose after connecting', async () => {
      await home.connect();
      home.write(main, '{"defaultProvider":"other","defaultModel":"x"}');
      await home.disconnect();
      expect(home.read(main)).toBe('{"defaultProvider":"other","defaultModel":"x"}');
    });
    it('refuses to lose a change inside its own entry, and says where it is', async () => {
      await home.connect();
      home.write(MODELS, home.read(MODELS).replace('4096', '8192'));
      await refused('providers.tackroom was changed');
      home.write(MODELS, home.read(MODELS).replace('8192', '4096'));
      await home.disconnect();
    });
    it('refuses to leave a setting that points at nothing', async () => {
      await home.connect();
      edit((text) => text.replace('{', '{"enabledModels":["tackroom/demo"],'));
      await refused('enabledModels.0 says "tackroom/demo"');
    });
  }
  if (harness === 'opencode') {
    it('keeps a model the user chose and a list the user extended', async () => {
      await home.connect();
      edit((text) =>
        text
          .replace('"model": "tackroom/demo"', '"model": "other/new"')
          .replace('"tackroom",\n', '"tackroom", "third",\n'),
      );
      await home.disconnect();
      expect(parsed()).toMatchObject({ model: 'other/new', enabled_providers: ['other', 'third'] });
      expect(parsed()).not.toHaveProperty('small_model');
      expect(home.read(main)).toContain('"other", // paid\n');
    });
    it('refuses to leave an agent without its model', async () => {
      await home.connect();
      edit((text) => text.replace('{', '{"agent":{"build":{"model":"tackroom/demo"}},'));
      await refused('agent.build.model');
    });
    it('leaves no empty list behind, which would allow no provider', async () => {
      home.write(main, '{"a": 1}');
      await home.connect();
      edit((text) => text.replace('"a": 1', '"a": 2'));
      await home.disconnect();
      expect(home.read(main)).toBe('{"a": 2}');
    });
  }
  if (harness === 'hermes') {
    it('takes address, key and limits away when the user chose another provider', async () => {
      await home.connect();
      edit((text) =>
        text.replace('provider: custom', 'provider: anthropic').replace(/default: \S+/, 'default: their/model'),
      );
      await home.disconnect();
      expect(parsed().model).toMatchObject({ provider: 'anthropic' });
      expect(Object.keys(parsed().model as object).sort()).toEqual(['default', 'provider']);
    });
    it('keeps a key the user entered for another provider', async () => {
      await home.connect();
      edit((text) => text.replace('provider: custom', 'provider: anthropic').replace('tok-1', 'their-key'));
      await home.disconnect();
      expect(parsed().model).toEqual({ default: 'other/big', provider: 'anthropic', api_key: 'their-key' });
    });
    it('comes back to an own server whose address and limits were replaced', async () => {
      const own =
        'model:\n  provider: custom\n  default: mine # big\n  base_url: http://gpu:8000/v1\n  context_length: 70000\n';
      home.write(main, own);
      await home.connect();
      edit((text) => `${text}later: 1\n`);
      await home.disconnect();
      expect(home.read(main)).toBe(`${own}later: 1\n`);
    });
    it('leaves the spacing of the rest alone when its section was made for us', async () => {
      home.write(main, 'agent:   {max_turns: 30}   # keep\n');
      await home.connect();
      edit((text) => `${text}later:    1\n`);
      await home.disconnect();
      expect(home.read(main)).toBe('agent:   {max_turns: 30}   # keep\nlater:    1\n');
    });
    it('refuses to leave another section pointing here', async () => {
      await home.connect();
      edit((text) => `${text}auxiliary: {vision: {base_url: "http://127.0.0.1:1/hermes/v1"}}\n`);
      await refused('auxiliary.vision.base_url');
    });
  }
});
