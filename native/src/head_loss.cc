#include "head_loss.h"

#include <algorithm>
#include <cmath>

#include "matmul.h"

namespace tackroom {
namespace {

constexpr size_t kChunk = 96;  // tokens; a multiple of every kernel's row block

}  // namespace

void HeadLoss::run(const std::vector<const TrainRow*>& rows_of, const std::vector<Segment>& segments, const float* x, float* dx, LossSums& sums) {
  terms_.clear();
  targets_.clear();
  for (size_t s = 0; s < rows_of.size(); s++)
    for (int t = 1; t < segments[s].count; t++)
      if (rows_of[s]->trained(loss_.config().kind, static_cast<size_t>(t))) {
        terms_.push_back({static_cast<int>(s), segments[s].begin + t - 1, t});
        targets_.push_back(rows_of[s]->ids[static_cast<size_t>(t)]);
      }
  const size_t count = terms_.size();
  logprobs_.resize(count), lse_.resize(count), derivative_.resize(count), rstd_.resize(count);
  const bool two_passes = loss_.needs_whole_row();
  if (two_passes) {
    for (size_t begin = 0; begin < count; begin += kChunk) {
      const size_t end = std::min(count, begin + kChunk);
      compute_logits(x, begin, end);
      score(begin, end, sums);
    }
    derive(rows_of, 0, count, sums);
  }
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t end = std::min(count, begin + kChunk);
    compute_logits(x, begin, end);
    if (!two_passes) {
      score(begin, end, sums);
      derive(rows_of, begin, end, sums);
    }
    backward(x, dx, begin, end);
  }
}

void HeadLoss::compute_logits(const float* x, size_t begin, size_t end) {
  const ModelConfig& c = model_.config;
  const size_t hidden = static_cast<size_t>(c.hidden);
  normed_.reserve(kChunk * hidden);
  for (size_t i = begin; i < end; i++)
    rstd_[i] = model_.kernels.rmsnorm(x + static_cast<size_t>(terms_[i].row) * hidden, model_.at(model_.final_norm), normed_.data() + (i - begin) * hidden,
                                      c.hidden, c.norm_eps);
  logits_.reserve(kChunk * static_cast<size_t>(c.vocab));
  matmul_packed(model_.kernels, normed_.data(), model_.head_panels.data(), logits_.data(), static_cast<int>(end - begin), c.hidden, c.vocab, false);
}

void HeadLoss::score(size_t begin, size_t end, LossSums& sums) {
  const size_t vocab = static_cast<size_t>(model_.config.vocab);
  const float scale = static_cast<float>(1 / loss_.config().temperature);
  for (size_t i = begin; i < end; i++) {
    const float* logits = logits_.data() + (i - begin) * vocab;
    const SoftmaxStats stats = model_.kernels.softmax_stats(logits, model_.config.vocab, scale);
    lse_[i] = stats.max + std::log(stats.sum);
    logprobs_[i] = logits[targets_[i]] * scale - stats.max - std::log(stats.sum);
    sums.entropy += stats.entropy;
  }
}

void HeadLoss::derive(const std::vector<const TrainRow*>& rows_of, size_t begin, size_t end, LossSums& sums) {
  std::vector<int> positions;
  for (size_t i = begin; i < end;) {
    const size_t first = i;
    positions.clear();
    for (; i < end && terms_[i].sample == terms_[first].sample; i++) positions.push_back(terms_[i].position);
    loss_.derive(*rows_of[static_cast<size_t>(terms_[first].sample)], positions.data(), logprobs_.data() + first, static_cast<int>(i - first),
                 derivative_.data() + first, sums);
  }
}

/** dlogits = derivative / T * (onehot - softmax), in place; then into the hidden rows and, when trained, the head. */
void HeadLoss::backward(const float* x, float* dx, size_t begin, size_t end) {
  const ModelConfig& c = model_.config;
  const Kernels& k = model_.kernels;
  const size_t hidden = static_cast<size_t>(c.hidden), vocab = static_cast<size_t>(c.vocab);
  const int rows = static_cast<int>(end - begin);
  const float scale = static_cast<float>(1 / loss_.config().temperature);
  for (size_t i = begin; i < end; i++) {
    float* logits = logits_.data() + (i - begin) * vocab;
    const float slope = derivative_[i] * scale;
    k.softmax_scaled(logits, c.vocab, scale, lse_[i], -slope);
    logits[targets_[i]] += slope;
  }
  float* d_normed = d_normed_.reserve(kChunk * hidden);
  matmul_nn(k, logits_.data(), model_.at(model_.head), d_normed, rows, c.vocab, c.hidden, false);
  if (target_.adapter == nullptr) matmul_tn(k, logits_.data(), normed_.data(), target_.gradients + model_.head, rows, c.vocab, c.hidden);
  float* dw = target_.of_model(model_.final_norm);
  for (size_t i = begin; i < end; i++) {
    const size_t at = static_cast<size_t>(terms_[i].row) * hidden;
    k.rmsnorm_backward(d_normed + (i - begin) * hidden, x + at, model_.at(model_.final_norm), rstd_[i], dx + at, dw, c.hidden);
  }
}

}  // namespace tackroom
