// Ends threads in the middle of a scan, over and over: `node ended-thread.mjs TIMES`. The same file is the thread.
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

if (isMainThread) {
  const times = Number(process.argv[2]);
  for (let i = 0; i < times; i++) {
    const thread = new Worker(new URL(import.meta.url));
    await new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
    await new Promise((resolve) => setTimeout(resolve, 20 + ((i * 37) % 120)));
    await thread.terminate();
  }
  console.log(`ended ${times}`);
} else {
  const { SanitizeContext, sanitizeBytes } = await import('../../../dist/main/sanitize/sanitize.js');
  const line = `${JSON.stringify({ text: 'cp /home/vmarkelova/a /srv/b && echo words '.repeat(200) })}\n`;
  const input = Buffer.from(line.repeat(200));
  parentPort.postMessage('begins');
  for (;;) sanitizeBytes(input, new SanitizeContext());
}
