/**
 * Losses over log-probabilities: GRPO and its relatives, and weighted cross-entropy.
 *
 * A loss is a sum over trained tokens; what the head needs of it is the derivative by each token's log-probability. The
 * aggregation weight of a token (1 / trained tokens, 1 / (rows * tokens of the row), ...) is known before the forward pass,
 * so micro-batches can be processed one by one without changing the result. For the same reason bnpo is the mean over all
 * trained tokens of the step here, as dapo is; TRL takes the mean over each micro-batch, which depends on how rows are packed.
 */
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tackroom {

enum class LossKind { Grpo, Bnpo, DrGrpo, Dapo, Gspo, Cispo, Sft };
enum class IsMode { None, TokenTruncate, TokenMask, SequenceTruncate, SequenceMask };

/** Names and meaning as LossOptions in native/addon.ts. `delta` and `opsm` are off when NaN. */
struct LossConfig {
  LossKind kind = LossKind::Dapo;
  double clip_low = 0.2, clip_high = 0.28, temperature = 1;
  int max_completion_length = 0;
  double beta = 0;
  bool bias_corr = true;
  IsMode is_mode = IsMode::None;
  double is_max = 3;
  double delta = __builtin_nan(""), opsm = __builtin_nan("");
};

/** One training row; the vectors are as long as `ids` or empty where the loss does not use them. */
struct TrainRow {
  std::vector<int> ids;
  std::vector<uint8_t> mask;
  std::vector<float> old_logprobs, ref_logprobs, sampling_logprobs, weights;
  float advantage = 0;

  bool trained(LossKind kind, size_t t) const { return t > 0 && (kind == LossKind::Sft ? weights[t] != 0 : mask[t] != 0); }
};

/** Sums over trained tokens; the step's metrics are ratios of them. */
struct LossSums {
  double loss = 0, kl = 0, entropy = 0;
  int64_t tokens = 0, clipped_low = 0, clipped_high = 0, forwarded = 0;
  void add(const LossSums& other);
};

/** The loss of one batch of rows, which must outlive it. */
class BatchLoss {
 public:
  /** Checks the rows against what the loss needs. Throws BAD_ARGUMENT. */
  BatchLoss(const LossConfig& config, const std::vector<TrainRow>& rows, int vocab);

  const LossConfig& config() const { return config_; }
  /** True when a token's derivative needs the log-probabilities of its whole row. */
  bool needs_whole_row() const { return config_.kind == LossKind::Gspo || config_.opsm == config_.opsm; }

  /**
   * Loss of the trained tokens `positions` of row `index` and its derivative by their log-probabilities `logprobs`, both
   * [count]; all of the row's trained tokens at once when `needs_whole_row`. Adds to `sums` all but the entropy.
   */
  void derive(int index, const int* positions, const float* logprobs, int count, float* derivative, LossSums& sums) const;

 private:
  /** What the tokens of a row have in common. */
  struct RowFactors {
    double weight;      // of a token in the loss
    double correction;  // importance weight of the whole row; 1 in the other modes
  };
  double token_weight(const TrainRow& row) const;
  double correction(const TrainRow& row, int position) const;

  LossConfig config_;
  const std::vector<TrainRow>& rows_;
  double trained_ = 0, total_weight_ = 0;
  std::vector<RowFactors> factors_;  // empty for sft
};

}  // namespace tackroom
