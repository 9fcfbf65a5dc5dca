#include "plan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace tackroom {
namespace {

constexpr double kBytes = sizeof(float);

/** Multiply-adds of a token and sizes of a layer of one kind. */
struct LayerShape {
  double base = 0;       // weights a token meets
  double adapted = 0;    // r * (in + out) of its adapted layers
  double adapter = 0;    // floats of the layer's adapter
  std::vector<std::array<int, 2>> linears;  // out, in; experts once
};

LayerShape shape_of(const ModelConfig& c, const LayerKind& kind, int rank, ExpertAdapters experts) {
  LayerShape shape;
  const auto add = [&](int out, int in, double times, bool adapted, double pairs) {
    shape.base += times * out * in;
    if (adapted) shape.adapted += times * rank * (static_cast<double>(in) + out), shape.adapter += pairs * rank * (static_cast<double>(in) + out);
    shape.linears.push_back({out, in});
  };
  if (kind.mixer == Mixer::Attention) {
    add(c.q_width(), c.hidden, 1, true, 1), add(c.kv_width(), c.hidden, 1, true, 1), add(c.kv_width(), c.hidden, 1, true, 1), add(c.hidden, c.q_width(), 1, true, 1);
  } else {
    add(3 * c.hidden, c.hidden, 1, true, 1), add(c.hidden, c.hidden, 1, true, 1);
  }
  if (kind.ffn == Ffn::Dense) {
    add(c.ffn, c.hidden, 1, true, 1), add(c.ffn, c.hidden, 1, true, 1), add(c.hidden, c.ffn, 1, true, 1);
  } else {
    const bool adapted = experts != ExpertAdapters::None;
    const double pairs = experts == ExpertAdapters::Each ? c.experts : 1;
    add(2 * c.expert_ffn, c.hidden, c.experts_used, adapted, pairs), add(c.hidden, c.expert_ffn, c.experts_used, adapted, pairs);
  }
  return shape;
}

/** Forward, and backward to the input; to the weights as well where they are trained. */
double layer_work(const LayerShape& shape, bool every_weight) { return shape.base * (every_weight ? 3 : 2) + 3 * shape.adapted; }

/** Two products forward and five backward over the visible half of length x length, for `tokens` tokens of rows that long. */
double attention_work(const ModelConfig& c, const LayerKind& kind, double tokens, double length) {
  if (kind.mixer != Mixer::Attention) return 0;
  const double seen = kind.window == 0 ? length / 2 : std::min<double>(kind.window, length / 2);
  return 7 * tokens * seen * c.q_width();
}

double head_work(const ModelConfig& c, double tokens, bool every_weight) { return tokens * c.vocab * c.hidden * (every_weight ? 3 : 2); }

size_t bytes_of(double floats) { return static_cast<size_t>(floats * kBytes); }

/** Buffers that layers use in turn; each is as large as the layer that asks most of it (see the blocks). */
double scratch_floats(const ModelConfig& c, double rows, bool every_weight) {
  double a = 0, b = 0, cc = 0, d = 0, e = 0, f = 0, g = 0;
  for (const LayerKind& kind : c.kinds) {
    const double hidden = c.hidden, q = c.q_width(), kv = c.kv_width();
    if (kind.mixer == Mixer::Attention) a = std::max({a, q, kv}), b = std::max(b, q), cc = std::max(cc, q), d = std::max(d, q), e = std::max(e, kv);
    else a = std::max(a, hidden), b = std::max(b, hidden), cc = std::max(cc, hidden), d = std::max(d, hidden), e = std::max(e, 3 * hidden);
    if (kind.ffn == Ffn::Dense) {
      a = std::max<double>(a, c.ffn), b = std::max<double>(b, c.ffn), cc = std::max<double>(cc, c.ffn);
    } else {
      // Rows of an expert: half as many again as an even spread.
      const double share = std::min(1.0, 1.5 * c.experts_used / c.experts);
      a = std::max(a, share * hidden), b = std::max(b, share * c.expert_ffn), cc = std::max(cc, share * hidden);
      d = std::max(d, c.experts_used * hidden), e = std::max<double>(e, c.experts), f = share * c.expert_ffn, g = 2 * share * c.expert_ffn;
    }
  }
  const bool post = c.architecture->names.mixer_post_norm != nullptr || c.architecture->names.ffn_post_norm != nullptr;
  const double partial = every_weight ? (rows / 128 + 1) * std::max(c.hidden, c.head_dim * c.heads) : 0;
  return rows * (a + b + cc + d + e + f + g + (post ? 3 : 2) * c.hidden) + partial;
}

/** Operands of the linear layers' backward pass. */
double operand_floats(const ModelConfig& c, Precision precision, bool packed, double rows, int rank, double head_rows) {
  double widest_out = 0, widest_in = 0, largest = 0, out_sum = 0, weights_sum = 0;
  for (const LayerKind& kind : c.kinds) {
    const LayerShape shape = shape_of(c, kind, 0, ExpertAdapters::None);
    for (const auto& [out, in] : shape.linears)
      widest_out = std::max<double>(widest_out, out), widest_in = std::max<double>(widest_in, in), largest = std::max(largest, static_cast<double>(out) * in);
    if (kind.ffn == Ffn::Dense) out_sum = std::max<double>(out_sum, c.ffn), weights_sum = std::max(weights_sum, static_cast<double>(c.ffn) * c.hidden);
    if (kind.mixer == Mixer::Attention) out_sum = std::max<double>(out_sum, c.kv_width());
  }
  const double low = 3 * rank * (rows + std::max(widest_out, widest_in));
  if (precision == Precision::Fp32) return low + (packed ? std::max(4.2e6, 0.0) : 0);
  // 16 bits each: rows and panels of dy for the first and second layer of a call, x, W^T, and the head's dlogits.
  const double dy_rows = std::max(rows * widest_out, head_rows * c.vocab) + rows * out_sum;
  return low + (dy_rows + rows * (widest_out + out_sum) + rows * widest_in + largest + weights_sum) / 2;
}

double path_floats(const ModelConfig& c, int longest, int threads) {
  return static_cast<double>(threads) * (6.0 * c.head_dim * (longest + 160) + static_cast<double>(attention_scratch_floats(c.head_dim)));
}

}  // namespace

TrainPlan plan_training(const ModelOutline& model, const PlanRequest& request, const Calibration& speeds) {
  const ModelConfig& c = model.config;
  const bool every_weight = request.rank == 0;
  if (!every_weight) check_adapter(c, request.rank, request.experts);
  else if (!model.dense) fail("BAD_ARGUMENT", "Training every weight needs a model that was loaded for it.");
  const Precision precision = every_weight ? Precision::Fp32 : model.training;
  const int expert_rank = request.experts == ExpertAdapters::None ? 0 : request.rank;
  TrainPlan plan;
  plan.weights = model.bytes;
  plan.token_budget = request.options.token_budget > 0 ? request.options.token_budget : default_token_budget(c, request.rank, request.options.checkpoint);
  const double budget = std::max(plan.token_budget, request.longest), rows = std::min(static_cast<double>(request.tokens), budget);
  plan.micro_batches = static_cast<int>(std::ceil(static_cast<double>(request.tokens) / budget));

  double tape = 0, adapter = 0, linear = 0, attention = 0;
  for (const LayerKind& kind : c.kinds) {
    const LayerShape shape = shape_of(c, kind, request.rank, request.experts);
    tape += static_cast<double>(tape_floats(c, kind, request.rank, expert_rank)) * rows;
    adapter += shape.adapter;
    linear += layer_work(shape, every_weight) + (request.options.checkpoint ? shape.base + shape.adapted : 0);
    attention += attention_work(c, kind, static_cast<double>(request.tokens), request.longest) * (request.options.checkpoint ? 9.0 / 7 : 1);
  }
  if (request.options.checkpoint) tape = static_cast<double>(common_tape_floats(c, request.rank, expert_rank)) * rows;
  const double trained = every_weight ? static_cast<double>(model.bytes) / (2 * kBytes) : adapter;
  // Its own tensors, and the panels that products read: fp32 as large again, 16 bits half.
  plan.adapter = bytes_of(adapter * (precision == Precision::Fp32 ? 2 : 1.5));
  plan.memory.gradients = bytes_of(trained);
  plan.memory.optimizer = bytes_of(2 * trained);
  plan.memory.tape = bytes_of(tape);
  plan.memory.stream = bytes_of(rows * c.hidden * (c.layers + 2.0));
  const double head_tokens = static_cast<double>(request.tokens) * request.trained_share;
  const double head_rows = std::min<double>(HeadLoss::chunk_rows(c), rows * request.trained_share);
  plan.memory.head = bytes_of(head_rows * (c.vocab + 4.0 * c.hidden) + (precision == Precision::Fp32 ? 0 : 0.5 * c.vocab * c.hidden));
  plan.memory.scratch = bytes_of(scratch_floats(c, rows, every_weight) + operand_floats(c, precision, !model.dense, rows, request.rank, head_rows) + path_floats(c, request.longest, model.threads));
  if (speeds.layers > 0 && speeds.head > 0) {
    plan.seconds = (linear * static_cast<double>(request.tokens) / speeds.layers + (speeds.attention > 0 ? attention / speeds.attention : 0) +
                    head_work(c, head_tokens, every_weight) / speeds.head) / 1e9;
    plan.tokens_per_second = static_cast<double>(request.tokens) / plan.seconds;
  }
  return plan;
}

namespace {

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/** The shortest of three runs after one that warms up. */
double best_of(const std::function<void()>& body) {
  body();
  return std::min({seconds_of(body), seconds_of(body), seconds_of(body)});
}

std::vector<TrainRow> rows_of(const ModelConfig& c, int count, int length) {
  std::vector<TrainRow> rows(static_cast<size_t>(count));
  for (int i = 0; i < count; i++) {
    for (int t = 0; t < length; t++) rows[static_cast<size_t>(i)].ids.push_back((t * 31 + i * 7 + 1) % c.vocab);
    rows[static_cast<size_t>(i)].weights.assign(static_cast<size_t>(length), 1);
  }
  return rows;
}

}  // namespace

Calibration calibrate(Model& model, int rank) {
  constexpr int kTokens = 512, kShort = 16;
  const ModelConfig& c = model.config;
  const int length = std::min(kTokens, c.context);
  const auto adapter = Adapter::create(model, std::max(1, std::min(rank, c.hidden)), 1, 1);
  TrainContext context(model, adapter.get(), model.training);
  AlignedBuffer gradients, input, output;
  gradients.reserve(adapter->params().floats());
  context.linear.begin(gradients.data());
  adapter->refresh(model, model.training);
  model.reserve_rope(length);
  const int count = length / kShort;
  const std::vector<TrainRow> brief = rows_of(c, count, kShort), whole = rows_of(c, 1, length);
  MicroBatch samples;
  for (int i = 0; i < count; i++) samples.push_back(i);
  const Forest brief_forest = build_forest(brief, samples, LossKind::Sft, false), long_forest = build_forest(whole, {0}, LossKind::Sft, false);

  double linear_work = 0, linear_seconds = 0, work = 0, seconds = 0;
  std::vector<std::pair<Mixer, Ffn>> seen;
  for (int l = 0; l < c.layers; l++) {
    const LayerKind& kind = c.kind(l);
    const std::pair key{kind.mixer, kind.ffn};
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    const double layers = static_cast<double>(std::count_if(c.kinds.begin(), c.kinds.end(), [&](const LayerKind& k) { return std::pair{k.mixer, k.ffn} == key; }));
    LayerTape tape;
    const auto run = [&](const Forest& forest) {
      context.forest = &forest;
      context.rows = forest.rows();
      float *x = sized(input, context.rows, c.hidden), *y = sized(output, context.rows, c.hidden);
      for (int r = 0; r < context.rows; r++) model.embed(forest.ids[static_cast<size_t>(r)], x + static_cast<int64_t>(r) * c.hidden);
      return best_of([&] {
        layer_forward(context, l, tape, x, y);
        layer_backward(context, l, tape, x, y, true);
      });
    };
    const double brief_seconds = run(brief_forest), long_seconds = run(long_forest);
    linear_work += layers * layer_work(shape_of(c, kind, adapter->rank(), ExpertAdapters::None), false) * count * kShort;
    linear_seconds += layers * brief_seconds;
    work += layers * attention_work(c, kind, length, length);
    if (kind.mixer == Mixer::Attention) seconds += layers * std::max(0.02 * long_seconds, long_seconds - brief_seconds);
  }
  HeadLoss head(context);
  const std::vector<TrainRow> rows = rows_of(c, 1, std::min(length, HeadLoss::chunk_rows(c) + 1));
  const Forest forest = build_forest(rows, {0}, LossKind::Sft, false);
  context.forest = &forest, context.rows = forest.rows();
  LossConfig config;
  config.kind = LossKind::Sft;
  const BatchLoss loss(config, rows, c.vocab);
  float *x = sized(input, context.rows, c.hidden), *dx = sized(output, context.rows, c.hidden);
  for (int r = 0; r < context.rows; r++) model.embed(forest.ids[static_cast<size_t>(r)], x + static_cast<int64_t>(r) * c.hidden);
  LossSums sums;
  const double head_seconds = best_of([&] { head.run(loss, x, dx, sums, {}); });
  Calibration result;
  result.layers = linear_work / linear_seconds / 1e9;
  result.attention = seconds > 0 ? work / seconds / 1e9 : 0;
  result.head = head_work(c, static_cast<double>(forest.terms.size()), false) / head_seconds / 1e9;
  return result;
}

}  // namespace tackroom
