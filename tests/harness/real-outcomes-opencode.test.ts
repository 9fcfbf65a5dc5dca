import { it } from 'vitest';
import { describeOutcomes } from './real/suite.js';

if (process.env.TACKROOM_HARNESSES === '1') describeOutcomes('opencode');
else it.skip('every scenario with the real opencode: npm run harnesses runs them, they take minutes', () => undefined);
