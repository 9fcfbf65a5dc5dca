#include "sampler.h"

#include <algorithm>
#include <cmath>

#include "random.h"

namespace tackroom {
namespace {

struct Candidate {
  float p;
  int token;
};

void penalise(std::vector<float>& logits, const std::vector<int>& history, double penalty) {
  std::vector<bool> seen(logits.size(), false);
  const float factor = static_cast<float>(penalty);
  for (const int token : history) {
    if (seen[static_cast<size_t>(token)]) continue;
    seen[static_cast<size_t>(token)] = true;
    float& logit = logits[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / factor : logit * factor;
  }
}

/** Keeps the candidates the filters allow, most likely first. */
void filter(std::vector<Candidate>& candidates, const SampleOptions& options) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.p > b.p || (a.p == b.p && a.token < b.token); });
  if (options.top_k > 0 && candidates.size() > static_cast<size_t>(options.top_k)) candidates.resize(static_cast<size_t>(options.top_k));
  double total = 0, sum = 0;
  for (const Candidate& candidate : candidates) total += candidate.p;
  size_t keep = 0;
  while (keep < candidates.size() && (keep == 0 || sum < options.top_p * total)) sum += candidates[keep++].p;
  if (options.top_p < 1) candidates.resize(keep);
  const double floor = options.min_p * candidates[0].p;
  while (candidates.size() > 1 && candidates.back().p < floor) candidates.pop_back();
}

int draw(const std::vector<Candidate>& candidates, double uniform) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.p;
  double left = uniform * total;
  int last = candidates[0].token;
  for (const Candidate& candidate : candidates) {
    if (candidate.p <= 0) continue;
    last = candidate.token;
    left -= candidate.p;
    if (left < 0) break;
  }
  return last;
}

}  // namespace

float token_logprob(const Kernels& kernels, const float* logits, int vocab, int token, double temperature) {
  const float scale = temperature > 0 ? static_cast<float>(1 / temperature) : 1.0f;
  const SoftmaxStats stats = kernels.softmax_stats(logits, vocab, scale);
  return logits[token] * scale - stats.max - std::log(stats.sum);
}

Sampled sample_token(const Kernels& kernels, const float* logits, int vocab, const SampleOptions& options, int position, const std::vector<int>& history) {
  const float* scores = logits;
  std::vector<float> penalised;
  if (options.repetition_penalty != 1) {
    penalised.assign(logits, logits + vocab);
    penalise(penalised, history, options.repetition_penalty);
    scores = penalised.data();
  }
  int token = static_cast<int>(std::max_element(scores, scores + vocab) - scores);
  if (options.temperature > 0) {
    const float scale = static_cast<float>(1 / options.temperature);
    std::vector<float> p(static_cast<size_t>(vocab));
    kernels.exp_shifted(scores, p.data(), vocab, scale, scores[token] * scale);
    std::vector<Candidate> candidates(p.size());
    for (int i = 0; i < vocab; i++) candidates[static_cast<size_t>(i)] = {p[static_cast<size_t>(i)], i};
    if (options.top_k > 0 || options.top_p < 1 || options.min_p > 0) filter(candidates, options);
    token = draw(candidates, random_uniform(options.seed, static_cast<uint64_t>(position)));
  }
  return {token, token_logprob(kernels, logits, vocab, token, options.temperature)};
}

}  // namespace tackroom
