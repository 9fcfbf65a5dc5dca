/**
 * What the sanitizer takes: generated sessions with a finding about every 200 bytes, and one line of 100 MB. In the first session 400 tasks
 * come back again and again, in the second no value and no text comes twice but by chance.
 *
 *     npm run bench:sanitize [-- --megabytes 200 --rounds 3]
 *
 * Processor time of the whole program, start included, beside JSON.parse and JSON.stringify of the same lines in one process; the best of the
 * rounds counts for each. Memory is the highest that the program held. Linux.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { values } = parseArgs({
  options: { megabytes: { type: 'string', default: '200' }, rounds: { type: 'string', default: '3' } },
});
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';

function maker(seed) {
  let pool = Buffer.alloc(0);
  let block = 0;
  return (alphabet, length) => {
    let out = '';
    for (; out.length < length; pool = pool.subarray(1)) {
      if (pool.length === 0) pool = createHash('sha512').update(`${seed}#${block++}`).digest();
      out += alphabet[pool[0] % alphabet.length];
    }
    return out;
  };
}

const WORDS =
  'read write parse test build value index count first last next match line file open close send wait retry limit buffer cache state event handler request result error message label width height color merge split join'.split(
    ' ',
  );

/** Lines of a program in which nothing is private. */
function program(n, lines) {
  let state = n * 7919 + 17;
  const word = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return WORDS[(state >>> 8) % WORDS.length];
  };
  let out = '';
  for (let i = 0; i < lines; i++)
    out += `  const ${word()}${word()} = ${word()}(${word()}.${word()}, ${n % 1000}) + ${i}; // ${word()} ${word()} ${word()}\n`;
  return out;
}

/** Eleven records of one task: prompts, tool calls with arguments in JSON, tool results. */
function task(n) {
  const make = maker(`task ${n}`);
  const user = make(LOWER, 8);
  const home = `/home/${user}/code/${make(LOWER, 6)}`;
  const token = `ghp_${make(BASE62, 36)}`;
  const password = `${make(BASE62, 12)}7x`;
  const mail = `${user}@${make(LOWER, 9)}.io`;
  const ip = `10.${(n % 200) + 9}.${(n % 90) + 3}.77`;
  const record = (type, content) =>
    JSON.stringify({ type, id: make(BASE62, 12), cwd: home, message: { role: type, content } });
  const call = (command) => record('assistant', [{ type: 'tool_call', arguments: JSON.stringify({ command }) }]);
  return [
    record('user', `I am in ${home} and the deploy fails, my token is ${token}. Fix it.`),
    call(`cd ${home} && git remote -v && cat .env`),
    record(
      'tool',
      `origin\thttps://${user}:${token}@github.com/acme/app.git (fetch)\nDATABASE_URL=postgres://app:${password}@${ip}:5432/app\n`,
    ),
    call(`PGPASSWORD='${password}' psql -h ${ip} -U app -c 'select 1'`),
    record(
      'tool',
      `psql (16.2)\n ?column? \n----------\n        1\n(1 row)\nTime: 4.112 ms, nothing else to see in this output of ${n}\n`,
    ),
    call('git log -2 --format=fuller'),
    record(
      'tool',
      `commit ${make('0123456789abcdef', 40)}\nAuthor: Priya Ramanov <${mail}>\nDate:   Mon Nov 24 09:12:01 2025 +0100\n\n    fix: guard\n`,
    ),
    record('tool', program(n, 34)),
    call(`curl -s -H "Authorization: token ${token}" https://api.github.com/user | tee ${home}/out.json`),
    record(
      'tool',
      JSON.stringify({ login: 'acme', email: mail, note: `seen from ${ip}`, plan: { name: 'free', seats: 3 } }),
    ),
    record(
      'assistant',
      `Done: the remote in ${home}/.git/config held a token that had expired. Tests pass, 41 of 41, in 3.2 s.`,
    ),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** `distinct`: tasks that are made before the first comes back. */
function writeLoad(path, bytes, distinct) {
  const file = openSync(path, 'w');
  const tasks = [];
  let written = 0;
  for (let n = 0; written < bytes; n++) {
    if (n < distinct && distinct < 1e6) tasks.push(task(n));
    written += writeSync(file, tasks.length > 0 ? tasks[n % tasks.length] : task(n));
  }
  closeSync(file);
}

function writeLine(path, bytes) {
  const file = openSync(path, 'w');
  const token = `ghp_${maker('line')(BASE62, 36)}`;
  const piece = `${'x = f(y); '.repeat(6500)} ${token}\\n`;
  let written = writeSync(file, '{"type":"tool","content":[{"text":"');
  while (written < bytes) written += writeSync(file, piece);
  writeSync(file, '"}]}\n');
  closeSync(file);
}

/** Processor seconds and the most memory of `node ...args`. */
async function measure(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let memory = 0;
  let ticks = 0;
  const timer = setInterval(() => {
    try {
      memory = Math.max(
        memory,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0),
      );
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      ticks = Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended.
    }
  }, 5);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`It ended with ${code}.`);
  return { seconds: ticks / 100, megabytes: memory / 1024 };
}

const dir = mkdtempSync(join(tmpdir(), 'tackroom-bench-'));
try {
  const load = join(dir, 'load.jsonl');
  const fresh = join(dir, 'fresh.jsonl');
  const line = join(dir, 'line.jsonl');
  const megabytes = Number(values.megabytes);
  writeLoad(load, megabytes * 1e6, 400);
  writeLoad(fresh, megabytes * 1e6, Number.POSITIVE_INFINITY);
  writeLine(line, 100e6);
  const tackroom = [join(root, 'bin', 'tackroom.mjs'), '--home', join(dir, 'home'), 'sanitize'];
  const parse = `const { createInterface } = require('node:readline'); let n = 0;
    createInterface({ input: require('node:fs').createReadStream(process.argv[1]) }).on('line', (l) => { n += JSON.stringify(JSON.parse(l)).length; });`;
  console.log(`${cpus()[0].model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log('| | processor time, s | MB a second | memory, MB |\n|---|---|---|---|');
  const rows = [
    ['parse and print the lines', ['-e', parse, load], megabytes],
    ['sanitize, tasks that come back', [...tackroom, load], megabytes],
    ['sanitize, nothing comes back', [...tackroom, fresh], megabytes],
    ['sanitize one line of 100 MB', [...tackroom, line], 100],
  ];
  for (const [name, args, size] of rows) {
    let best = { seconds: Number.POSITIVE_INFINITY, megabytes: Number.POSITIVE_INFINITY };
    for (let round = 0; round < Number(values.rounds); round++) {
      const one = await measure(args);
      best = { seconds: Math.min(best.seconds, one.seconds), megabytes: Math.min(best.megabytes, one.megabytes) };
    }
    console.log(
      `| ${name} | ${best.seconds.toFixed(2)} | ${(size / best.seconds).toFixed(1)} | ${best.megabytes.toFixed(0)} |`,
    );
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
