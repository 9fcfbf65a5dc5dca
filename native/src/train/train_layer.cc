#include "train_layer.h"

#include <algorithm>
#include <cstring>

namespace tackroom {
namespace {

size_t sum_of(std::initializer_list<const AlignedBuffer*> buffers) {
  size_t floats = 0;
  for (const AlignedBuffer* buffer : buffers) floats += buffer->capacity();
  return floats * sizeof(float);
}

/** One half of a layer: out = x + post_norm(block(norm(x))). */
struct Half {
  const float* x;
  size_t norm, post_norm;
  AlignedBuffer &rstd, &branch, &post_rstd;
};

template <class Block>
void half_forward(TrainContext& context, const Half& half, float* out, Block&& block) {
  const int64_t hidden = context.config().hidden, floats = context.rows * hidden;
  float* h = sized(context.scratch.normed, context.rows, hidden);
  norm_forward(context.model, half.x, half.norm, h, sized(half.rstd, context.rows, 1), context.rows, context.config().hidden);
  copy_parallel(context.model, out, half.x, floats);
  if (half.post_norm == kAbsent) return block(h, out, true);
  float* branch = sized(half.branch, context.rows, hidden);
  block(h, branch, false);
  norm_forward(context.model, branch, half.post_norm, h, sized(half.post_rstd, context.rows, 1), context.rows, context.config().hidden);
  add_parallel(context.model, out, h, floats);
}

template <class Block>
void half_backward(TrainContext& context, const Half& half, float* dx, bool input_needed, Block&& block) {
  const int hidden = context.config().hidden;
  const auto weight_gradient = [&](size_t weight) { return context.linear.of_model(weight); };
  const float* dy = dx;
  if (half.post_norm != kAbsent) {
    float* d_branch = sized(context.scratch.d_branch, context.rows, hidden);
    context.scratch.d_branch.zero();
    norm_backward(context.model, dx, half.branch.data(), half.post_norm, half.post_rstd.data(), d_branch, weight_gradient(half.post_norm), context.rows, hidden,
                  context.scratch.partial);
    dy = d_branch;
  }
  float* h = sized(context.scratch.normed, context.rows, hidden);
  norm_forward(context.model, half.x, half.norm, h, half.rstd.data(), context.rows, hidden);
  float* dh = input_needed ? sized(context.scratch.d_normed, context.rows, hidden) : nullptr;
  block(dy, h, dh);
  if (!input_needed) return;
  norm_backward(context.model, dh, half.x, half.norm, half.rstd.data(), dx, weight_gradient(half.norm), context.rows, hidden, context.scratch.partial);
}

Half mixer_half(const Layer& layer, LayerTape& t, const float* input) { return {input, layer.mixer_norm, layer.mixer_post_norm, t.mixer_rstd, t.mixer_branch, t.mixer_post_rstd}; }
Half ffn_half(const Layer& layer, LayerTape& t) { return {t.mid.data(), layer.ffn_norm, layer.ffn_post_norm, t.ffn_rstd, t.ffn_branch, t.ffn_post_rstd}; }

int64_t stream_floats(const ModelConfig& c) {
  const BlockNames& names = c.architecture->names;
  const int64_t branch = c.hidden + 1;
  return c.hidden + 2 + (names.mixer_post_norm != nullptr ? branch : 0) + (names.ffn_post_norm != nullptr ? branch : 0);
}

int64_t mixer_floats(const ModelConfig& c, Mixer mixer, int64_t rank) {
  const int64_t q = c.q_width(), kv = c.kv_width();
  if (mixer == Mixer::ShortConv) return 3 * int64_t{c.hidden} + 2 * rank;
  return 2 * q + 2 * kv + c.heads + 4 * rank + (c.architecture->qk_norm ? q + kv + c.heads + c.kv_heads : 0);
}

int64_t ffn_floats(const ModelConfig& c, Ffn ffn, int64_t rank, int64_t expert_rank) {
  if (ffn == Ffn::Dense) return 2 * int64_t{c.ffn} + 3 * rank;
  return c.experts + c.experts_used * (2 * int64_t{c.expert_ffn} + 2 * expert_rank);
}

}  // namespace

void layer_forward(TrainContext& context, int l, LayerTape& t, const float* input, float* out) {
  const Layer& layer = context.model.layers[static_cast<size_t>(l)];
  half_forward(context, mixer_half(layer, t, input), sized(t.mid, context.rows, context.config().hidden), [&](const float* h, float* y, bool accumulate) {
    if (layer.kind.mixer == Mixer::Attention) attention_forward(context, l, t.attention, h, y, accumulate);
    else short_conv_forward(context, l, t.conv, h, y, accumulate);
  });
  half_forward(context, ffn_half(layer, t), out, [&](const float* h, float* y, bool accumulate) {
    if (layer.kind.ffn == Ffn::Dense) dense_mlp_forward(context, l, t.mlp, h, y, accumulate);
    else experts_forward(context, l, t.experts, h, y, accumulate);
  });
}

void layer_backward(TrainContext& context, int l, LayerTape& t, const float* input, float* dx, bool input_needed) {
  const Layer& layer = context.model.layers[static_cast<size_t>(l)];
  half_backward(context, ffn_half(layer, t), dx, true, [&](const float* dy, const float* h, float* dh) {
    if (layer.kind.ffn == Ffn::Dense) dense_mlp_backward(context, l, t.mlp, dy, h, dh);
    else experts_backward(context, l, t.experts, dy, h, dh);
  });
  half_backward(context, mixer_half(layer, t, input), dx, input_needed, [&](const float* dy, const float* h, float* dh) {
    if (layer.kind.mixer == Mixer::Attention) attention_backward(context, l, t.attention, dy, h, dh);
    else short_conv_backward(context, l, t.conv, dy, h, dh);
  });
}

void activate(const Model& model, ThreadPool& pool, const float* gate, const float* up, int64_t stride, float* out, int rows, int width) {
  const auto product = model.config.architecture->activation == Activation::Silu ? model.kernels.swiglu : model.kernels.geglu;
  parallel_rows(pool, rows, static_cast<double>(rows) * width * 0.5, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) product(gate + r * stride, up + r * stride, out + r * width, width);
  });
}

void activate_backward(const Model& model, ThreadPool& pool, const float* dout, const float* gate, const float* up, int64_t stride, float* dgate, float* dup,
                       int64_t d_stride, int rows, int width) {
  const auto derivative = model.config.architecture->activation == Activation::Silu ? model.kernels.swiglu_backward : model.kernels.geglu_backward;
  parallel_rows(pool, rows, static_cast<double>(rows) * width, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) derivative(dout + r * width, gate + r * stride, up + r * stride, dgate + r * d_stride, dup + r * d_stride, width);
  });
}

size_t LayerTape::bytes() const {
  size_t total = sum_of({&mid, &mixer_rstd, &ffn_rstd, &mixer_branch, &ffn_branch, &mixer_post_rstd, &ffn_post_rstd, &attention.q_raw, &attention.k_raw,
                         &attention.q_rstd, &attention.k_rstd, &attention.q, &attention.k, &attention.v, &attention.attended, &attention.lse, &conv.bcx, &mlp.gate,
                         &mlp.up, &experts.scores});
  for (const AlignedBuffer& low : attention.low) total += sum_of({&low});
  for (const AlignedBuffer& low : conv.low) total += sum_of({&low});
  for (const AlignedBuffer& low : mlp.low) total += sum_of({&low});
  for (const auto* buffers : {&experts.both, &experts.low_gate_up, &experts.low_down})
    for (const AlignedBuffer& buffer : *buffers) total += sum_of({&buffer});
  return total;
}

int64_t tape_floats(const ModelConfig& c, const LayerKind& kind, int rank, int expert_rank) {
  return stream_floats(c) + mixer_floats(c, kind.mixer, rank) + ffn_floats(c, kind.ffn, rank, expert_rank);
}

int64_t common_tape_floats(const ModelConfig& c, int rank, int expert_rank) {
  int64_t floats = stream_floats(c);
  const auto any = [&](auto member, auto value) { return std::any_of(c.kinds.begin(), c.kinds.end(), [&](const LayerKind& kind) { return kind.*member == value; }); };
  for (const Mixer mixer : {Mixer::Attention, Mixer::ShortConv})
    if (any(&LayerKind::mixer, mixer)) floats += mixer_floats(c, mixer, rank);
  for (const Ffn ffn : {Ffn::Dense, Ffn::Experts})
    if (any(&LayerKind::ffn, ffn)) floats += ffn_floats(c, ffn, rank, expert_rank);
  return floats;
}

size_t TrainScratch::bytes() const { return sum_of({&normed, &d_normed, &d_branch, &partial, &a, &b, &c, &d, &e, &f, &g}); }

}  // namespace tackroom
