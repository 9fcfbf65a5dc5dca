/** The least a proxy can do: every byte on to the other port and back. usage: plain.mjs PORT. Prints its own port. */
import { Agent, createServer, request } from 'node:http';

const agent = new Agent({ keepAlive: true });
const server = createServer((asked, answer) => {
  const onward = request(
    {
      host: '127.0.0.1',
      port: Number(process.argv[2]),
      method: asked.method,
      path: asked.url.replace(/^\/pi/, ''),
      headers: asked.headers,
      agent,
    },
    (response) => {
      answer.writeHead(response.statusCode, response.headers);
      response.pipe(answer);
    },
  );
  asked.pipe(onward);
});
// Between two rounds connections are idle for longer than Node's five seconds.
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
