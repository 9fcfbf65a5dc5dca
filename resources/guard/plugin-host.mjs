// Runs one guard plugin, in a process of its own. The plugin's code lives in a realm that holds no object of this one: no
// process, no require, no timers, no network; text goes in, text comes out. The process itself has no right to files, to
// children or to workers (its flags say so), so that leaving the realm would lead nowhere.
import { createInterface } from 'node:readline';
import vm from 'node:vm';

const MAX_RULES = 200;
const MAX_REASON = 200;

/** Evaluated inside the realm. `look` answers one call: for each rule nothing, a reason, or that it failed. */
const ADAPTER = `
import * as plugin from 'plugin';
const { parse, stringify } = JSON;
const given = typeof plugin.rules === 'function' ? plugin.rules() : (plugin.rules ?? plugin.default);
const rules = Array.isArray(given) ? given.slice(0, ${MAX_RULES}) : [];
globalThis.describe = () => stringify(rules.map(({ id, severity, title, verdict }) => ({ id, severity, title, verdict })));
const hit = (rule, call, context) => {
  if (typeof rule.find === 'function') {
    const found = rule.find(call, context);
    if (found !== null && typeof found === 'object' && typeof found.then === 'function') throw 0;
    return found;
  }
  const texts = (rule.on ?? Object.keys(call.text)).flatMap((channel) => call.text[channel] ?? []);
  return texts.some((text) => {
    rule.pattern.lastIndex = 0;
    return rule.pattern.test(text);
  });
};
globalThis.look = (json) => {
  const { call, context } = parse(json);
  const out = [];
  for (let i = 0; i < rules.length; i++) {
    try {
      const found = hit(rules[i], call, context);
      if (found) out.push({ rule: i, reason: typeof found === 'string' ? found.slice(0, ${MAX_REASON}) : '' });
    } catch {
      out.push({ rule: i, failed: true });
    }
  }
  return stringify(out);
};
`;

const realm = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
const ask = {
  describe: new vm.Script('describe()'),
  look: (json) => new vm.Script(`look(${JSON.stringify(json)})`),
};

// A dynamic import would hand the realm an object of this one. Without code from strings it can only stand in the text.
const DYNAMIC_IMPORT = /\bimport(?:\s|\.\s*\w+|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*\(/;

async function load(source) {
  if (DYNAMIC_IMPORT.test(source)) throw new Error('a plugin imports nothing');
  const link = () => {
    throw new Error('a plugin imports nothing');
  };
  const importModuleDynamically = () => {
    throw null;
  };
  const plugin = new vm.SourceTextModule(source, { context: realm, identifier: 'plugin', importModuleDynamically });
  await plugin.link(link);
  const adapter = new vm.SourceTextModule(ADAPTER, { context: realm, identifier: 'adapter', importModuleDynamically });
  await adapter.link((name) => (name === 'plugin' ? plugin : link()));
  await adapter.evaluate();
  return ask.describe.runInContext(realm);
}

// Bytes of the pipe only; whatever the realm answers is a string or nothing.
const send = (id, text) =>
  process.stdout.write(`${JSON.stringify(typeof text === 'string' ? { id, text } : { id, failed: true })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, source, json } = JSON.parse(line);
  let text;
  try {
    text = source === undefined ? ask.look(json).runInContext(realm) : await load(source);
  } catch {
    text = undefined;
  }
  send(id, text);
}
