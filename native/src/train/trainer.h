/**
 * Training: a step is forward, backward and one optimizer update over all its rows.
 *
 * One set of activations and one gradient buffer: every operation is split over the pool, so a step is deterministic and its
 * result the same for any number of threads. Rows go through in micro-batches of a token budget, each a forest (forest.h).
 */
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "head_loss.h"
#include "losses.h"
#include "optimizer.h"
#include "train_layer.h"

namespace tackroom {

struct StepMetrics {
  double loss = 0, grad_norm = 0, clip_low_frac = 0, clip_high_frac = 0, kl = 0, entropy = 0, seconds = 0;
  int64_t trained_tokens = 0, forwarded_tokens = 0;
};

struct TrainOptions {
  int token_budget = 0;     // distinct tokens of a micro-batch; 0: as many as the default tape holds
  bool checkpoint = false;  // keep the inputs of layers only and compute a layer again in backward
  bool share = true;        // compute common prefixes once
};

/** Tokens of a micro-batch when none are asked for. */
int default_token_budget(const ModelConfig& config, int rank, bool checkpoint);

/** Bytes a trainer holds beside the model and the adapter, by what they are for. */
struct TrainMemory {
  size_t gradients = 0, optimizer = 0, tape = 0, stream = 0, scratch = 0, head = 0;
  size_t total() const { return gradients + optimizer + tape + stream + scratch + head; }
};

class Trainer {
 public:
  /** `adapter` null trains every weight of the model, which must be dense. Throws BAD_ARGUMENT. */
  Trainer(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, const OptimizerConfig& config, const TrainOptions& options = {});

  /**
   * Throws NOT_FINITE, naming the step and the first tensor, when the loss or a gradient is not a number. However it ends
   * early, by `pause` too, weights, moments and step count are as before.
   */
  StepMetrics step(const std::vector<TrainRow>& rows, const LossConfig& loss, double lr, const Pause& pause = {});
  /** Loss and gradients without an update; `gradients()` holds them until the next call. */
  StepMetrics backward(const std::vector<TrainRow>& rows, const LossConfig& loss, const Pause& pause = {});

  const float* gradients() const { return gradients_.data(); }
  ParamSet& params() { return adapter_ != nullptr ? adapter_->params() : model_->weights; }
  int64_t steps() const { return optimizer_.steps; }
  TrainMemory memory() const;
  void save_state(const std::string& file);
  /** Throws IO for an unreadable or damaged file, BAD_ARGUMENT when it belongs to other tensors. */
  void load_state(const std::string& file);

 private:
  void run(const std::vector<TrainRow>& rows, const MicroBatch& batch, const BatchLoss& loss, LossSums& sums, const Pause& pause);
  void forward(const Pause& pause);
  void layers_backward(const Pause& pause);
  float* input(int layer);
  LayerTape& tape(int layer) { return tapes_[options_.checkpoint ? 0 : static_cast<size_t>(layer)]; }
  double gradient_norm();
  [[noreturn]] void not_finite(const std::string& tensor) const;
  void weights_changed();

  std::shared_ptr<Model> model_;
  std::shared_ptr<Adapter> adapter_;
  TrainOptions options_;
  Optimizer optimizer_;
  TrainContext context_;
  HeadLoss head_;
  Forest forest_;
  AlignedBuffer gradients_, stream_, d_stream_;
  std::vector<AlignedBuffer> inputs_;  // one a layer
  std::vector<LayerTape> tapes_;       // one a layer, or one for all with checkpoints
};

}  // namespace tackroom
