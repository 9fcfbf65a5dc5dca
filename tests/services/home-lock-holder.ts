/** Holds a home until it is killed. Argument: the home. */
import { writeSync } from 'node:fs';
import { lockHome } from '../../main/services/home-lock.js';

lockHome(process.argv[2]!, 'tackroom serve --open');
writeSync(1, 'held\n');
setInterval(() => undefined, 60_000);
