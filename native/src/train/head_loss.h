/**
 * Output head and loss, fused: logits exist for one chunk of predicting tokens at a time, never for the whole batch.
 *
 * A chunk is turned into logits, statistics, derivatives, and its share of the gradients before the next. A token that predicts
 * for several rows has one row of logits: dlogits = sum over its terms of d_i / T (onehot_i - softmax). Losses that couple the
 * tokens of a row (gspo, opsm) take a first pass for the log-probabilities and compute the logits twice.
 */
#pragma once
#include <functional>
#include <vector>

#include "losses.h"
#include "train_layer.h"

namespace tackroom {

/** Called where a step can wait or end: between layers and chunks. May throw, which ends the step and changes nothing. */
using Pause = std::function<void()>;

class HeadLoss {
 public:
  explicit HeadLoss(TrainContext& context) : context_(context), model_(context.model) {}

  /** `x` [rows, H] is the stream after the last layer; its gradient is written to `dx` (zero elsewhere). Adds to `sums`. */
  void run(const BatchLoss& loss, const float* x, float* dx, LossSums& sums, const Pause& pause);
  /** Logits of so many tokens exist at a time. */
  static int chunk_rows(const ModelConfig& config);
  /** Bytes held now. */
  size_t bytes() const;

 private:
  /** Logits of the predicting tokens [begin, end), then statistics and log-probabilities of their terms. */
  void score(const BatchLoss& loss, const float* x, int begin, int end, LossSums& sums);
  /** Derivatives of the terms [begin, end), row by row of the batch in the order of `order`. */
  void derive(const BatchLoss& loss, const std::vector<int>& order, LossSums& sums);
  void backward(const BatchLoss& loss, float* dx, int begin, int end);

  TrainContext& context_;
  Model& model_;
  std::vector<int> tokens_;      // distinct predicting rows of x
  std::vector<int> first_term_;  // of each, then the number of terms
  std::vector<float> lse_, rstd_, entropy_;     // one a token
  std::vector<float> logprobs_, derivative_;  // one a term
  AlignedBuffer normed_, logits_, d_normed_, gathered_, d_gathered_, partial_;
  Panels16 panels_;  // of the head's W^T, kept while the head is frozen
};

}  // namespace tackroom
