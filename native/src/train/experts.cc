/**
 * Mixture of experts in training: y_t = sum over the chosen experts of p_e * down_e(silu(gate_e h) * up_e h).
 *
 * Tokens are gathered by expert, as in inference, and added in the order of a token's choices. With out_e = W m and d = p dy the
 * gradient of p is dy . out_e = (W^T d . m) / p, so the outputs need not be kept. The router's gradient goes through p into h,
 * and into its weight where every weight is trained; the choice itself and its bias have none.
 */
#include <cstring>

#include "../blocks/routing.h"
#include "train_layer.h"

namespace tackroom {
namespace {

void gather(TrainContext& context, const float* x, const int* rows, int count, float* out) {
  const int64_t hidden = context.config().hidden;
  for (int64_t i = 0; i < count; i++) std::memcpy(out + i * hidden, x + rows[i] * hidden, static_cast<size_t>(hidden) * sizeof(float));
}

/** y (+)= the choices' vectors [rows, used, H], in order. */
void add_choices(TrainContext& context, const float* choices, float* y, bool accumulate) {
  const int64_t hidden = context.config().hidden, used = context.config().experts_used;
  parallel_rows(context.model.pool, context.rows, static_cast<double>(context.rows) * static_cast<double>(hidden * used) * 0.2, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) {
      if (!accumulate) std::memset(y + r * hidden, 0, static_cast<size_t>(hidden) * sizeof(float));
      for (int64_t k = 0; k < used; k++) context.model.kernels.add(y + r * hidden, choices + (r * used + k) * hidden, context.config().hidden);
    }
  });
}

/** Gradient of the router's logits from that of the choices' weights dp [rows, used], into dh and the router's weight. */
void router_backward(TrainContext& context, const ExpertsWeights& w, const ExpertsTape& tape, const float* dp, const float* h, float* dh) {
  const ModelConfig& c = context.config();
  const int used = c.experts_used, experts = c.experts;
  float* logits = sized(context.scratch.e, context.rows, experts);
  context.scratch.e.zero();
  for (int64_t r = 0; r < context.rows; r++) {
    const float* s = tape.scores.data() + r * experts;
    const int* chosen = tape.chosen.data() + r * used;
    double sum = 1e-6, inner = 0;
    for (int k = 0; k < used; k++) sum += s[chosen[k]], inner += static_cast<double>(dp[r * used + k]) * s[chosen[k]];
    for (int k = 0; k < used; k++) {
      const double ds = c.routing_scale * (c.normalise_routing ? dp[r * used + k] / sum - inner / (sum * sum) : dp[r * used + k]);
      logits[r * experts + chosen[k]] = static_cast<float>(ds * s[chosen[k]] * (1 - static_cast<double>(s[chosen[k]])));
    }
  }
  const int width = context.model.kernels.panel_width;
  if (dh != nullptr) gemm_parallel(context.model.pool, context.model.kernels, {context.rows, c.hidden, experts, logits, experts, 1, context.model.at(w.router), c.hidden, width, dh, c.hidden, true});
  if (float* gradient = context.linear.of_model(w.router))
    gemm_parallel(context.model.pool, context.model.kernels, {experts, c.hidden, context.rows, logits, 1, experts, h, c.hidden, width, gradient, c.hidden, true});
}

}  // namespace

void experts_forward(TrainContext& context, int l, ExpertsTape& tape, const float* h, float* y, bool accumulate) {
  const ModelConfig& c = context.config();
  const ExpertsWeights& w = context.model.layers[static_cast<size_t>(l)].experts;
  const int used = c.experts_used, hidden = c.hidden, ffn = c.expert_ffn, experts = c.experts;
  tape.chosen.resize(static_cast<size_t>(context.rows) * static_cast<size_t>(used));
  const auto plan = route(context.model, w, h, context.rows, sized(tape.scores, context.rows, experts), tape.chosen.data());
  tape.row.clear(), tape.slot.clear(), tape.weight.clear();
  tape.first.assign(1, 0);
  for (auto* buffers : {&tape.both, &tape.low_gate_up, &tape.low_down}) buffers->resize(static_cast<size_t>(experts));
  float* outputs = sized(context.scratch.d, static_cast<int64_t>(context.rows) * used, hidden);
  for (int e = 0; e < experts; e++) {
    const size_t n = static_cast<size_t>(e);
    const ExpertRows& expert = plan[n];
    const int count = static_cast<int>(expert.rows.size());
    tape.row.insert(tape.row.end(), expert.rows.begin(), expert.rows.end());
    tape.slot.insert(tape.slot.end(), expert.slots.begin(), expert.slots.end());
    tape.weight.insert(tape.weight.end(), expert.weights.begin(), expert.weights.end());
    tape.first.push_back(static_cast<int>(tape.row.size()));
    float* both = sized(tape.both[n], count, 2 * ffn);
    if (count == 0) continue;
    float* input = sized(context.scratch.a, count, hidden);
    gather(context, h, expert.rows.data(), count, input);
    context.linear.forward(input, count, {{&w.gate_up[n], both, 2 * ffn, &tape.low_gate_up[n]}});
    float* mid = sized(context.scratch.b, count, ffn);
    activate(context.model, context.model.pool, both, both + ffn, 2 * ffn, mid, count, ffn);
    float* out = sized(context.scratch.c, count, hidden);
    context.linear.forward(mid, count, {{&w.down[n], out, hidden, &tape.low_down[n]}});
    for (int i = 0; i < count; i++) {
      float* target = outputs + (static_cast<int64_t>(expert.rows[static_cast<size_t>(i)]) * used + expert.slots[static_cast<size_t>(i)]) * hidden;
      std::memcpy(target, out + static_cast<int64_t>(i) * hidden, static_cast<size_t>(hidden) * sizeof(float));
      context.model.kernels.scale(target, expert.weights[static_cast<size_t>(i)], hidden);
    }
  }
  add_choices(context, outputs, y, accumulate);
}

void experts_backward(TrainContext& context, int l, ExpertsTape& tape, const float* dy, const float* h, float* dh) {
  const ModelConfig& c = context.config();
  const ExpertsWeights& w = context.model.layers[static_cast<size_t>(l)].experts;
  const int used = c.experts_used, hidden = c.hidden, ffn = c.expert_ffn;
  TrainScratch& s = context.scratch;
  std::vector<float> dp(static_cast<size_t>(context.rows) * static_cast<size_t>(used));
  float* d_choices = dh == nullptr ? nullptr : sized(s.d, static_cast<int64_t>(context.rows) * used, hidden);
  for (size_t e = 0; e < w.down.size(); e++) {
    const int first = tape.first[e], count = tape.first[e + 1] - first;
    if (count == 0) continue;
    const int* rows = tape.row.data() + first;
    const int* slots = tape.slot.data() + first;
    const float* weights = tape.weight.data() + first;
    const float* both = tape.both[e].data();
    float* mid = sized(s.f, count, ffn);
    activate(context.model, context.model.pool, both, both + ffn, 2 * ffn, mid, count, ffn);
    float* d_out = sized(s.a, count, hidden);
    gather(context, dy, rows, count, d_out);
    for (int64_t i = 0; i < count; i++) context.model.kernels.scale(d_out + i * hidden, weights[i], hidden);
    float* d_mid = sized(s.b, count, ffn);
    context.linear.backward(mid, count, {{&w.down[e], d_out, hidden, &tape.low_down[e]}}, d_mid);
    for (int64_t i = 0; i < count; i++)
      dp[static_cast<size_t>(rows[i] * used + slots[i])] = weights[i] == 0 ? 0 : context.model.kernels.dot(d_mid + i * ffn, mid + i * ffn, ffn) / weights[i];
    float* d = sized(s.g, count, 2 * ffn);
    activate_backward(context.model, context.model.pool, d_mid, both, both + ffn, 2 * ffn, d, d + ffn, 2 * ffn, count, ffn);
    gather(context, h, rows, count, d_out);
    float* d_input = dh == nullptr ? nullptr : sized(s.c, count, hidden);
    context.linear.backward(d_out, count, {{&w.gate_up[e], d, 2 * ffn, &tape.low_gate_up[e]}}, d_input);
    for (int64_t i = 0; d_input != nullptr && i < count; i++)
      std::memcpy(d_choices + (static_cast<int64_t>(rows[i]) * used + slots[i]) * hidden, d_input + i * hidden, static_cast<size_t>(hidden) * sizeof(float));
  }
  if (dh != nullptr) add_choices(context, d_choices, dh, false);
  router_backward(context, w, tape, dp.data(), h, dh);
}

}  // namespace tackroom
