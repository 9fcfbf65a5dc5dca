// Long runs that `npm test` has no time for: npm run soak -- [NAME] [arguments]. Names: tests/soak/*.mjs.
//   npm run soak -- swaps --model DIR|FILE --swaps 1000
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'tests', 'soak');
const [name = 'swaps', ...args] = process.argv.slice(2);
const file = join(folder, `${name}.mjs`);
if (!existsSync(file)) {
  const names = readdirSync(folder).flatMap((entry) => (entry.endsWith('.mjs') ? [entry.slice(0, -4)] : []));
  console.error(`There is no soak test ${name}. There are: ${names.join(', ')}.`);
  process.exit(2);
}
process.exitCode = spawnSync(process.execPath, ['--expose-gc', file, ...args], { stdio: 'inherit' }).status ?? 1;
