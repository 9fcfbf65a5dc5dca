/** Draws the next token from one row of logits. */
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"

namespace tackroom {

/** Names and meaning as SampleOptions in native/addon.ts; 0 (min_p, top_k) or 1 (top_p, penalty) switch a filter off. */
struct SampleOptions {
  double temperature = 1, top_p = 1, min_p = 0, repetition_penalty = 1;
  int top_k = 0;
  uint64_t seed = 0;
  /** Bit t of word t / 32 is set when token t may be drawn, [ceil(vocab / 32)]; empty: every token may. Never all zero. */
  std::vector<uint32_t> allowed;
};

struct Sampled {
  int token = -1;
  float logprob = 0;
};

/** log p(token) under softmax(logits / temperature); temperature 0 counts as 1. */
float token_logprob(const Kernels& kernels, const float* logits, int vocab, int token, double temperature);

/**
 * `position` is the index the new token will have, `history` the tokens before it (for the repetition penalty of Keskar
 * et al. 2019). Tokens that are not allowed go first, then the filters apply in the order top-k, top-p, min-p; the
 * log-probability is that of the unmasked, unfiltered, unpenalised distribution, which is the one training compares with.
 */
Sampled sample_token(const Kernels& kernels, const float* logits, int vocab, const SampleOptions& options, int position, const std::vector<int>& history);

}  // namespace tackroom
