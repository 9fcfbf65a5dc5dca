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

float value(const Candidate& candidate) { return candidate.p; }
float value(float p) { return p; }

/** The sum in double, in eight chains. */
template <class Probability>
double sum_of(const Probability* p, size_t count) {
  double s[8] = {};
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t j = 0; j < 8; j++) s[j] += value(p[i + j]);
  for (; i < count; i++) s[0] += value(p[i]);
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/**
 * Index of the first entry at which the running sum of `p` passes uniform * sum; never one of probability 0. Blocks first, then the
 * entries of the block in which it happens.
 */
template <class Probability>
size_t draw(const std::vector<Probability>& p, double uniform) {
  constexpr size_t kBlock = 128;
  thread_local std::vector<double> sums;
  sums.clear();
  double total = 0;
  for (size_t begin = 0; begin < p.size(); begin += kBlock) {
    sums.push_back(sum_of(p.data() + begin, std::min(kBlock, p.size() - begin)));
    total += sums.back();
  }
  double left = uniform * total;
  size_t block = 0;
  for (size_t b = 0; b < sums.size(); b++) {
    if (sums[b] <= 0) continue;
    block = b;
    if (left < sums[b]) break;
    left -= sums[b];
  }
  size_t last = block * kBlock;
  for (size_t i = last; i < std::min(p.size(), (block + 1) * kBlock); i++) {
    if (value(p[i]) <= 0) continue;
    last = i;
    left -= value(p[i]);
    if (left < 0) break;
  }
  return last;
}

int draw_filtered(const std::vector<float>& p, const SampleOptions& options, double uniform) {
  std::vector<Candidate> candidates(p.size());
  for (size_t i = 0; i < p.size(); i++) candidates[i] = {p[i], static_cast<int>(i)};
  filter(candidates, options);
  return candidates[draw(candidates, uniform)].token;
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
  int token = masked ? best_allowed(scores, vocab, options.allowed) : kernels.argmax(scores, vocab);
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
    token = filtered ? draw_filtered(p, options, uniform) : static_cast<int>(draw(p, uniform));
  }
  return {token, token_logprob(kernels, logits, vocab, token, options.temperature)};
}

}  // namespace tackroom
