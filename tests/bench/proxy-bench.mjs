/**
 * What the gateway costs a harness, guard and record on, beside a plain pass-through in the same run.
 *
 *     npm run bench:proxy [-- --streams 48 --rounds 3 --bytes 20000,400000 --apart 22,7]
 *
 * `--apart`: milliseconds between the beginnings of two harnesses; 22 spreads 48 of them over a turn, 7 brings them all in a third of a
 * second. A round is plain, gateway; the best of the rounds counts for each. Gateway, model server and harnesses are processes of their own.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
    apart: { type: 'string', default: '22,7' },
  },
});
const [streams, rounds, turns] = [values.streams, values.rounds, values.turns].map(Number);

const started = [];
/** A process that prints a line when it is ready; `next` waits for a further one. */
async function begin(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${file} ended.`);
    return value;
  };
  return { child, line: await next(), next };
}

/** Processor time that a process has taken, milliseconds (Linux, else none). */
function cpuMs({ pid }) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

async function measure({ child, ...options }) {
  const { next } = await begin(join(here, 'proxy', 'client.mjs'), [JSON.stringify({ streams, turns, ...options })]);
  const before = cpuMs(child);
  return { ...JSON.parse(await next()), cpu: (cpuMs(child) - before) / (streams * turns) };
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
  const plain = await begin(join(here, 'proxy', 'plain.mjs'), [String(upstream)]);
  const gateway = await begin(join(dist, 'main/proxy/entry.js'), [
    '--home',
    home,
    '--socket',
    join(home, 'g.sock'),
    '--engine',
    join(home, 'none.sock'),
  ]);
  const proxies = {
    plain: { child: plain.child, port: Number(plain.line) },
    gateway: { child: gateway.child, port: JSON.parse(gateway.line).port },
  };
  console.log(
    `${cpus()[0].model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}, ${streams} streams, a piece every 25 ms`,
  );
  console.log(
    '\n| conversation | turns begin | | first byte p50, ms | p99 | piece p50 | p99 | processor time a turn, ms |\n|---|---|---|---|---|---|---|---|',
  );
  const cases = values.apart
    .split(',')
    .flatMap((apart) => values.bytes.split(',').map((bytes) => ({ apartMs: Number(apart), bytes: Number(bytes) })));
  for (const { bytes, apartMs } of cases) {
    const best = {};
    for (let round = 0; round < rounds; round++)
      for (const [name, proxy] of Object.entries(proxies)) {
        const result = await measure({ ...proxy, token, bytes, apartMs });
        best[name] ??= { cpu: Number.POSITIVE_INFINITY };
        best[name].cpu = Math.min(best[name].cpu, result.cpu);
        for (const kind of ['first', 'chunk'])
          for (const p of ['p50', 'p99']) {
            best[name][kind + p] = Math.min(best[name][kind + p] ?? Number.POSITIVE_INFINITY, result[kind][p]);
          }
      }
    const row = (name, of) =>
      console.log(
        `| ${bytes / 1000} kB | every ${apartMs} ms | ${name} | ${['firstp50', 'firstp99', 'chunkp50', 'chunkp99', 'cpu'].map((key) => of(key).toFixed(2)).join(' | ')} |`,
      );
    row('plain pass-through', (key) => best.plain[key]);
    row('gateway', (key) => best.gateway[key]);
    row('added', (key) => best.gateway[key] - best.plain[key]);
  }
} finally {
  for (const child of started) child.kill();
  rmSync(home, { recursive: true, force: true });
}
