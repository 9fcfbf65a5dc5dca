/**
 * Set-up step: asks the installed pi for its prompt and writes the complete demo model to `build/demo-model`.
 * Usage: node dist/main/models/demo/complete.js [--out DIR]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toErrorShape } from '../../../contract/errors.js';
import { packageRoot } from '../../../native/addon.js';
import { capturePiPrompt, privatePi } from './capture-pi.js';
import { completeTokenizer } from './complete-tokenizer.js';

const { values } = parseArgs({
  options: { out: { type: 'string', default: join(packageRoot(), 'build', 'demo-model') } },
});
try {
  completeTokenizer(await capturePiPrompt(privatePi()), values.out);
  console.log(`The demo model is complete in ${values.out}.`);
} catch (error) {
  const { code, message, hint } = toErrorShape(error);
  console.error(`${code}: ${message}`);
  if (hint) console.error(hint);
  process.exitCode = 1;
}
