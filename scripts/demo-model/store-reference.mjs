// Stores what tests/demo-model/recipe.test.ts repeats: the rows of the recipe's first steps and their losses.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECIPE } from '../../dist/main/models/demo/pretrain/recipe.js';
import { firstBatches, firstLosses, packBatches } from '../../dist/main/models/demo/pretrain/reference.js';
import { SessionData } from '../../dist/main/models/demo/pretrain/session-data.js';
import { packageRoot } from '../../dist/native/addon.js';
import { loadAddon, promptAndTokenizer, resources } from './shared.mjs';

const { prompt, tokenizer } = await promptAndTokenizer();
const batches = firstBatches(new SessionData(tokenizer, prompt, String(RECIPE.seed)));
const fixtures = join(packageRoot(), 'tests', 'fixtures', 'demo-model');
mkdirSync(fixtures, { recursive: true });
writeFileSync(join(fixtures, 'first-batches.json.gz'), packBatches(batches));
const losses = await firstLosses(loadAddon(), batches, 2);
writeFileSync(join(resources, 'recipe-losses.json'), `${JSON.stringify({ losses }, null, 1)}\n`);
console.log(losses);
