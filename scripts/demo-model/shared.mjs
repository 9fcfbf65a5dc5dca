// What the demo model's scripts share. They need a built `dist/` (npx tsc -p tsconfig.build.json) and the private pi.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BpeTokenizer } from '../../dist/main/models/demo/bpe.js';
import { capturePiPrompt, privatePi } from '../../dist/main/models/demo/capture-pi.js';
import { completeTokenizer } from '../../dist/main/models/demo/complete-tokenizer.js';
import { readPiPrompt } from '../../dist/main/models/demo/pi-lines.js';
import { loadAddon, packageRoot } from '../../dist/native/addon.js';

export const resources = join(packageRoot(), 'resources', 'demo-model');
export const workDir = join(packageRoot(), '.demo', 'pretrain');

/** pi's first request, captured once per checkout. */
export async function piRequest() {
  mkdirSync(workDir, { recursive: true });
  const file = join(workDir, 'pi-request.json');
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(await capturePiPrompt(privatePi())));
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The complete tokenizer and pi's prompt. */
export async function promptAndTokenizer() {
  const body = await piRequest();
  const dir = join(workDir, 'tokenizer');
  completeTokenizer(body, dir);
  return {
    prompt: readPiPrompt(body),
    tokenizer: new BpeTokenizer(JSON.parse(readFileSync(join(dir, 'tokenizer.json'), 'utf8'))),
  };
}

export { loadAddon };
