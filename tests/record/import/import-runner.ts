/** Imports a path in a process of its own; prints a line once it writes. Arguments: home folder, path, 'measure' for figures or 'shared' when others write too. */
import { writeSync } from 'node:fs';
import { SESSION_READERS } from '../../../main/cli/sessions-import.js';
import { importSessions } from '../../../main/record/import-sessions.js';
import { openStore } from '../../../main/store/store.js';

const [home, path, how] = process.argv.slice(2);
const store = openStore(home!);
writeSync(1, 'begun\n');
const began = process.memoryUsage.rss();
const { sessions } = await importSessions(
  store,
  path!,
  SESSION_READERS,
  () => undefined,
  () => how === 'shared',
);
const requests = sessions.reduce((sum, { session }) => sum + session.requests, 0);
const peakBytes = process.resourceUsage().maxRSS * 1024;
if (how === 'measure') writeSync(1, `${JSON.stringify({ requests, beganBytes: began, peakBytes })}\n`);
store.close();
