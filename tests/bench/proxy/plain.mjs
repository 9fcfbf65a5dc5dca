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
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
