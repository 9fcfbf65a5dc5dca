#include "forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "matmul.h"

namespace tackroom {
namespace {

float* attention_scratch(int head_dim) {
  thread_local AlignedBuffer scratch;
  return scratch.reserve(static_cast<size_t>(attention_scratch_floats(head_dim)));
}

}  // namespace

void Forward::embed(const std::vector<ForwardItem>& items) {
  const size_t hidden = static_cast<size_t>(model_.config.hidden);
  spans_.clear();
  positions_.clear();
  int longest = 0;
  for (const ForwardItem& item : items) {
    const int count = static_cast<int>(item.ids.size()), start = item.sequence->length();
    spans_.push_back({item.sequence, static_cast<int>(positions_.size()), count, start});
    for (int i = 0; i < count; i++) positions_.push_back(start + i);
    longest = std::max(longest, start + count);
    item.sequence->reserve(start + count);
    if (item.sequence->adapter() != nullptr) item.sequence->adapter()->refresh(model_.kernels);
  }
  rows_ = static_cast<int>(positions_.size());
  model_.reserve_rope(longest);
  float* x = x_.reserve(static_cast<size_t>(rows_) * hidden);
  for (const ForwardItem& item : items)
    for (const int id : item.ids) {
      std::memcpy(x, model_.at(model_.embedding) + static_cast<size_t>(id) * hidden, hidden * sizeof(float));
      x += hidden;
    }
}

const float* Forward::run(const std::vector<ForwardItem>& items) {
  const ModelConfig& c = model_.config;
  const Kernels& k = model_.kernels;
  embed(items);
  const size_t rows = static_cast<size_t>(rows_), hidden = static_cast<size_t>(c.hidden), ffn = static_cast<size_t>(c.ffn);
  h_.reserve(rows * hidden);
  const auto norm = [&](size_t weight) {
    parallel_rows(model_.pool, rows_, rows_ * c.hidden * 0.1, [&](int begin, int end) {
      for (size_t r = static_cast<size_t>(begin); r < static_cast<size_t>(end); r++)
        k.rmsnorm(x_.data() + r * hidden, model_.at(weight), h_.data() + r * hidden, c.hidden, c.norm_eps);
    });
  };
  for (int l = 0; l < c.layers; l++) {
    const Layer& layer = model_.layers[static_cast<size_t>(l)];
    norm(layer.attention_norm);
    linear(l, kQ, h_.data(), q_, false);
    linear(l, kK, h_.data(), k_, false);
    linear(l, kV, h_.data(), v_, false);
    project_heads(l);
    attend(l);
    linear(l, kO, attended_.data(), x_, true);
    norm(layer.mlp_norm);
    linear(l, kGate, h_.data(), gate_, false);
    linear(l, kUp, h_.data(), up_, false);
    parallel_rows(model_.pool, rows_, rows_ * c.ffn * 0.5, [&](int begin, int end) {
      const size_t at = static_cast<size_t>(begin) * ffn;
      k.swiglu(gate_.data() + at, up_.data() + at, gate_.data() + at, static_cast<int64_t>(end - begin) * c.ffn);
    });
    linear(l, kDown, gate_.data(), x_, true);
  }
  for (size_t i = 0; i < items.size(); i++) spans_[i].sequence->append(items[i].ids.data(), spans_[i].count);
  return x_.data();
}

void Forward::linear(int layer, Site site, const float* x, AlignedBuffer& y, bool accumulate) {
  const Linear& linear = model_.layers[static_cast<size_t>(layer)].linear[site];
  y.reserve(static_cast<size_t>(rows_) * static_cast<size_t>(linear.out));
  matmul_packed_parallel(model_.pool, model_.kernels, x, linear.panels.data(), y.data(), rows_, linear.in, linear.out, accumulate);
  if (linear.bias != kAbsent)
    for (int r = 0; r < rows_; r++) model_.kernels.add(y.data() + static_cast<size_t>(r) * static_cast<size_t>(linear.out), model_.at(linear.bias), linear.out);
  lora(layer, site, x, y.data());
}

void Forward::lora(int layer, Site site, const float* x, float* y) {
  const Linear& linear = model_.layers[static_cast<size_t>(layer)].linear[site];
  const Kernels& k = model_.kernels;
  for (size_t i = 0; i < spans_.size();) {
    Adapter* adapter = spans_[i].sequence->adapter();
    const int begin = spans_[i].begin;
    int end = begin;
    for (; i < spans_.size() && spans_[i].sequence->adapter() == adapter; i++) end = spans_[i].begin + spans_[i].count;
    const LoraSite* lora = adapter == nullptr ? nullptr : adapter->site(layer, site);
    if (lora == nullptr) continue;
    const int rank = adapter->rank();
    low_rank_.reserve(static_cast<size_t>(rows_) * static_cast<size_t>(rank));
    parallel_rows(model_.pool, end - begin, (end - begin) * static_cast<double>(rank) * (linear.in + linear.out) * 0.02, [&](int r0, int r1) {
      const size_t first = static_cast<size_t>(begin + r0);
      float* low = low_rank_.data() + first * static_cast<size_t>(rank);
      matmul_packed(k, x + first * static_cast<size_t>(linear.in), lora->a_panels.data(), low, r1 - r0, linear.in, rank, false);
      k.scale(low, adapter->scale(), static_cast<int64_t>(r1 - r0) * rank);
      matmul_packed(k, low, lora->b_panels.data(), y + first * static_cast<size_t>(linear.out), r1 - r0, rank, linear.out, true);
    });
  }
}

/** QK-norm where the model has it, RoPE, and the new keys and values into the caches. */
void Forward::project_heads(int l) {
  const ModelConfig& c = model_.config;
  const Kernels& k = model_.kernels;
  const Layer& layer = model_.layers[static_cast<size_t>(l)];
  const auto rotate = [&](float* heads, int count, size_t norm, int position) {
    for (int h = 0; h < count; h++, heads += c.head_dim) {
      if (norm != kAbsent) k.rmsnorm(heads, model_.at(norm), heads, c.head_dim, c.norm_eps);
      k.rope(heads, model_.rope_cos(position), model_.rope_sin(position), c.head_dim / 2, 1.0f);
    }
  };
  parallel_rows(model_.pool, rows_, rows_ * c.q_width() * 0.5, [&](int begin, int end) {
    for (int r = begin; r < end; r++) {
      rotate(q_.data() + static_cast<size_t>(r) * static_cast<size_t>(c.q_width()), c.heads, layer.q_norm, positions_[static_cast<size_t>(r)]);
      rotate(k_.data() + static_cast<size_t>(r) * static_cast<size_t>(c.kv_width()), c.kv_heads, layer.k_norm, positions_[static_cast<size_t>(r)]);
    }
  });
  const size_t kv = static_cast<size_t>(c.kv_width());
  for (const Span& span : spans_)
    for (int i = 0; i < span.count; i++) {
      const size_t row = static_cast<size_t>(span.begin + i);
      span.sequence->put(l, span.position + i, k_.data() + row * kv, v_.data() + row * kv);
    }
}

void Forward::attend(int layer) {
  const ModelConfig& c = model_.config;
  const int group = c.heads / c.kv_heads;
  attended_.reserve(static_cast<size_t>(rows_) * static_cast<size_t>(c.q_width()));
  struct Task {
    const Span* span;
    int first, count, head, heads;
  };
  std::vector<Task> tasks;
  double work = 0;
  for (const Span& span : spans_) {
    work += static_cast<double>(span.count) * (span.position + span.count) * c.q_width() * 0.05;
    if (span.count == 1) {
      for (int h = 0; h < c.heads; h += group) tasks.push_back({&span, 0, 1, h, group});
      continue;
    }
    for (int first = 0; first < span.count; first += kAttentionRows)
      for (int h = 0; h < c.heads; h++) tasks.push_back({&span, first, std::min(kAttentionRows, span.count - first), h, 1});
  }
  const auto body = [&](int i) {
    const Task& task = tasks[static_cast<size_t>(i)];
    attend_block(layer, *task.span, task.first, task.count, task.head, task.heads);
  };
  if (work > 50e3) return model_.pool.run(static_cast<int>(tasks.size()), body);
  for (int i = 0; i < static_cast<int>(tasks.size()); i++) body(i);
}

/** Rows are either `count` tokens of one head, or the `heads` heads of one token that share a kv head. */
void Forward::attend_block(int layer, const Span& span, int first, int count, int head, int heads) {
  const ModelConfig& c = model_.config;
  const bool by_heads = heads > 1;
  const int group = c.heads / c.kv_heads;
  const size_t offset = static_cast<size_t>(span.begin + first) * static_cast<size_t>(c.q_width()) + static_cast<size_t>(head * c.head_dim);
  const int64_t row = by_heads ? c.head_dim : c.q_width();
  AttentionForwardArgs args{};
  args.rows = by_heads ? heads : count;
  args.head_dim = c.head_dim;
  args.q = q_.data() + offset;
  args.q_row = row;
  args.first_limit = span.position + first;
  args.limit_step = by_heads ? 0 : 1;
  args.key_panels = span.sequence->key_panels(layer, head / group);
  args.v = span.sequence->values(layer, head / group);
  args.v_row = c.head_dim;
  args.out = attended_.data() + offset;
  args.out_row = row;
  args.lse = nullptr;
  args.scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  args.scratch = attention_scratch(c.head_dim);
  model_.kernels.attention_forward(args);
}

const float* Forward::logits(const std::vector<int>& rows) {
  const ModelConfig& c = model_.config;
  const size_t hidden = static_cast<size_t>(c.hidden);
  gathered_.reserve(rows.size() * hidden);
  for (size_t i = 0; i < rows.size(); i++)
    model_.kernels.rmsnorm(x_.data() + static_cast<size_t>(rows[i]) * hidden, model_.at(model_.final_norm), gathered_.data() + i * hidden, c.hidden, c.norm_eps);
  logits_.reserve(rows.size() * static_cast<size_t>(c.vocab));
  matmul_packed_parallel(model_.pool, model_.kernels, gathered_.data(), model_.head_panels.data(), logits_.data(), static_cast<int>(rows.size()), c.hidden,
                         c.vocab, false);
  return logits_.data();
}

}  // namespace tackroom
