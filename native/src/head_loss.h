/**
 * Output head and loss, fused: logits exist for one chunk of trained tokens at a time, never for the whole batch.
 *
 * A chunk is turned into logits, statistics, derivative, and its share of the gradients while it is in cache. Losses that
 * couple the tokens of a row (gspo, opsm) take a first pass for the log-probabilities and compute the logits twice.
 */
#pragma once
#include <vector>

#include "losses.h"
#include "train_block.h"

namespace tackroom {

class HeadLoss {
 public:
  HeadLoss(const Model& model, const TrainTarget& target, const BatchLoss& loss) : model_(model), target_(target), loss_(loss) {}

  /**
   * `x` [rows, hidden] is the residual stream after the last block; its gradient is written to `dx` (zero elsewhere).
   * `rows_of[i]` belongs to `segments[i]`.
   */
  void run(const std::vector<const TrainRow*>& rows_of, const std::vector<Segment>& segments, const float* x, float* dx, LossSums& sums);

 private:
  struct Term {
    int sample, row, position;  // row of x that predicts ids[position] of the sample
  };
  void compute_logits(const float* x, size_t begin, size_t end);
  void score(size_t begin, size_t end, LossSums& sums);
  void derive(const std::vector<const TrainRow*>& rows_of, size_t begin, size_t end, LossSums& sums);
  void backward(const float* x, float* dx, size_t begin, size_t end);

  const Model& model_;
  const TrainTarget& target_;
  const BatchLoss& loss_;
  std::vector<Term> terms_;
  std::vector<int> targets_;
  std::vector<float> logprobs_, lse_, derivative_, rstd_;
  AlignedBuffer normed_, logits_, d_normed_;
};

}  // namespace tackroom
