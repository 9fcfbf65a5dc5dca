import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BpeTokenizer } from '../../main/models/demo/bpe.js';
import { capturePiPrompt, privatePi } from '../../main/models/demo/capture-pi.js';
import { encodePrompt } from '../../main/models/demo/codec.js';
import { completedFile, demoModelDir } from '../../main/models/demo/complete-tokenizer.js';
import { readPiPrompt } from '../../main/models/demo/pi-lines.js';
import { RECIPE } from '../../main/models/demo/pretrain/recipe.js';
import {
  firstBatches,
  firstLosses,
  REFERENCE_STEPS,
  unpackBatches,
} from '../../main/models/demo/pretrain/reference.js';
import { SessionData } from '../../main/models/demo/pretrain/session-data.js';
import { loadAddon, packageRoot } from '../../native/addon.js';

const stored = unpackBatches(
  readFileSync(join(packageRoot(), 'tests', 'fixtures', 'demo-model', 'first-batches.json.gz')),
);
const { losses } = JSON.parse(readFileSync(join(demoModelDir(), 'recipe-losses.json'), 'utf8')) as { losses: number[] };
/** Processors sum in different orders. */
const TOLERANCE = 1e-3;

describe('the recipe of the demo model', () => {
  it.skipIf(!existsSync(join(packageRoot(), 'build', 'native', 'engine.node')))(
    'gives the stored losses in its first steps',
    { timeout: 120_000 },
    async () => {
      expect(losses).toHaveLength(REFERENCE_STEPS);
      expect(losses.at(-1)).toBeLessThan(losses[0]!);
      const again = await firstLosses(loadAddon(), stored, 2);
      again.forEach((loss, step) => {
        expect(Math.abs(loss - losses[step]!), `step ${step}: ${loss}, stored ${losses[step]}`).toBeLessThan(TOLERANCE);
      });
    },
  );

  it.skipIf(!existsSync(privatePi().cli))(
    'makes the stored rows from the installed pi',
    { timeout: 60_000 },
    async () => {
      const body = await capturePiPrompt(privatePi());
      const prompt = readPiPrompt(body)!;
      const tokenizer = new BpeTokenizer(completedFile(body));
      expect(firstBatches(new SessionData(tokenizer, prompt, String(RECIPE.seed)))).toEqual(stored);
    },
  );

  it.skipIf(!existsSync(privatePi().cli))(
    'trains on the very tokens that a request of pi is encoded to',
    { timeout: 60_000 },
    async () => {
      const body = await capturePiPrompt(privatePi());
      const tokenizer = new BpeTokenizer(completedFile(body));
      const data = new SessionData(tokenizer, readPiPrompt(body)!, 'same');
      for (let i = 0; i < 20; i++) {
        const row = [...data.sample(i, 0.3).inputIds];
        const text = tokenizer.decode(row);
        const [system, question] = /^<\|system\|>(.*)<\|tools\|>(?:.*)<\|end\|><\|user\|>(.*?)<\|end\|><\|assistant\|>/s
          .exec(text)!
          .slice(1) as [string, string];
        const tools = body.tools.filter((tool) => text.includes(JSON.stringify(tool.function)));
        const prompt = encodePrompt(
          tokenizer,
          [
            { role: 'system', content: system },
            { role: 'user', content: [{ type: 'text', text: question }] },
          ],
          tools,
        );
        expect(row.slice(0, prompt.length)).toEqual(prompt);
      }
    },
  );
});
