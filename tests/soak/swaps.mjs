// Loads, replaces and drops adapters while requests run on them; prints failures and how far memory grew.
//   node tests/soak/swaps.mjs [--model DIR|FILE] [--swaps 1000] [--clients 4] [--tokens 16]
// Needs `npm run build`. Exit 1 when a request failed, answered with another version, or memory grew without end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { demoModelDir } from '../../dist/main/services/paths.js';
import { startServices } from '../../dist/main/services/services.js';
import { loadAddon } from '../../dist/native/addon.js';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: demoModelDir() },
    swaps: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '4' },
    tokens: { type: 'string', default: '16' },
    rank: { type: 'string', default: '8' },
  },
});
const [swaps, clientCount, maxTokens] = [values.swaps, values.clients, values.tokens].map(Number);
const VERSIONS = 6;
/** Growth of the engine's memory between the first tenth and the end that still counts as noise. */
const MOST_GROWTH_BYTES = 96 * 2 ** 20;

const home = mkdtempSync(join(tmpdir(), 'tackroom-soak-'));
const services = await startServices({ home, modelDir: values.model, port: 0 });
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const resident = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** Adapters with different first factors; saved under their hash, where the engine looks for them. */
async function makeAdapters() {
  const model = await loadAddon().loadModel(values.model, { threads: 1 });
  const hashes = [];
  for (let seed = 1; seed <= VERSIONS; seed++) {
    const adapter = model.createAdapter({ rank: Number(values.rank), alpha: 16, seed });
    const hash = adapter.hash();
    await adapter.save(join(services.paths.adapters, hash), 'soak');
    hashes.push(hash);
  }
  model.free();
  return hashes;
}

const failures = [];
let answers = 0;
let longestGapMs = 0;
let current;
let running = true;

async function client(n) {
  for (let i = 0; running; i++) {
    const adapter = current;
    let last = performance.now();
    try {
      const result = await services.engine(
        'chat',
        {
          messages: [{ role: 'user', content: `Client ${n}, question ${i % 7}: count to nine.` }],
          sampling: { temperature: 1, seed: i, maxTokens },
          adapter,
        },
        {
          timeoutMs: 120_000,
          onEvent: () => {
            const now = performance.now();
            longestGapMs = Math.max(longestGapMs, now - last);
            last = now;
          },
        },
      );
      if (result.adapterHash !== adapter) failures.push(`asked for ${adapter}, answered by ${result.adapterHash}`);
      if (result.completionIds.length === 0) failures.push('an answer without tokens');
      answers++;
    } catch (error) {
      failures.push(`${error.code}: ${error.message}`);
    }
  }
}

try {
  const hashes = await makeAdapters();
  current = hashes[0];
  const pid = services.pids().engine;
  const clients = Array.from({ length: clientCount }, (_, n) => client(n));
  const startedAt = performance.now();
  let settled = 0;
  for (let swap = 1; swap <= swaps; swap++) {
    const before = current;
    const next = hashes[swap % hashes.length];
    await services.engine('adapter.load', { dir: join(services.paths.adapters, next) }, { timeoutMs: 120_000 });
    current = next;
    await services.engine('adapter.drop', { hash: before }, { timeoutMs: 120_000 });
    const wanted = answers + 1;
    // At least one answer a swap, so that each version is really served.
    while (answers < wanted && failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    if (swap === Math.ceil(swaps / 10)) settled = resident(pid);
    if (failures.length > 20) break;
  }
  running = false;
  await Promise.all(clients);
  const status = await services.engine('status', {});
  const growth = resident(pid) - settled;
  const report = {
    model: values.model,
    swaps,
    answers,
    failures: failures.length,
    firstFailures: failures.slice(0, 5),
    rssAfterTenth: mib(settled),
    rssAtEnd: mib(settled + growth),
    growth: mib(growth),
    adaptersHeld: status.adapterUse.length,
    longestGapMs: Math.round(longestGapMs),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  };
  console.log(JSON.stringify(report, null, 1));
  if (failures.length > 0 || growth > MOST_GROWTH_BYTES || services.pids().engine !== pid) process.exitCode = 1;
} finally {
  running = false;
  await services.stop();
  rmSync(home, { recursive: true, force: true });
}
