#include "train_block.h"

#include <cstring>

#include "matmul.h"

namespace tackroom {
namespace {

float* sized(AlignedBuffer& buffer, int rows, int width) { return buffer.reserve(static_cast<size_t>(rows) * static_cast<size_t>(width)); }

}  // namespace

TrainBlock::TrainBlock(const Model& model, const TrainTarget& target, const std::vector<Segment>& segments, int rows, BlockScratch& scratch)
    : model_(model), config_(model.config), kernels_(model.kernels), target_(target), segments_(segments), rows_(rows), scratch_(scratch) {}

void TrainBlock::norm_forward(const float* x, size_t weight, float* y, float* rstd) {
  const int64_t hidden = config_.hidden;
  for (int r = 0; r < rows_; r++) rstd[r] = kernels_.rmsnorm(x + r * hidden, model_.at(weight), y + r * hidden, config_.hidden, config_.norm_eps);
}

void TrainBlock::norm_backward(const float* dy, const float* x, size_t weight, const float* rstd, float* dx) {
  const int64_t hidden = config_.hidden;
  float* dw = target_.of_model(weight);
  for (int r = 0; r < rows_; r++) kernels_.rmsnorm_backward(dy + r * hidden, x + r * hidden, model_.at(weight), rstd[r], dx + r * hidden, dw, config_.hidden);
}

void TrainBlock::forward(int layer, BlockTape& tape, float* output) {
  const ModelConfig& c = config_;
  const Layer& weights = model_.layers[static_cast<size_t>(layer)];
  const auto linear = [&](Site site, const float* x, float* y, bool accumulate) {
    float* u = target_.adapter == nullptr ? nullptr : sized(tape.low_rank[site], rows_, target_.adapter->rank());
    linear_forward(model_, target_, layer, site, x, y, u, rows_, accumulate);
  };
  const size_t stream_bytes = static_cast<size_t>(rows_) * static_cast<size_t>(c.hidden) * sizeof(float);

  norm_forward(tape.input.data(), weights.attention_norm, sized(tape.normed, rows_, c.hidden), sized(tape.rstd, rows_, 1));
  linear(kQ, tape.normed.data(), sized(tape.q, rows_, c.q_width()), false);
  linear(kK, tape.normed.data(), sized(tape.k, rows_, c.kv_width()), false);
  linear(kV, tape.normed.data(), sized(tape.v, rows_, c.kv_width()), false);
  heads_forward(layer, tape);
  sized(tape.attended, rows_, c.q_width());
  attention_forward(tape);
  std::memcpy(sized(tape.mid, rows_, c.hidden), tape.input.data(), stream_bytes);
  linear(kO, tape.attended.data(), tape.mid.data(), true);

  norm_forward(tape.mid.data(), weights.mlp_norm, sized(tape.mid_normed, rows_, c.hidden), sized(tape.mid_rstd, rows_, 1));
  linear(kGate, tape.mid_normed.data(), sized(tape.gate, rows_, c.ffn), false);
  linear(kUp, tape.mid_normed.data(), sized(tape.up, rows_, c.ffn), false);
  kernels_.swiglu(tape.gate.data(), tape.up.data(), sized(tape.product, rows_, c.ffn), static_cast<int64_t>(rows_) * c.ffn);
  std::memcpy(output, tape.mid.data(), stream_bytes);
  linear(kDown, tape.product.data(), output, true);
}

void TrainBlock::backward(int layer, BlockTape& tape, float* dx, bool last) {
  const ModelConfig& c = config_;
  const Layer& weights = model_.layers[static_cast<size_t>(layer)];
  float* du = target_.adapter == nullptr ? nullptr : sized(scratch_.d_low_rank, rows_, target_.adapter->rank());
  const auto linear = [&](Site site, const float* dy, const float* x, float* d_input, bool accumulate) {
    linear_backward(model_, target_, layer, site, dy, x, tape.low_rank[site].data(), d_input, du, rows_, accumulate);
  };

  float* d_gate = sized(scratch_.d_gate, rows_, c.ffn);
  float* d_up = sized(scratch_.d_up, rows_, c.ffn);
  linear(kDown, dx, tape.product.data(), d_gate, false);
  kernels_.swiglu_backward(d_gate, tape.gate.data(), tape.up.data(), d_gate, d_up, static_cast<int64_t>(rows_) * c.ffn);
  float* d_normed = sized(scratch_.d_normed, rows_, c.hidden);
  linear(kGate, d_gate, tape.mid_normed.data(), d_normed, false);
  linear(kUp, d_up, tape.mid_normed.data(), d_normed, true);
  norm_backward(d_normed, tape.mid.data(), weights.mlp_norm, tape.mid_rstd.data(), dx);

  linear(kO, dx, tape.attended.data(), sized(scratch_.d_attended, rows_, c.q_width()), false);
  sized(scratch_.dq, rows_, c.q_width());
  sized(scratch_.dk, rows_, c.kv_width());
  sized(scratch_.dv, rows_, c.kv_width());
  attention_backward(tape);
  heads_backward(layer, tape);
  const bool input_needed = !last || target_.adapter == nullptr;
  float* d_input = input_needed ? d_normed : nullptr;
  linear(kQ, scratch_.dq.data(), tape.normed.data(), d_input, false);
  linear(kK, scratch_.dk.data(), tape.normed.data(), d_input, true);
  linear(kV, scratch_.dv.data(), tape.normed.data(), d_input, true);
  if (input_needed) norm_backward(d_normed, tape.input.data(), weights.attention_norm, tape.rstd.data(), dx);
}

}  // namespace tackroom
