#include "losses.h"

#include <algorithm>
#include <cmath>

#include "../error.h"

namespace tackroom {
namespace {

struct Value {
  double value, derivative;  // derivative by the ratio
};

/** -min(c1 A, c2 A) of PPO's clipped objective (Schulman et al. 2017), with the upper bound `delta` on the free branch. */
Value clipped(double ratio, double advantage, const LossConfig& c) {
  const bool bounded = ratio > c.delta;  // false when delta is NaN
  const double low = 1 - c.clip_low, high = 1 + c.clip_high;
  const double free = (bounded ? c.delta : ratio) * advantage, held = std::clamp(ratio, low, high) * advantage;
  const double free_slope = bounded ? 0 : advantage, held_slope = ratio < low || ratio > high ? 0 : advantage;
  if (free < held) return {-free, -free_slope};
  if (held < free) return {-held, -held_slope};
  return {-free, -0.5 * (free_slope + held_slope)};
}

size_t trained_tokens(const TrainRow& row, LossKind kind) {
  size_t count = 0;
  for (size_t t = 1; t < row.ids.size(); t++) count += row.trained(kind, t);
  return count;
}

void check_length(const char* name, size_t length, size_t expected) {
  if (length != expected) fail("BAD_ARGUMENT", "A sample has %zu tokens but %zu entries in %s.", expected, length, name);
}

}  // namespace

void LossSums::add(const LossSums& other) {
  loss += other.loss, kl += other.kl, entropy += other.entropy;
  tokens += other.tokens, clipped_low += other.clipped_low, clipped_high += other.clipped_high, forwarded += other.forwarded;
}

BatchLoss::BatchLoss(const LossConfig& config, const std::vector<TrainRow>& rows, int vocab) : config_(config), rows_(rows) {
  if (rows.empty()) fail("BAD_ARGUMENT", "A training step needs at least one sample.");
  if (!(config.temperature > 0)) fail("BAD_ARGUMENT", "The temperature of a loss must be positive.");
  if (config.kind == LossKind::DrGrpo && config.max_completion_length < 1) fail("BAD_ARGUMENT", "The loss dr_grpo needs maxCompletionLength.");
  const bool sft = config.kind == LossKind::Sft;
  for (const TrainRow& row : rows) {
    const size_t n = row.ids.size();
    if (n == 0) fail("BAD_ARGUMENT", "A sample has no tokens.");
    for (const int id : row.ids)
      if (id < 0 || id >= vocab) fail("BAD_ARGUMENT", "The token %d is outside the vocabulary of %d.", id, vocab);
    if (sft) {
      check_length("weights", row.weights.size(), n);
      for (size_t t = 1; t < n; t++) {
        if (!(row.weights[t] >= 0) || !std::isfinite(row.weights[t])) fail("BAD_ARGUMENT", "A token weight must be a number of at least 0.");
        total_weight_ += row.weights[t];
      }
    } else {
      check_length("completionMask", row.mask.size(), n);
      check_length("oldLogprobs", row.old_logprobs.size(), n);
      if (config.beta != 0) check_length("refLogprobs", row.ref_logprobs.size(), n);
      if (config.is_mode != IsMode::None) check_length("samplingLogprobs", row.sampling_logprobs.size(), n);
      if (!row.sampling_logprobs.empty()) check_length("samplingLogprobs", row.sampling_logprobs.size(), n);
      if (!std::isfinite(row.advantage)) fail("BAD_ARGUMENT", "An advantage is not a number.");
    }
    trained_ += static_cast<double>(trained_tokens(row, config.kind));
  }
  if (trained_ == 0) fail("BAD_ARGUMENT", "No token of the batch is trained on.");
  if (sft) return;
  const bool sequence_mode = config.is_mode == IsMode::SequenceTruncate || config.is_mode == IsMode::SequenceMask;
  for (const TrainRow& row : rows) factors_.push_back({token_weight(row), sequence_mode ? correction(row, 0) : 1});
}

double BatchLoss::token_weight(const TrainRow& row) const {
  const double rows = static_cast<double>(rows_.size());
  switch (config_.kind) {
    case LossKind::Grpo:
    case LossKind::Gspo: return 1 / (rows * std::max<double>(1, static_cast<double>(trained_tokens(row, config_.kind))));
    case LossKind::DrGrpo: return 1 / (rows * config_.max_completion_length);
    default: return 1 / trained_;
  }
}

/** Importance weight against the sampler's log-probabilities (truncated or masked), constant in the gradient. */
double BatchLoss::correction(const TrainRow& row, int position) const {
  const auto gap = [&](size_t t) { return row.mask[t] == 0 ? 0.0 : static_cast<double>(row.old_logprobs[t]) - row.sampling_logprobs[t]; };
  double sum = 0;
  if (config_.is_mode == IsMode::TokenTruncate || config_.is_mode == IsMode::TokenMask) sum = gap(static_cast<size_t>(position));
  else
    for (size_t t = 1; t < row.ids.size(); t++) sum += gap(t);
  const double w = std::exp(sum);
  if (config_.is_mode == IsMode::TokenTruncate || config_.is_mode == IsMode::SequenceTruncate) return std::min(w, config_.is_max);
  return w > config_.is_max ? 0 : w;
}

void BatchLoss::derive(int index, const int* positions, const float* logprobs, int count, float* derivative, LossSums& sums) const {
  const LossConfig& c = config_;
  const TrainRow& row = rows_[static_cast<size_t>(index)];
  sums.tokens += count;
  if (c.kind == LossKind::Sft) {
    for (int i = 0; i < count; i++) {
      const double w = row.weights[static_cast<size_t>(positions[i])] / total_weight_;
      sums.loss -= w * logprobs[i];
      derivative[i] = static_cast<float>(-w);
    }
    return;
  }
  const RowFactors& factors = factors_[static_cast<size_t>(index)];
  const double weight = factors.weight, advantage = row.advantage, n = std::max(1, count);
  const bool by_token = c.is_mode == IsMode::TokenTruncate || c.is_mode == IsMode::TokenMask;
  double mean_gap = 0, mean_drift = 0;  // of lp - old, and of sampling - lp
  for (int i = 0; i < count; i++) {
    const size_t t = static_cast<size_t>(positions[i]);
    mean_gap += (logprobs[i] - row.old_logprobs[t]) / n;
    mean_drift += ((row.sampling_logprobs.empty() ? row.old_logprobs[t] : row.sampling_logprobs[t]) - logprobs[i]) / n;
  }
  const bool gspo = c.kind == LossKind::Gspo;
  const double keep = c.opsm != c.opsm || advantage >= 0 || mean_drift <= c.opsm ? 1 : 0;
  const double row_ratio = std::exp(mean_gap);
  double through_ratio = 0;  // gspo: sum over the row of d loss / d ratio
  for (int i = 0; i < count; i++) {
    const size_t t = static_cast<size_t>(positions[i]);
    const double lp = logprobs[i], token_ratio = std::exp(lp - row.old_logprobs[t]), ratio = gspo ? row_ratio : token_ratio;
    const double factor = keep * (by_token ? correction(row, positions[i]) : factors.correction);
    double loss, slope = 0, direct = 0;  // slope by the ratio, direct by lp
    if (c.kind == LossKind::Cispo) {
      // MiniMax-M1: the capped ratio is a constant weight of the log-probability; the cap is clip_high.
      direct = -std::min(ratio, c.clip_high) * advantage;
      loss = direct * lp;
    } else {
      const Value v = clipped(ratio, advantage, c);
      loss = v.value, slope = v.derivative;
    }
    loss *= factor, slope *= factor, direct *= factor;
    if (c.beta != 0) {
      const double gap = row.ref_logprobs[t] - lp, k3 = std::exp(gap) - gap - 1, k3_slope = 1 - std::exp(gap);
      loss += c.beta * k3 * (c.bias_corr ? ratio : 1);
      direct += c.beta * k3_slope * (c.bias_corr ? ratio : 1);
      if (c.bias_corr) slope += c.beta * k3;
    }
    sums.loss += weight * loss;
    sums.kl += token_ratio - 1 - (lp - row.old_logprobs[t]);
    sums.clipped_low += ratio < 1 - c.clip_low && advantage < 0;
    sums.clipped_high += ratio > 1 + c.clip_high && advantage > 0;
    if (gspo) through_ratio += slope;
    derivative[i] = static_cast<float>(weight * (direct + (gspo ? 0 : slope * ratio)));
  }
  if (gspo)
    for (int i = 0; i < count; i++) derivative[i] += static_cast<float>(weight * through_ratio * row_ratio / n);
}

}  // namespace tackroom
