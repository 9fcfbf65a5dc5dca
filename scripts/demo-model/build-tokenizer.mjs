// Step 1 of the recipe: learns the tokenizer and writes it, without pi's lines, to resources/demo-model.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPiPrompt } from '../../dist/main/models/demo/pi-lines.js';
import { buildTokenizer } from '../../dist/main/models/demo/pretrain/build-tokenizer.js';
import { piRequest, resources } from './shared.mjs';

const { file, piLines } = buildTokenizer(readPiPrompt(await piRequest()), '1.6.0');
writeFileSync(join(resources, 'tokenizer.json'), JSON.stringify(file));
writeFileSync(join(resources, 'pi_lines.json'), `${JSON.stringify(piLines, null, 1)}\n`);
console.log(`${file.model.merges.length} merges, ${piLines.lines.length} lines of pi.`);
