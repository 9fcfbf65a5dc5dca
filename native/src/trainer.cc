#include "trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>

#include "error.h"
#include "head_loss.h"

namespace tackroom {
namespace {

constexpr int kMicroBatchTokens = 2048;
constexpr double kTapeBytes = 1.5e9;  // of one thread

/** Tokens per micro-batch: enough for long products, few enough that the tape of a large model fits in memory. */
int token_budget(const ModelConfig& c) {
  const double floats_per_token = static_cast<double>(c.layers) * (5.0 * c.hidden + 2.0 * c.q_width() + 2.0 * c.kv_width() + 3.0 * c.ffn);
  return static_cast<int>(std::clamp(kTapeBytes / (4 * floats_per_token), 256.0, static_cast<double>(kMicroBatchTokens)));
}

}  // namespace

Trainer::Trainer(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, const OptimizerConfig& config)
    : model_(std::move(model)), adapter_(std::move(adapter)), optimizer_(config, params()), spaces_(static_cast<size_t>(model_->pool.size())) {}

StepMetrics Trainer::step(const std::vector<TrainRow>& rows, const LossConfig& loss, double lr) {
  if (!(lr >= 0) || !std::isfinite(lr)) fail("BAD_ARGUMENT", "The learning rate must be a number of at least 0.");
  const auto start = std::chrono::steady_clock::now();
  StepMetrics metrics = backward(rows, loss);
  if (!std::isfinite(metrics.grad_norm)) fail("BAD_ARGUMENT", "The gradient is not finite; the weights were left as they were.");
  {
    std::unique_lock<std::mutex> lock;
    if (adapter_ != nullptr) lock = std::unique_lock(adapter_->mutex());
    optimizer_.update(model_->kernels, model_->pool, params(), gradients(), metrics.grad_norm, lr);
  }
  weights_changed();
  metrics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return metrics;
}

void Trainer::weights_changed() {
  if (adapter_ != nullptr) adapter_->touch();
  else model_->repack();
}

StepMetrics Trainer::backward(const std::vector<TrainRow>& rows, const LossConfig& config) {
  const auto start = std::chrono::steady_clock::now();
  const BatchLoss loss(config, rows, model_->config.vocab);
  size_t longest = 0;
  for (const TrainRow& row : rows) longest = std::max(longest, row.ids.size());
  if (longest > static_cast<size_t>(model_->config.context))
    fail("CONTEXT_FULL", "A sample has %zu tokens, the model's context holds %d.", longest, model_->config.context);
  model_->reserve_rope(static_cast<int>(longest));
  if (adapter_ != nullptr) adapter_->refresh(model_->kernels);

  const int threads = static_cast<int>(spaces_.size());
  const auto plan = plan_micro_batches(rows, threads, token_budget(model_->config));
  std::vector<LossSums> sums(spaces_.size());
  std::vector<std::exception_ptr> errors(spaces_.size());
  model_->pool.run(threads, [&](int t) {
    const size_t i = static_cast<size_t>(t);
    try {
      spaces_[i].gradients.reserve(params().floats());
      spaces_[i].gradients.zero();
      for (const auto& batch : plan[i]) run_rows(batch, loss, spaces_[i], sums[i]);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  reduce();

  LossSums total;
  for (const LossSums& part : sums) total.add(part);
  double squares = 0;
  for (const Param& param : params().params())
    for (size_t i = 0; i < param.size; i++) {
      const double g = gradients()[param.offset + i];
      squares += g * g;
    }
  const double n = static_cast<double>(std::max<int64_t>(1, total.tokens));
  return {total.loss, std::sqrt(squares), static_cast<double>(total.clipped_low) / n, static_cast<double>(total.clipped_high) / n, total.kl / n,
          total.entropy / n, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), total.tokens, total.forwarded};
}

void Trainer::run_rows(const std::vector<const TrainRow*>& rows, const BatchLoss& loss, TrainSpace& space, LossSums& sums) {
  const ModelConfig& c = model_->config;
  const size_t hidden = static_cast<size_t>(c.hidden);
  std::vector<Segment> segments;
  int count = 0;
  for (const TrainRow* row : rows) {
    segments.push_back({count, static_cast<int>(row->ids.size())});
    count += static_cast<int>(row->ids.size());
  }
  sums.forwarded += count;
  const size_t stream_floats = static_cast<size_t>(count) * hidden;
  const TrainTarget target{adapter_.get(), space.gradients.data()};
  TrainBlock block(*model_, target, segments, count, space.scratch);
  space.tapes.resize(model_->layers.size());

  float* x = space.tapes[0].input.reserve(stream_floats);
  for (const TrainRow* row : rows)
    for (const int id : row->ids) {
      std::memcpy(x, model_->at(model_->embedding) + static_cast<size_t>(id) * hidden, hidden * sizeof(float));
      x += hidden;
    }
  for (int l = 0; l < c.layers; l++) {
    AlignedBuffer& output = l + 1 < c.layers ? space.tapes[static_cast<size_t>(l) + 1].input : space.stream;
    block.forward(l, space.tapes[static_cast<size_t>(l)], output.reserve(stream_floats));
  }

  float* dx = space.d_stream.reserve(stream_floats);
  space.d_stream.zero();
  HeadLoss(*model_, target, loss).run(rows, segments, space.stream.data(), dx, sums);
  for (int l = c.layers - 1; l >= 0; l--) block.backward(l, space.tapes[static_cast<size_t>(l)], dx, l == 0);
  if (adapter_ != nullptr) return;
  for (const TrainRow* row : rows)
    for (const int id : row->ids) {
      model_->kernels.add(space.gradients.data() + model_->embedding + static_cast<size_t>(id) * hidden, dx, c.hidden);
      dx += hidden;
    }
}

void Trainer::reduce() {
  constexpr size_t kPiece = 1 << 15;
  const size_t floats = params().floats();
  model_->pool.run(static_cast<int>((floats + kPiece - 1) / kPiece), [&](int piece) {
    const size_t begin = static_cast<size_t>(piece) * kPiece, count = std::min(kPiece, floats - begin);
    for (size_t t = 1; t < spaces_.size(); t++)
      model_->kernels.add(spaces_[0].gradients.data() + begin, spaces_[t].gradients.data() + begin, static_cast<int64_t>(count));
  });
}

std::vector<MicroBatches> plan_micro_batches(const std::vector<TrainRow>& rows, int threads, int budget) {
  std::vector<const TrainRow*> sorted;
  for (const TrainRow& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const TrainRow* a, const TrainRow* b) { return a->ids.size() > b->ids.size(); });
  std::vector<MicroBatches> plan(static_cast<size_t>(threads));
  std::vector<double> load(plan.size(), 0);
  std::vector<int> filled(plan.size(), budget);  // tokens in the last micro-batch of each thread
  for (const TrainRow* row : sorted) {
    const size_t t = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    const double length = static_cast<double>(row->ids.size());
    load[t] += length + length * length / 8192;  // attention grows with the square
    if (filled[t] + static_cast<int>(row->ids.size()) > budget) {
      plan[t].emplace_back();
      filled[t] = 0;
    }
    plan[t].back().push_back(row);
    filled[t] += static_cast<int>(row->ids.size());
  }
  return plan;
}

}  // namespace tackroom
