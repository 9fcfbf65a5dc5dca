#include "trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "../error.h"

namespace tackroom {
namespace {

constexpr int kMicroBatchTokens = 2048;
constexpr double kTapeBytes = 3e9;

double seconds_since(std::chrono::steady_clock::time_point start) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

Precision precision_of(const Model& model, const Adapter* adapter) { return adapter == nullptr ? Precision::Fp32 : model.training; }

}  // namespace

/** Enough tokens for long products, few enough that the tape of a large model fits in memory. */
int default_token_budget(const ModelConfig& c, int rank, bool checkpoint) {
  double floats = static_cast<double>(c.layers) * c.hidden;
  if (checkpoint) floats += static_cast<double>(common_tape_floats(c, rank, rank));
  else
    for (const LayerKind& kind : c.kinds) floats += static_cast<double>(tape_floats(c, kind, rank, rank));
  return static_cast<int>(std::clamp(kTapeBytes / (sizeof(float) * floats), 256.0, static_cast<double>(kMicroBatchTokens)));
}

Trainer::Trainer(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, const OptimizerConfig& config, const TrainOptions& options)
    : model_(std::move(model)),
      adapter_(std::move(adapter)),
      options_(options),
      optimizer_(config, params()),
      context_(*model_, adapter_.get(), precision_of(*model_, adapter_.get())),
      head_(context_),
      inputs_(model_->layers.size()),
      tapes_(options.checkpoint ? 1 : model_->layers.size()) {
  if (adapter_ == nullptr && !model_->dense()) fail("BAD_ARGUMENT", "Training every weight needs a model that was loaded for it.");
  if (options_.token_budget < 0) fail("BAD_ARGUMENT", "The token budget must be at least 0.");
  if (options_.token_budget == 0) options_.token_budget = default_token_budget(model_->config, context_.linear.rank(), options_.checkpoint);
}

StepMetrics Trainer::step(const std::vector<TrainRow>& rows, const LossConfig& loss, double lr, const Pause& pause) {
  if (!(lr >= 0) || !std::isfinite(lr)) fail("BAD_ARGUMENT", "The learning rate must be a number of at least 0.");
  const auto start = std::chrono::steady_clock::now();
  StepMetrics metrics = backward(rows, loss, pause);
  if (!std::isfinite(metrics.grad_norm)) {
    for (const Param& param : params().params())
      for (size_t i = 0; i < param.size; i++)
        if (!std::isfinite(gradients_.data()[param.offset + i])) not_finite("the gradient of " + param.name);
    not_finite("the norm of the gradient");
  }
  if (pause) pause();
  {
    std::unique_lock<std::mutex> lock;
    if (adapter_ != nullptr) lock = std::unique_lock(adapter_->mutex());
    optimizer_.update(model_->kernels, model_->pool, params(), gradients(), metrics.grad_norm, lr);
  }
  weights_changed();
  metrics.seconds = seconds_since(start);
  return metrics;
}

void Trainer::not_finite(const std::string& tensor) const {
  fail("NOT_FINITE", "Step %lld stopped before its update: %s is not finite.", static_cast<long long>(optimizer_.steps + 1), tensor.c_str());
}

void Trainer::weights_changed() {
  if (adapter_ != nullptr) adapter_->touch();
  else model_->repack();
}

StepMetrics Trainer::backward(const std::vector<TrainRow>& rows, const LossConfig& config, const Pause& pause) {
  const auto start = std::chrono::steady_clock::now();
  const BatchLoss loss(config, rows, model_->config.vocab);
  size_t longest = 0;
  for (const TrainRow& row : rows) longest = std::max(longest, row.ids.size());
  if (longest > static_cast<size_t>(model_->config.context))
    fail("CONTEXT_FULL", "A sample has %zu tokens, the model's context holds %d.", longest, model_->config.context);
  gradients_.reserve(params().floats());
  gradients_.zero();
  context_.linear.begin(gradients_.data());
  LossSums sums;
  for (const MicroBatch& batch : plan_micro_batches(rows, options_.token_budget, options_.share)) run(rows, batch, loss, sums, pause);
  if (!std::isfinite(sums.loss)) not_finite("the loss");
  const double n = static_cast<double>(std::max<int64_t>(1, sums.tokens));
  return {sums.loss, gradient_norm(), static_cast<double>(sums.clipped_low) / n, static_cast<double>(sums.clipped_high) / n, sums.kl / n,
          sums.entropy / n, seconds_since(start), sums.tokens, sums.forwarded};
}

double Trainer::gradient_norm() {
  constexpr size_t kPiece = 1 << 15;
  const size_t floats = params().floats();
  std::vector<double> squares((floats + kPiece - 1) / kPiece);
  model_->pool.run(static_cast<int>(squares.size()), [&](int piece) {
    const size_t begin = static_cast<size_t>(piece) * kPiece, end = std::min(floats, begin + kPiece);
    double sums[4] = {};
    for (size_t i = begin; i < end; i++) {
      const double g = gradients_.data()[i];
      sums[i % 4] += g * g;
    }
    squares[static_cast<size_t>(piece)] = sums[0] + sums[1] + sums[2] + sums[3];
  });
  double total = 0;
  for (const double square : squares) total += square;
  return std::sqrt(total);
}

/** The stream before a layer, [rows, H]. */
float* Trainer::input(int layer) { return sized(inputs_[static_cast<size_t>(layer)], context_.rows, model_->config.hidden); }

void Trainer::run(const std::vector<TrainRow>& rows, const MicroBatch& batch, const BatchLoss& loss, LossSums& sums, const Pause& pause) {
  const int64_t hidden = model_->config.hidden;
  forest_ = build_forest(rows, batch, loss.config().kind, options_.share);
  context_.forest = &forest_;
  context_.rows = forest_.rows();
  sums.forwarded += forest_.rows();
  forward(pause);

  float* dx = sized(d_stream_, context_.rows, hidden);
  d_stream_.zero();
  head_.run(loss, stream_.data(), dx, sums, pause);
  layers_backward(pause);
  if (adapter_ != nullptr) return;
  const float scale = model_->config.embedding_scale;
  float* gradient = gradients_.data() + model_->embedding;
  parallel_columns(model_->pool, model_->config.hidden, static_cast<double>(context_.rows) * static_cast<double>(hidden), [&](int begin, int end) {
    for (int r = 0; r < context_.rows; r++)
      model_->kernels.add_scaled(gradient + forest_.ids[static_cast<size_t>(r)] * hidden + begin, dx + r * hidden + begin, scale, end - begin);
  });
}

void Trainer::forward(const Pause& pause) {
  const int64_t hidden = model_->config.hidden;
  const int layers = model_->config.layers;
  model_->reserve_rope(forest_.longest);
  if (adapter_ != nullptr) adapter_->refresh(*model_, model_->training);
  float* x = input(0);
  parallel_rows(model_->pool, context_.rows, static_cast<double>(context_.rows) * static_cast<double>(hidden), [&](int begin, int end) {
    for (int r = begin; r < end; r++) model_->embed(forest_.ids[static_cast<size_t>(r)], x + r * hidden);
  });
  for (int l = 0; l < layers; l++) {
    if (pause) pause();
    float* out = l + 1 < layers ? input(l + 1) : sized(stream_, context_.rows, hidden);
    layer_forward(context_, l, tape(l), input(l), out);
  }
  if (pause) pause();
}

void Trainer::layers_backward(const Pause& pause) {
  for (int l = model_->config.layers - 1; l >= 0; l--) {
    // The stream after the layer is not needed again, so computing the layer once more may write there.
    if (options_.checkpoint) layer_forward(context_, l, tape(l), input(l), stream_.data());
    layer_backward(context_, l, tape(l), input(l), d_stream_.data(), l > 0 || adapter_ == nullptr);
    if (pause) pause();
  }
}

TrainMemory Trainer::memory() const {
  TrainMemory memory;
  memory.gradients = gradients_.capacity() * sizeof(float);
  memory.optimizer = (optimizer_.first.capacity() + optimizer_.second.capacity()) * sizeof(float);
  for (const LayerTape& tape : tapes_) memory.tape += tape.bytes();
  for (const AlignedBuffer& input : inputs_) memory.stream += input.capacity() * sizeof(float);
  memory.stream += (stream_.capacity() + d_stream_.capacity()) * sizeof(float);
  memory.scratch = context_.scratch.bytes() + context_.linear.bytes();
  memory.head = head_.bytes();
  return memory;
}

}  // namespace tackroom
