/**
 * The gateway for half an hour with 48 harnesses, conversations that grow and new ones that begin: every answer is whole, every one is
 * stored, memory stays flat.
 *
 *     npm run soak -- gateway [--minutes 30] [--streams 48] [--turns 40]
 */
import { Agent } from 'node:http';
import { parseArgs } from 'node:util';
import { GatewayRig, TOOL } from './gateway-rig.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    streams: { type: 'string', default: '48' },
    turns: { type: 'string', default: '40' },
  },
});
const [minutes, streams, turns] = [values.minutes, values.streams, values.turns].map(Number);
/** Growth of memory after the first fifth. */
const LIMIT_MB = 64;

const rig = new GatewayRig();
await rig.open(20, 25);
const agent = new Agent({ keepAlive: true });
const end = Date.now() + minutes * 60_000;
let whole = 0;
const broken = [];

async function harness(stream) {
  for (let session = 0; Date.now() < end; session++) {
    const messages = [{ role: 'user', content: `Task ${session} of harness ${stream}` }];
    for (let turn = 0; turn < turns && Date.now() < end; turn++) {
      const body = JSON.stringify({ model: 'm', stream: true, messages, tools: [TOOL] });
      const text = await rig.ask(`ses_${stream}_${session}`, body, { agent });
      if (text.endsWith('data: [DONE]\n\n') && text.includes('call_')) whole++;
      else broken.push(text.slice(-300));
      const id = `call_${stream}_${session}_${turn}`;
      const call = { id, type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };
      messages.push(
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: id, content: `line ${turn}\n`.repeat(200) },
      );
    }
  }
}

const samples = [];
const sampling = setInterval(() => {
  const { now } = rig.memory();
  samples.push(now);
  if (process.stderr.isTTY) process.stderr.write(`\r${whole} answers, ${Math.round(now)} MB `);
}, 5000);
await Promise.all(Array.from({ length: streams }, (_, stream) => harness(stream)));
clearInterval(sampling);
const store = await rig.store();
const recorded = store.request.list().filter((request) => request.status === 'ok').length;
const integrity = store.db.pragma('integrity_check', { simple: true });
store.close();
rig.remove();

const fifth = samples.slice(Math.floor(samples.length / 5), Math.ceil((samples.length * 2) / 5));
const last = samples.slice(Math.floor((samples.length * 4) / 5));
const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const grownMb = mean(last) - mean(fifth);
const report = {
  minutes,
  streams,
  answers: whole,
  broken: broken.length,
  firstBroken: broken.slice(0, 2),
  recorded,
  integrity,
  memoryMb: {
    secondFifth: Math.round(mean(fifth)),
    lastFifth: Math.round(mean(last)),
    highest: Math.round(Math.max(...samples)),
  },
};
console.log(JSON.stringify(report, null, 1));
process.exit(broken.length === 0 && recorded === whole && integrity === 'ok' && grownMb < LIMIT_MB ? 0 : 1);
