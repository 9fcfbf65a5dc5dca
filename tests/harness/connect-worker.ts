/** Connects and disconnects a harness again and again: `connect-worker HARNESS ROOT PORT TIMES`. */
import { connectNow, disconnectNow } from '../../main/harness/connect-change.js';

const [harness, root, port, times] = process.argv.slice(2) as [string, string, string, string];
for (let i = 0; i < Number(times); i++) {
  await connectNow({ harness, root, port: Number(port), token: `tok-${port}` });
  await disconnectNow({ harness, root });
}
process.disconnect();
