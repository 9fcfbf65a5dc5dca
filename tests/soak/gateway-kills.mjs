/**
 * Kills the gateway at random moments while harnesses stream through it: whoever got a last byte finds its request in the store, the
 * database opens, and the gateway answers again at once.
 *
 *     npm run soak -- gateway-kills [--kills 200] [--streams 8] [--seed 1]
 */
import { Agent } from 'node:http';
import { parseArgs } from 'node:util';
import { GatewayRig, TOOL } from './gateway-rig.mjs';

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

const rig = new GatewayRig();
/** Titles of the requests whose last byte came. */
const acknowledged = new Set();
let life = 0;
let broken = 0;
let stop = false;

async function harness(stream) {
  for (let turn = 0; !stop; turn++) {
    const at = life;
    const name = `life ${at} stream ${stream} turn ${turn}`;
    const agent = new Agent();
    const body = JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: name }],
      tools: [TOOL],
    });
    await rig.ask(name, body, {
      agent,
      onData(text, data) {
        // The last byte is what counts, not the end of the connection.
        if (`${text}${data}`.endsWith('data: [DONE]\n\n')) acknowledged.add(name);
      },
    });
    agent.destroy();
    if (at !== life) {
      broken++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await rig.open(6, 3);
const running = Array.from({ length: streams }, (_, stream) => harness(stream));
for (let kill = 0; kill < kills; kill++) {
  await new Promise((resolve) => setTimeout(resolve, 20 + random() * 300));
  await rig.end('SIGKILL');
  life++;
  await rig.start();
}
stop = true;
await Promise.all(running);

const store = await rig.store();
const recorded = new Set(store.session.list({ limit: 1e9 }).map((session) => session.title));
const lost = [...acknowledged].filter((name) => !recorded.has(name));
const integrity = store.db.pragma('integrity_check', { simple: true });
store.close();
rig.remove();
const report = {
  kills,
  streams,
  seed,
  acknowledged: acknowledged.size,
  broken,
  recorded: recorded.size,
  lost: lost.length,
  firstLost: lost.slice(0, 3),
  integrity,
  slowestRestartMs: Math.round(Math.max(...rig.starts)),
};
console.log(JSON.stringify(report, null, 1));
process.exit(lost.length === 0 && integrity === 'ok' && acknowledged.size > kills ? 0 : 1);
