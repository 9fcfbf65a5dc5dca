/** The thread of upkeep, with a connection of its own to the store. */
import { parentPort, workerData } from 'node:worker_threads';
import { openStore } from '../../store/store.js';
import { type ToUpkeep, Upkeep } from './upkeep.js';

const port = parentPort!;
const store = openStore((workerData as { home: string }).home);
const upkeep = new Upkeep(store, (message) => process.stderr.write(`${JSON.stringify({ level: 'error', message })}\n`));

port.on('message', (message: ToUpkeep) => {
  if (message.kind !== 'close') return upkeep.hear(message);
  port.close();
  void upkeep.close().finally(() => store.close());
});
upkeep.start();
