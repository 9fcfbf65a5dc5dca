/**
 * Floating-point operations (2 a multiply-add) of the matrix products, for the compute limit. Norms, activations, softmax and
 * the adapter itself are left out: the limit is a ceiling.
 */

/** Weights of the matrices of the body, without embedding and head. Dense models. */
export function bodyWeights(info) {
  const head = info.vocabSize * info.hiddenSize;
  return info.parameters - head * (info.tied ? 1 : 2);
}

/** Causal attention over rows of `length`: scores and values of the earlier half on average. */
const attentionOperations = (info, tokens, length) => 2 * tokens * length * info.heads * info.headDim * info.layers;

/** `tokens` in rows of `length`; `heads` of them go through the head. */
export function forwardOperations(info, { tokens, length, heads }) {
  return (
    2 * tokens * bodyWeights(info) +
    attentionOperations(info, tokens, length) +
    2 * heads * info.vocabSize * info.hiddenSize
  );
}

/**
 * A LoRA step: forward, and backward for the activations only, since the base is frozen. The products for the activations
 * cost as much as forward; attention's backward costs two and a half times its forward (dV, dP, dQ, dK and the scores again).
 */
export function loraStepOperations(info, { tokens, length }) {
  const linear = 2 * tokens * (bodyWeights(info) + info.vocabSize * info.hiddenSize);
  return 2 * linear + 3.5 * attentionOperations(info, tokens, length);
}
