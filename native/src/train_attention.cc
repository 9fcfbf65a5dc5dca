/** The attention half of TrainBlock: QK-norm, RoPE, causal attention per segment and head. */
#include <cmath>
#include <cstring>

#include "matmul.h"
#include "train_block.h"

namespace tackroom {

void TrainBlock::heads_forward(int layer, BlockTape& tape) {
  const ModelConfig& c = config_;
  const Layer& weights = model_.layers[static_cast<size_t>(layer)];
  const auto heads = [&](AlignedBuffer& x, AlignedBuffer& raw, AlignedBuffer& rstd, int count, size_t norm) {
    const int64_t width = static_cast<int64_t>(count) * c.head_dim;
    if (norm != kAbsent) {
      raw = x;
      float* scale = rstd.reserve(static_cast<size_t>(rows_) * static_cast<size_t>(count));
      for (int64_t i = 0; i < static_cast<int64_t>(rows_) * count; i++)
        scale[i] = kernels_.rmsnorm(raw.data() + i * c.head_dim, model_.at(norm), x.data() + i * c.head_dim, c.head_dim, c.norm_eps);
    }
    for (const Segment& segment : segments_)
      for (int t = 0; t < segment.count; t++)
        for (int h = 0; h < count; h++)
          kernels_.rope(x.data() + (segment.begin + t) * width + h * c.head_dim, model_.rope_cos(t), model_.rope_sin(t), c.head_dim / 2, 1.0f);
  };
  heads(tape.q, tape.q_raw, tape.q_rstd, c.heads, weights.q_norm);
  heads(tape.k, tape.k_raw, tape.k_rstd, c.kv_heads, weights.k_norm);
}

void TrainBlock::heads_backward(int layer, BlockTape& tape) {
  const ModelConfig& c = config_;
  const Layer& weights = model_.layers[static_cast<size_t>(layer)];
  std::vector<float> normed(static_cast<size_t>(c.head_dim));
  const auto heads = [&](float* dx, const AlignedBuffer& raw, const AlignedBuffer& rstd, int count, size_t norm) {
    const int64_t width = static_cast<int64_t>(count) * c.head_dim;
    for (const Segment& segment : segments_)
      for (int t = 0; t < segment.count; t++)
        for (int h = 0; h < count; h++)
          kernels_.rope(dx + (segment.begin + t) * width + h * c.head_dim, model_.rope_cos(t), model_.rope_sin(t), c.head_dim / 2, -1.0f);
    if (norm == kAbsent) return;
    for (int64_t i = 0; i < static_cast<int64_t>(rows_) * count; i++) {
      float* d = dx + i * c.head_dim;
      std::memcpy(normed.data(), d, normed.size() * sizeof(float));
      std::memset(d, 0, normed.size() * sizeof(float));
      kernels_.rmsnorm_backward(normed.data(), raw.data() + i * c.head_dim, model_.at(norm), rstd.data()[i], d, target_.of_model(norm), c.head_dim);
    }
  };
  heads(scratch_.dq.data(), tape.q_raw, tape.q_rstd, c.heads, weights.q_norm);
  heads(scratch_.dk.data(), tape.k_raw, tape.k_rstd, c.kv_heads, weights.k_norm);
}

void TrainBlock::attention_forward(BlockTape& tape) {
  const ModelConfig& c = config_;
  const int group = c.heads / c.kv_heads;
  tape.lse.reserve(static_cast<size_t>(c.heads) * static_cast<size_t>(rows_));
  AttentionForwardArgs args{};
  args.head_dim = c.head_dim;
  args.q_row = args.out_row = c.q_width();
  args.v_row = c.kv_width();
  args.limit_step = 1;
  args.scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  args.scratch = scratch_.attention.reserve(static_cast<size_t>(attention_scratch_floats(c.head_dim)));
  for (const Segment& segment : segments_)
    for (int kv = 0; kv < c.kv_heads; kv++) {
      const int64_t kv_at = static_cast<int64_t>(segment.begin) * c.kv_width() + kv * c.head_dim;
      float* panels = scratch_.key_panels.reserve(static_cast<size_t>(panel_floats(kernels_, segment.count, c.head_dim)));
      kernels_.pack_panels(tape.k.data() + kv_at, c.kv_width(), segment.count, c.head_dim, panels);
      args.key_panels = panels;
      args.v = tape.v.data() + kv_at;
      for (int h = kv * group; h < (kv + 1) * group; h++)
        for (int first = 0; first < segment.count; first += kAttentionRows) {
          const int64_t at = static_cast<int64_t>(segment.begin + first) * c.q_width() + h * c.head_dim;
          args.rows = segment.count - first < kAttentionRows ? segment.count - first : kAttentionRows;
          args.first_limit = first;
          args.q = tape.q.data() + at;
          args.out = tape.attended.data() + at;
          args.lse = tape.lse.data() + static_cast<int64_t>(h) * rows_ + segment.begin + first;
          kernels_.attention_forward(args);
        }
    }
}

void TrainBlock::attention_backward(BlockTape& tape) {
  const ModelConfig& c = config_;
  const int group = c.heads / c.kv_heads;
  scratch_.dq.zero();
  scratch_.dk.zero();
  scratch_.dv.zero();
  AttentionBackwardArgs args{};
  args.head_dim = c.head_dim;
  args.q_row = c.q_width();
  args.kv_row = c.kv_width();
  args.scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  args.scratch = scratch_.attention.data();
  for (const Segment& segment : segments_)
    for (int kv = 0; kv < c.kv_heads; kv++) {
      const int64_t kv_at = static_cast<int64_t>(segment.begin) * c.kv_width() + kv * c.head_dim;
      const size_t panel_size = static_cast<size_t>(panel_floats(kernels_, segment.count, c.head_dim));
      kernels_.pack_panels(tape.k.data() + kv_at, c.kv_width(), segment.count, c.head_dim, scratch_.key_panels.reserve(panel_size));
      kernels_.pack_panels(tape.v.data() + kv_at, c.kv_width(), segment.count, c.head_dim, scratch_.value_panels.reserve(panel_size));
      args.tokens = segment.count;
      args.key_panels = scratch_.key_panels.data();
      args.value_panels = scratch_.value_panels.data();
      args.k = tape.k.data() + kv_at;
      args.v = tape.v.data() + kv_at;
      args.dk = scratch_.dk.data() + kv_at;
      args.dv = scratch_.dv.data() + kv_at;
      for (int h = kv * group; h < (kv + 1) * group; h++) {
        const int64_t at = static_cast<int64_t>(segment.begin) * c.q_width() + h * c.head_dim;
        args.q = tape.q.data() + at;
        args.out = tape.attended.data() + at;
        args.dout = scratch_.d_attended.data() + at;
        args.lse = tape.lse.data() + static_cast<int64_t>(h) * rows_ + segment.begin;
        args.dq = scratch_.dq.data() + at;
        kernels_.attention_backward(args);
      }
    }
}

}  // namespace tackroom
