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

bool is_allowed(const std::vector<uint32_t>& allowed, size_t token) { return allowed.empty() || (allowed[token / 32] >> (token % 32) & 1) != 0; }

/** The likeliest token that may be drawn, the first of equals. */
int best_allowed(const float* scores, int vocab, const std::vector<uint32_t>& allowed) {
  int best = -1;
  for (int t = 0; t < vocab; t++)
    if (is_allowed(allowed, static_cast<size_t>(t)) && (best < 0 || scores[t] > scores[best])) best = t;
  return best;
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

/** Index of the first entry at which the running sum of `p` passes uniform * sum; never one of probability 0. */
template <class Probability>
size_t draw(size_t count, double uniform, Probability p) {
  double total = 0;
  for (size_t i = 0; i < count; i++) total += p(i);
  double left = uniform * total;
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    if (p(i) <= 0) continue;
    last = i;
    left -= p(i);
    if (left < 0) break;
  }
  return last;
}

int draw_filtered(const std::vector<float>& p, const SampleOptions& options, double uniform) {
  std::vector<Candidate> candidates(p.size());
  for (size_t i = 0; i < p.size(); i++) candidates[i] = {p[i], static_cast<int>(i)};
  filter(candidates, options);
  return candidates[draw(candidates.size(), uniform, [&](size_t i) { return candidates[i].p; })].token;
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
  const bool masked = !options.allowed.empty();
  int token = masked ? best_allowed(scores, vocab, options.allowed) : static_cast<int>(std::max_element(scores, scores + vocab) - scores);
  if (options.temperature > 0) {
    const float scale = static_cast<float>(1 / options.temperature);
    const double uniform = random_uniform(options.seed, static_cast<uint64_t>(position));
    thread_local std::vector<float> p;
    p.resize(static_cast<size_t>(vocab));
    kernels.exp_shifted(scores, p.data(), vocab, scale, scores[token] * scale);
    // After the exponential: what is not allowed may be far likelier than the maximum it was shifted by.
    for (size_t t = 0; masked && t < p.size(); t++)
      if (!is_allowed(options.allowed, t)) p[t] = 0;
    const bool filtered = options.top_k > 0 || options.top_p < 1 || options.min_p > 0;
    token = filtered ? draw_filtered(p, options, uniform) : static_cast<int>(draw(p.size(), uniform, [&](size_t i) { return p[i]; }));
  }
  return {token, token_logprob(kernels, logits, vocab, token, options.temperature)};
}

}  // namespace tackroom
