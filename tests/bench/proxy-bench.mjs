/**
 * What the gateway costs a harness, guard and record on, beside a plain pass-through in the same run.
 *
 *     npm run bench:proxy [-- --streams 48 --rounds 3 --bytes 20000,400000]
 *
 * A round is plain, gateway; the best of the rounds counts for each. Gateway, model server and harnesses are processes of their own.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, '..', '..', 'dist');
const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '48' },
    rounds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '3' },
    bytes: { type: 'string', default: '20000,400000' },
  },
});
const [streams, rounds, turns] = [values.streams, values.rounds, values.turns].map(Number);

const started = [];
/** A process that prints one line when it is ready; returns the line. */
async function begin(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error(`${file} ended.`);
}

async function measure(options) {
  const { line } = await begin(join(here, 'proxy', 'client.mjs'), [JSON.stringify({ streams, turns, ...options })]);
  return JSON.parse(line);
}

const { openStore } = await import(pathToFileURL(join(dist, 'main/store/store.js')).href);
const { installToken } = await import(pathToFileURL(join(dist, 'main/proxy/token.js')).href);
const home = mkdtempSync(join(tmpdir(), 'tackroom-bench-'));
mkdirSync(home, { recursive: true });
try {
  const upstream = Number((await begin(join(here, 'proxy', 'upstream.mjs'), ['40', '25'])).line);
  const store = openStore(home);
  store.setSetting('upstreams', { pi: { baseUrl: `http://127.0.0.1:${upstream}/v1` } });
  store.close();
  const token = installToken(home);
  const plain = Number((await begin(join(here, 'proxy', 'plain.mjs'), [String(upstream)])).line);
  const gateway = await begin(join(dist, 'main/proxy/entry.js'), [
    '--home',
    home,
    '--socket',
    join(home, 'g.sock'),
    '--engine',
    join(home, 'none.sock'),
  ]);
  const ports = { plain, gateway: JSON.parse(gateway.line).port };
  console.log(
    `${cpus()[0].model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}, ${streams} streams, a piece every 25 ms`,
  );
  console.log('\n| conversation | | first byte p50, ms | p99 | piece p50 | p99 |\n|---|---|---|---|---|---|');
  for (const bytes of values.bytes.split(',').map(Number)) {
    const best = {};
    for (let round = 0; round < rounds; round++)
      for (const [name, port] of Object.entries(ports)) {
        const result = await measure({ port, token, bytes });
        for (const kind of ['first', 'chunk'])
          for (const p of ['p50', 'p99']) {
            best[name] ??= {};
            best[name][kind + p] = Math.min(best[name][kind + p] ?? Number.POSITIVE_INFINITY, result[kind][p]);
          }
      }
    const row = (name, of) =>
      console.log(
        `| ${bytes / 1000} kB | ${name} | ${['firstp50', 'firstp99', 'chunkp50', 'chunkp99'].map((key) => of(key).toFixed(2)).join(' | ')} |`,
      );
    row('plain pass-through', (key) => best.plain[key]);
    row('gateway', (key) => best.gateway[key]);
    row('added', (key) => best.gateway[key] - best.plain[key]);
  }
} finally {
  for (const child of started) child.kill();
  rmSync(home, { recursive: true, force: true });
}
