// Very many sessions, imported with kills in the middle and then again: npm run soak -- imports [--sessions 10000] [--kills 5]
// The result has to be that of one import without a kill.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { openStore } = await import(pathToFileURL(join(root, 'dist/main/store/store.js')).href);
const { values } = parseArgs({
  options: { sessions: { type: 'string', default: '10000' }, kills: { type: 'string', default: '5' } },
});
const sessions = Number(values.sessions);
const kills = Number(values.kills);
const TABLES = ['session', 'request', 'toolCall', 'message', 'message_node', 'session_place', 'tools', 'import_source'];
const DEADLINE_MS = 30 * 60_000;

const dir = mkdtempSync(join(tmpdir(), 'tackroom-imports-'));
const source = join(dir, 'sessions');

/** One of a hundred is long enough to be written in several transactions. */
function writeSession(i) {
  const folder = join(source, `project-${i % 40}`);
  mkdirSync(folder, { recursive: true });
  const at = (k) => new Date(Date.UTC(2026, 0, 1) + i * 60_000 + k * 1000).toISOString();
  const lines = [
    { type: 'session', version: 3, id: `made-up-${i}`, timestamp: at(0), cwd: `/home/dev/project-${i % 40}` },
  ];
  const message = (id, parentId, k, text) => ({ type: 'message', id, parentId, timestamp: at(k), message: text });
  for (let k = 0; k < (i % 100 === 0 ? 400 : 4); k++) {
    const content = [{ type: 'text', text: `Answer ${k} of ${i}. ${'words '.repeat(i % 100 === 0 ? 2000 : 20)}` }];
    lines.push(
      message(`u${k}`, k === 0 ? null : `a${k - 1}`, 2 * k, { role: 'user', content: `Question ${k} of ${i}` }),
      message(`a${k}`, `u${k}`, 2 * k + 1, { role: 'assistant', content, stopReason: 'stop', model: 'small' }),
    );
  }
  writeFileSync(join(folder, `${i}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Resolves with whether it came to its end. */
async function importInto(home, killAfterMs) {
  const args = [join(root, 'bin/tackroom.mjs'), '--home', home, 'sessions', 'import', source, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  return code === 0;
}

function digestOf(home) {
  const store = openStore(home);
  const hash = createHash('sha256');
  for (const table of TABLES)
    for (const row of store.db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).iterate())
      hash.update(JSON.stringify(row));
  const state = {
    sessions: store.session.count(),
    requests: store.request.count(),
    integrity: store.db.pragma('integrity_check', { simple: true }),
  };
  store.close();
  return { digest: hash.digest('hex'), ...state };
}

try {
  for (let i = 0; i < sessions; i++) writeSession(i);
  const began = performance.now();
  if (!(await importInto(join(dir, 'once'), DEADLINE_MS))) throw new Error('The import failed.');
  const onceMs = performance.now() - began;
  const whole = digestOf(join(dir, 'once'));
  const home = join(dir, 'killed');
  let killed = 0;
  for (let i = 0; i < kills; i++) if (!(await importInto(home, onceMs * (0.1 + Math.random() / kills)))) killed++;
  for (const time of ['first', 'second']) {
    if (!(await importInto(home, DEADLINE_MS))) throw new Error('The import failed.');
    const again = digestOf(home);
    if (JSON.stringify(again) !== JSON.stringify(whole))
      throw new Error(`The ${time} whole import after ${killed} kills differs: ${JSON.stringify({ whole, again })}`);
  }
  console.log(
    `${whole.sessions} sessions, ${whole.requests} requests: ${(onceMs / 1000).toFixed(1)} s; ${killed} kills and a second import gave the same.`,
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
