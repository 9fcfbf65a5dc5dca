/**
 * What is larger than any conversation: a body of 100 MB, and an answer of a million pieces. Both pass whole and are stored, memory stays
 * within a bound, and a small request beside them is answered.
 *
 *     npm run soak -- gateway-large [--megabytes 100] [--pieces 1000000]
 */
import { parseArgs } from 'node:util';
import { GatewayRig, TOOL } from './gateway-rig.mjs';

const { values } = parseArgs({
  options: { megabytes: { type: 'string', default: '100' }, pieces: { type: 'string', default: '1000000' } },
});
const [megabytes, pieces] = [values.megabytes, values.pieces].map(Number);
/** The body as it came, in the thread, as text, as values and in the form that is stored; beside what the process takes by itself. */
const LIMIT_MB = 400 + 20 * megabytes;

const small = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }], tools: [TOOL] });
const answered = (text) => text.endsWith('data: [DONE]\n\n') && text.includes('call_');

async function withLargeBody() {
  const rig = new GatewayRig();
  await rig.open(5, 2);
  const content = 'A line of a large file, "quoted" and all.\n'.repeat((megabytes * 1e6) / 43);
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }], tools: [TOOL] });
  const began = performance.now();
  const large = rig.ask('large', body);
  const beside = await rig.ask('small', small);
  const ok = answered(await large) && answered(beside);
  const seconds = (performance.now() - began) / 1000;
  const memoryMb = Math.round(rig.memory().highest);
  const store = await rig.store();
  const bytes = store.db.prepare('SELECT max(length(body)) AS bytes FROM message').get().bytes;
  store.close();
  rig.remove();
  return { ok: ok && bytes > content.length && memoryMb < LIMIT_MB, megabytes, seconds, memoryMb, limitMb: LIMIT_MB };
}

async function withLongAnswer() {
  const rig = new GatewayRig();
  await rig.open(pieces, 0);
  let seen = 0;
  let tail = '';
  const began = performance.now();
  await rig.ask('long', small, {
    onData(_, data) {
      const text = data.toString('latin1');
      for (let at = text.indexOf('"content":"@'); at >= 0; at = text.indexOf('"content":"@', at + 1)) seen++;
      tail = (tail + text).slice(-1000);
      return '';
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const memoryMb = Math.round(rig.memory().highest);
  const store = await rig.store();
  const requests = store.request.list().filter((request) => request.status === 'ok').length;
  store.close();
  rig.remove();
  return { ok: answered(tail) && requests === 1 && memoryMb < LIMIT_MB, seen, seconds, memoryMb, limitMb: LIMIT_MB };
}

const report = { body: await withLargeBody(), answer: await withLongAnswer() };
console.log(JSON.stringify(report, null, 1));
process.exit(report.body.ok && report.answer.ok ? 0 : 1);
