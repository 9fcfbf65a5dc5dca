/**
 * A model server that streams a made-up answer: `chunks` pieces, one every `everyMs` (0: as fast as they are taken), then a tool call.
 * Every piece carries the moment it was sent (monotonic clock, shared by all processes of a machine). Prints its port.
 */
import { createServer } from 'node:http';

const [chunks, everyMs] = process.argv.slice(2).map(Number);
const now = () => Number(process.hrtime.bigint()) / 1e6;

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = {
  tool_calls: [
    {
      index: 0,
      id: `call_${process.pid}`,
      type: 'function',
      function: { name: 'bash', arguments: '{"command":"ls -l src && git status --short"}' },
    },
  ],
};

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const got = now();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    const piece = () => response.write(chunk({ content: `@${got} ${now()} word` }));
    const end = () => response.end(`${chunk(call)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    if (everyMs === 0) {
      const fill = () => {
        while (sent++ < chunks && !response.destroyed) if (!piece()) return response.once('drain', fill);
        return end();
      };
      fill();
      return;
    }
    const timer = setInterval(() => {
      if (sent++ < chunks) {
        piece();
        return;
      }
      clearInterval(timer);
      end();
    }, everyMs);
    response.once('close', () => clearInterval(timer));
  });
});
// Between two rounds connections are idle for longer than Node's five seconds.
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
