#include "head_loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace tackroom {
namespace {

constexpr double kLogitBytes = 64e6;
constexpr int kRowBlock = 96;  // a multiple of every kernel's row block

}  // namespace

int HeadLoss::chunk_rows(const ModelConfig& c) {
  return std::clamp(static_cast<int>(kLogitBytes / (sizeof(float) * c.vocab)) / kRowBlock, 1, 8) * kRowBlock;
}

size_t HeadLoss::bytes() const {
  size_t floats = 0;
  for (const AlignedBuffer* buffer : {&normed_, &logits_, &d_normed_, &gathered_, &d_gathered_, &partial_}) floats += buffer->capacity();
  return floats * sizeof(float) + panels_.bytes();
}

void HeadLoss::run(const BatchLoss& loss, const float* x, float* dx, LossSums& sums, const Pause& pause) {
  const std::vector<LossTerm>& terms = context_.forest->terms;
  tokens_.clear(), first_term_.clear();
  for (size_t i = 0; i < terms.size(); i++)
    if (i == 0 || terms[i].row != terms[i - 1].row) {
      tokens_.push_back(terms[i].row);
      first_term_.push_back(static_cast<int>(i));
    }
  first_term_.push_back(static_cast<int>(terms.size()));
  const int count = static_cast<int>(tokens_.size()), chunk = chunk_rows(model_.config);
  for (auto* values : {&lse_, &rstd_, &entropy_}) values->resize(tokens_.size());
  for (auto* values : {&logprobs_, &derivative_}) values->resize(terms.size());

  // Terms of one sample in a row, for derive.
  std::vector<int> order(terms.size());
  std::iota(order.begin(), order.end(), 0);
  const bool two_passes = loss.needs_whole_row();
  if (two_passes) {
    for (int begin = 0; begin < count; begin += chunk) {
      score(loss, x, begin, std::min(count, begin + chunk), sums);
      if (pause) pause();
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return terms[static_cast<size_t>(a)].sample < terms[static_cast<size_t>(b)].sample; });
    derive(loss, order, sums);
  }
  for (int begin = 0; begin < count; begin += chunk) {
    const int end = std::min(count, begin + chunk);
    LossSums again;
    score(loss, x, begin, end, two_passes ? again : sums);
    if (!two_passes) {
      const auto first = order.begin() + first_term_[static_cast<size_t>(begin)], last = order.begin() + first_term_[static_cast<size_t>(end)];
      derive(loss, {first, last}, sums);
    }
    backward(loss, dx, begin, end);
    if (pause) pause();
  }
}

void HeadLoss::score(const BatchLoss& loss, const float* x, int begin, int end, LossSums& sums) {
  const ModelConfig& c = model_.config;
  const int64_t hidden = c.hidden, vocab = c.vocab;
  const int rows = end - begin;
  const std::vector<LossTerm>& terms = context_.forest->terms;
  float* gathered = sized(gathered_, rows, hidden);
  for (int64_t i = 0; i < rows; i++)
    std::memcpy(gathered + i * hidden, x + tokens_[static_cast<size_t>(begin + i)] * hidden, static_cast<size_t>(hidden) * sizeof(float));
  float* normed = sized(normed_, rows, hidden);
  norm_forward(model_, gathered, model_.final_norm, normed, rstd_.data() + begin, rows, c.hidden);
  float* logits = sized(logits_, rows, vocab);
  context_.linear.forward(normed, rows, {{&model_.head, logits, vocab, nullptr}});
  const float scale = static_cast<float>(1 / loss.config().temperature);
  parallel_rows(model_.pool, rows, static_cast<double>(rows) * c.vocab, [&](int first, int last) {
    for (int i = first; i < last; i++) {
      const size_t token = static_cast<size_t>(begin + i);
      const float* row = logits + i * vocab;
      const SoftmaxStats stats = model_.kernels.softmax_stats(row, c.vocab, scale);
      lse_[token] = stats.max + std::log(stats.sum);
      entropy_[token] = stats.entropy;
      for (int t = first_term_[token]; t < first_term_[token + 1]; t++)
        logprobs_[static_cast<size_t>(t)] = row[terms[static_cast<size_t>(t)].target] * scale - stats.max - std::log(stats.sum);
    }
  });
  for (size_t token = static_cast<size_t>(begin); token < static_cast<size_t>(end); token++)
    sums.entropy += static_cast<double>(entropy_[token]) * (first_term_[token + 1] - first_term_[token]);
}

void HeadLoss::derive(const BatchLoss& loss, const std::vector<int>& order, LossSums& sums) {
  const std::vector<LossTerm>& terms = context_.forest->terms;
  std::vector<int> positions;
  std::vector<float> logprobs, derivative;
  for (size_t i = 0; i < order.size();) {
    const int sample = terms[static_cast<size_t>(order[i])].sample;
    const size_t first = i;
    positions.clear(), logprobs.clear();
    for (; i < order.size() && terms[static_cast<size_t>(order[i])].sample == sample; i++) {
      positions.push_back(terms[static_cast<size_t>(order[i])].position);
      logprobs.push_back(logprobs_[static_cast<size_t>(order[i])]);
    }
    derivative.resize(positions.size());
    loss.derive(sample, positions.data(), logprobs.data(), static_cast<int>(positions.size()), derivative.data(), sums);
    for (size_t j = 0; j < derivative.size(); j++) derivative_[static_cast<size_t>(order[first + j])] = derivative[j];
  }
}

/** dlogits in place of the logits, then into the hidden rows and, when trained, the head. */
void HeadLoss::backward(const BatchLoss& loss, float* dx, int begin, int end) {
  const ModelConfig& c = model_.config;
  const int64_t hidden = c.hidden, vocab = c.vocab;
  const int rows = end - begin;
  const std::vector<LossTerm>& terms = context_.forest->terms;
  const float scale = static_cast<float>(1 / loss.config().temperature);
  parallel_rows(model_.pool, rows, static_cast<double>(rows) * c.vocab, [&](int first, int last) {
    for (int i = first; i < last; i++) {
      const size_t token = static_cast<size_t>(begin + i);
      float* row = logits_.data() + i * vocab;
      float slope = 0;
      for (int t = first_term_[token]; t < first_term_[token + 1]; t++) slope += derivative_[static_cast<size_t>(t)] * scale;
      model_.kernels.softmax_scaled(row, c.vocab, scale, lse_[token], -slope);
      for (int t = first_term_[token]; t < first_term_[token + 1]; t++) row[terms[static_cast<size_t>(t)].target] += derivative_[static_cast<size_t>(t)] * scale;
    }
  });
  float* d_normed = sized(d_normed_, rows, hidden);
  context_.linear.backward(normed_.data(), rows, {{&model_.head, logits_.data(), vocab, nullptr, &panels_}}, d_normed);
  float* d_gathered = sized(d_gathered_, rows, hidden);
  d_gathered_.zero();
  norm_backward(model_, d_normed, gathered_.data(), model_.final_norm, rstd_.data() + begin, d_gathered, context_.linear.of_model(model_.final_norm), rows, c.hidden, partial_);
  for (int64_t i = 0; i < rows; i++)
    std::memcpy(dx + tokens_[static_cast<size_t>(begin + i)] * hidden, d_gathered + i * hidden, static_cast<size_t>(hidden) * sizeof(float));
}

}  // namespace tackroom
