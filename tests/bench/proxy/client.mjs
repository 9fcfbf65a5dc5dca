/**
 * `streams` harnesses at once, each `turns` turns one after the other; before, each has a turn that brings the conversation there, after
 * which `warm` is printed. Prints milliseconds: `first`, what is lost between sending a request
 * and its first byte on both ways; `chunk`, what a later piece takes from the model server.
 * usage: client.mjs '{"port":N,"token":T,"streams":48,"turns":3,"bytes":20000,"apartMs":22}'
 */
import { Agent, request } from 'node:http';

const { port, token, streams, turns, bytes, apartMs } = JSON.parse(process.argv[2]);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const agent = new Agent({ keepAlive: true, maxSockets: streams });
const first = [];
const chunk = [];

const tool = {
  type: 'function',
  function: {
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
};

/** About `bytes` of conversation that every turn makes longer. */
function conversation(stream, turn) {
  const messages = [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: `Task ${stream} of ${process.pid}: list the files.` },
  ];
  const size = 1000;
  for (let i = 0; i < bytes / size + turn; i++) {
    const id = `call_${stream}_${i}`;
    messages.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: `{"command":"cat file${i}.txt"}` } }],
      },
      { role: 'tool', tool_call_id: id, content: `line ${i} of the file\n`.repeat(size / 20).slice(0, size - 200) },
    );
  }
  return JSON.stringify({ model: 'm', stream: true, messages, tools: [tool] });
}

function ask(body, session) {
  return new Promise((resolve, reject) => {
    const began = now();
    let seen = 0;
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: '/pi/v1/chat/completions',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          authorization: `Bearer ${token}`,
          'x-session-id': session,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (data) => {
          const at = now();
          for (const [, got, sent] of data.toString('latin1').matchAll(/@([\d.]+) ([\d.]+) word/g)) {
            if (seen++ === 0) first.push(Number(got) - began + at - Number(sent));
            else chunk.push(at - Number(sent));
          }
          text = (text + data.toString('latin1')).slice(-2000);
        });
        response.once('end', () =>
          text.includes('[DONE]') && text.includes('call_')
            ? resolve()
            : reject(new Error(`not a whole answer: ${response.statusCode} ${text}`)),
        );
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

/** Turns `from` to `to` of every harness. */
const take = (from, to) =>
  Promise.all(
    Array.from({ length: streams }, async (_, stream) => {
      // Not all in the same instant, as people do not either.
      await new Promise((resolve) => setTimeout(resolve, stream * apartMs));
      for (let turn = from; turn < to; turn++) await ask(conversation(stream, turn), `ses_${process.pid}_${stream}`);
    }),
  );

await take(0, 1);
first.length = 0;
chunk.length = 0;
console.log('warm');
await take(1, turns + 1);
const at = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const of = (values) => ({ p50: at(values, 0.5), p99: at(values, 0.99) });
console.log(JSON.stringify({ first: of(first), chunk: of(chunk), pieces: chunk.length }));
process.exit(0);
