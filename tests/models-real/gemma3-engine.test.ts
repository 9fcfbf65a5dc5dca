/** Gemma 3 270M (Q4_K, Q5_0, Q6_K, Q8_0) against a float64 forward pass on its dequantised weights. */
import { realModelTests } from '../native/real-model-cases.js';
import { optionalModel } from '../support/real-models.js';
import { describeShared } from '../support/shared.js';

describeShared('Gemma 3 against its golden outputs', (shared) => {
  realModelTests(shared, 'gemma3-270m', () => optionalModel('gemma3-270m'));
});
