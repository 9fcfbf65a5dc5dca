/**
 * Kills the gateway at random moments while harnesses stream through it: whoever got a last byte finds its request in the store, the
 * database opens, and the gateway answers again at once.
 *
 *     npm run soak -- gateway-kills [--kills 200] [--streams 8] [--seed 1]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    streams: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
  },
});
const [kills, streams, seed] = [values.kills, values.streams, values.seed].map(Number);

let state = seed >>> 0;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

async function begin(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error(`${file} ended.`);
}

const { openStore } = await load('main/store/store.js');
const { installToken } = await load('main/proxy/token.js');
const home = mkdtempSync(join(tmpdir(), 'tackroom-kills-'));
const upstream = await begin(join(root, 'tests', 'bench', 'proxy', 'upstream.mjs'), ['6', '3']);
{
  const store = openStore(home);
  store.setSetting('upstreams', { pi: { baseUrl: `http://127.0.0.1:${upstream.line}/v1` } });
  store.close();
}
const token = installToken(home);
const tool = {
  type: 'function',
  function: { name: 'bash', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
};

let port = 0;
let life = 0;
let gateway;
const restarts = [];
async function start() {
  const began = performance.now();
  gateway = await begin(join(root, 'dist', 'main/proxy/entry.js'), [
    '--home',
    home,
    '--socket',
    join(home, 'g.sock'),
    '--engine',
    join(home, 'none.sock'),
    '--port',
    String(port),
  ]);
  port = JSON.parse(gateway.line).port;
  restarts.push(performance.now() - began);
}

/** Titles of the requests whose last byte came. */
const acknowledged = new Set();
let broken = 0;
let stop = false;

function ask(name, agent) {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: name }], tools: [tool] });
  return new Promise((resolve) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: '/pi/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-session-id': name },
      },
      (response) => {
        let text = '';
        response.on('data', (data) => {
          text += data;
          // The last byte is what counts, not the end of the connection.
          if (text.endsWith('data: [DONE]\n\n')) acknowledged.add(name);
        });
        response.once('error', resolve);
        response.once('close', resolve);
      },
    );
    asked.once('error', resolve);
    asked.end(body);
  });
}

async function harness(stream) {
  for (let turn = 0; !stop; turn++) {
    const at = life;
    const agent = new Agent();
    await ask(`life ${at} stream ${stream} turn ${turn}`, agent);
    agent.destroy();
    if (at !== life || gateway === undefined) {
      broken++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await start();
const running = Array.from({ length: streams }, (_, stream) => harness(stream));
for (let kill = 0; kill < kills; kill++) {
  await new Promise((resolve) => setTimeout(resolve, 20 + random() * 300));
  const gone = new Promise((resolve) => gateway.child.once('exit', resolve));
  gateway.child.kill('SIGKILL');
  await gone;
  life++;
  await start();
}
stop = true;
await Promise.all(running);
gateway.child.kill('SIGTERM');
await new Promise((resolve) => gateway.child.once('exit', resolve));
upstream.child.kill();

const store = openStore(home);
const recorded = new Set(store.session.list({ limit: 1e9 }).map((session) => session.title));
const lost = [...acknowledged].filter((name) => !recorded.has(name));
const integrity = store.db.pragma('integrity_check', { simple: true });
store.close();
rmSync(home, { recursive: true, force: true });
const slowest = Math.max(...restarts);
console.log(
  JSON.stringify(
    {
      kills,
      streams,
      seed,
      acknowledged: acknowledged.size,
      broken,
      recorded: recorded.size,
      lost: lost.length,
      firstLost: lost.slice(0, 3),
      integrity,
      slowestRestartMs: Math.round(slowest),
    },
    null,
    1,
  ),
);
process.exit(lost.length === 0 && integrity === 'ok' && acknowledged.size > kills ? 0 : 1);
