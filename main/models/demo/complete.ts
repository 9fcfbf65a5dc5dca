/** Set-up's last step: asks the installed pi for its prompt and completes the demo model in `build/demo-model`. */
import { join } from 'node:path';
import { toErrorShape } from '../../../contract/errors.js';
import { packageRoot } from '../../../native/addon.js';
import { capturePiPrompt, privatePi } from './capture-pi.js';
import { completeTokenizer } from './complete-tokenizer.js';

try {
  completeTokenizer(await capturePiPrompt(privatePi()), join(packageRoot(), 'build', 'demo-model'));
  process.stdout.write('The demo model is complete.\n');
} catch (error) {
  const { message, code, hint } = toErrorShape(error);
  process.stderr.write(`${message} (${code})\n${hint ? `  ${hint}\n` : ''}`);
  process.exitCode = 1;
}
