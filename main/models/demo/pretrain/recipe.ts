/** Every number of the demo model's recipe. Changing one means training again and storing new reference losses. */
export const RECIPE = {
  seed: 20261129,
  /** Hugging Face configuration of the model. */
  config: {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: 2048,
    hidden_size: 128,
    intermediate_size: 352,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 32,
    hidden_act: 'silu',
    max_position_embeddings: 2048,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    rope_scaling: null,
    attention_bias: false,
    mlp_bias: false,
    tie_word_embeddings: true,
    bos_token_id: null,
    pad_token_id: 0,
    eos_token_id: 6,
    torch_dtype: 'bfloat16',
  },
  /** 0.02 at width 256, wider for narrower models. */
  initStd: 0.02 * Math.sqrt(256 / 128),
  tokenizer: { sessions: 6000, minCount: 20 },
  data: {
    /** Longest session in tokens; the rest is cut off. */
    maxTokens: 832,
    /** Loss weight of what the user and the tools say; the system prompt has 0, the assistant 1. */
    contextWeight: 0.2,
    /** Share of invented names chained from sub-word pieces, once `piecesFrom` of the run is over. */
    pieceShare: 0.3,
    piecesFrom: 0.3,
  },
  train: {
    totalTokens: 14_000_000,
    tokensPerStep: 6144,
    peakLr: 3e-3,
    warmUpSteps: 60,
    /** Share of the run with a falling learning rate, linear down to `finalLr` of the peak. */
    decayShare: 0.4,
    finalLr: 0.02,
    optimizer: { optimizer: 'muon', betas: [0.9, 0.95], weightDecay: 0.01, maxGradNorm: 1 },
  },
} as const;

/** Learning rate at a step for which `done` (0..1) of the run's tokens have been seen. */
export function learningRate(step: number, done: number): number {
  const { peakLr, warmUpSteps, decayShare, finalLr } = RECIPE.train;
  const decay = done < 1 - decayShare ? 1 : Math.max(finalLr, (1 - done) / decayShare);
  return peakLr * Math.min(1, (step + 1) / warmUpSteps) * decay;
}
