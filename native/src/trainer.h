/**
 * Training: a step is forward, backward and one optimizer update over all its rows.
 *
 * Data-parallel over rows: every thread takes whole micro-batches and adds to gradients of its own, which are summed in
 * the order of the threads, so a step is reproducible for a given number of threads.
 */
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "losses.h"
#include "optimizer.h"
#include "train_block.h"

namespace tackroom {

struct StepMetrics {
  double loss = 0, grad_norm = 0, clip_low_frac = 0, clip_high_frac = 0, kl = 0, entropy = 0, seconds = 0;
  int64_t trained_tokens = 0, forwarded_tokens = 0;
};

/** Buffers of one training thread, kept between steps. */
struct TrainSpace {
  AlignedBuffer gradients, stream, d_stream;
  std::vector<BlockTape> tapes;
  BlockScratch scratch;
};

class Trainer {
 public:
  /** `adapter` null trains every weight of the model. */
  Trainer(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, const OptimizerConfig& config);

  StepMetrics step(const std::vector<TrainRow>& rows, const LossConfig& loss, double lr);
  /** Loss and gradients without an update; `gradients()` holds them until the next call. */
  StepMetrics backward(const std::vector<TrainRow>& rows, const LossConfig& loss);

  const float* gradients() const { return spaces_[0].gradients.data(); }
  ParamSet& params() { return adapter_ != nullptr ? adapter_->params() : model_->weights; }
  int64_t steps() const { return optimizer_.steps; }
  void save_state(const std::string& file);
  /** Throws IO for an unreadable or damaged file, BAD_ARGUMENT when it belongs to other tensors. */
  void load_state(const std::string& file);

 private:
  void run_rows(const std::vector<const TrainRow*>& rows, const BatchLoss& loss, TrainSpace& space, LossSums& sums);
  void reduce();
  void weights_changed();

  std::shared_ptr<Model> model_;
  std::shared_ptr<Adapter> adapter_;
  Optimizer optimizer_;
  std::vector<TrainSpace> spaces_;  // one a thread; the sum of the gradients ends in the first
};

/** Rows of one thread cut into micro-batches of at most `budget` tokens, longer rows alone. */
using MicroBatches = std::vector<std::vector<const TrainRow*>>;
/** Spreads rows over threads so that the longest share is short; the same rows always give the same plan. */
std::vector<MicroBatches> plan_micro_batches(const std::vector<TrainRow>& rows, int threads, int budget);

}  // namespace tackroom
