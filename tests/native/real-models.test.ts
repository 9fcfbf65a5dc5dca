/** SmolLM2-135M, quantised to Q4_1 by others, against a float64 forward pass on its dequantised weights. */

import { realModel } from '../support/real-models.js';
import { describeShared } from '../support/shared.js';
import { realModelTests } from './real-model-cases.js';

describeShared('a real model against its golden outputs', (shared) => {
  realModelTests(shared, 'smollm2-135m', () => realModel('smollm2-135m'));
});
