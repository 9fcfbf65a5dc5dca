/** Grouped-query attention in inference: projections, QK-norm, RoPE, the cache, causal or windowed attention, output. */
#include <algorithm>
#include <cstring>

#include "../attention16.h"
#include "../forward.h"
#include "../matmul.h"

namespace tackroom {
namespace {

constexpr int kTasksEach = 8;  // of a thread, below which a token's keys are divided

/** A single token computes little for what it reads: the values are asked for before the scores are computed. */
void fetch_values(const uint16_t* values, int keys, int head_dim) {
  constexpr int kMost = 6 * kAttentionKeys;  // more would push each other out of the second-level cache
  for (int first = 0; first < std::min(keys, kMost); first += kAttentionKeys, values += attention_value_block16(head_dim))
    for (int64_t panel = 0; panel < panel_count(head_dim); panel++)
      for (int pair = 0; pair < (std::min(kAttentionKeys, keys - first) + 1) / 2; pair++)
        __builtin_prefetch(values + (panel * kAttentionKeys + 2 * pair) * kPanelColumns, 0, 2);
}

float* attention_scratch(int head_dim) {
  thread_local AlignedBuffer scratch;
  return scratch.reserve(static_cast<size_t>(attention_scratch_floats(head_dim)));
}

}  // namespace

void Forward::attention(int l) {
  const ModelConfig& c = model_.config;
  const Layer& layer = model_.layers[static_cast<size_t>(l)];
  const AttentionWeights& w = layer.attention;
  input_.set(h_.data(), rows_, c.hidden);
  ops_.forward(precision_, input_,
               {{&w.q, sized(q_, rows_, c.q_width()), c.q_width()}, {&w.k, sized(k_, rows_, c.kv_width()), c.kv_width()}, {&w.v, sized(v_, rows_, c.kv_width()), c.kv_width()}},
               adapters_);
  project_heads(l);
  attend(l);
  input_.set(attended_.data(), rows_, c.q_width());
  if (has_post_norm(layer.mixer_post_norm)) {
    ops_.forward(precision_, input_, {{&w.o, sized(branch_, rows_, c.hidden), c.hidden}}, adapters_);
    return add_branch(layer.mixer_post_norm);
  }
  ops_.forward(precision_, input_, {{&w.o, x_.data(), c.hidden, true}}, adapters_);
}

/** QK-norm where the model has it, RoPE, and the new keys and values into the caches. */
void Forward::project_heads(int l) {
  const ModelConfig& c = model_.config;
  const Layer& layer = model_.layers[static_cast<size_t>(l)];
  const int rope = layer.kind.rope;
  const auto rotate = [&](float* heads, int count, size_t norm, int position) {
    for (int h = 0; h < count; h++, heads += c.head_dim) {
      if (norm != kAbsent) model_.norm(heads, norm, heads, c.head_dim);
      model_.kernels.rope(heads, model_.rope_cos(rope, position), model_.rope_sin(rope, position), c.head_dim / 2, 1.0f);
    }
  };
  const size_t wide = static_cast<size_t>(c.q_width()), kv = static_cast<size_t>(c.kv_width());
  parallel_rows(model_.pool, rows_, rows_ * (c.q_width() * 0.5 + c.kv_width() * 2.0), [&](int begin, int end) {
    for (const Span& span : spans_)
      for (int r = std::max(begin, span.begin); r < std::min(end, span.begin + span.count); r++) {
        const size_t row = static_cast<size_t>(r);
        if (span.count == 1) span.sequence->fetch(l, positions_[row]);
        rotate(q_.data() + row * wide, c.heads, layer.attention.q_norm, positions_[row]);
        rotate(k_.data() + row * kv, c.kv_heads, layer.attention.k_norm, positions_[row]);
        span.sequence->put(l, positions_[row], k_.data() + row * kv, v_.data() + row * kv);
      }
  });
}

void Forward::attend(int layer) {
  const ModelConfig& c = model_.config;
  const int group = c.heads / c.kv_heads;
  sized(attended_, rows_, c.q_width());
  struct Task {
    const Span* span;
    int first, count, head, heads, chunk;
    float* state;
  };
  struct Whole {  // one token's heads of a kv head, whose chunks of keys are tasks of their own
    const Span* span;
    int head, chunks;
    float* states;
  };
  std::vector<Task> tasks;
  std::vector<Whole> wholes;
  double work = 0;
  const int64_t state = attention_state_floats(group, c.head_dim);
  const int window = c.kind(layer).window;
  const auto chunks_of = [&](const Span& span) {
    const int lowest = window == 0 || span.position < window ? 0 : span.position - window + 1;
    return std::pair{lowest / kAttentionChunk, span.position / kAttentionChunk};
  };
  // Few tokens are too few tasks for the threads; the result is the same.
  const bool divided = model_.pool.size() > 1 && static_cast<int>(spans_.size()) * c.kv_heads < kTasksEach * model_.pool.size();
  int64_t floats = 0;
  for (const Span& span : spans_)
    if (const auto [low, high] = chunks_of(span); divided && span.count == 1 && high > low) floats += (high - low + 1) * state * c.kv_heads;
  float* states = states_.reserve(static_cast<size_t>(floats));
  for (const Span& span : spans_) {
    work += static_cast<double>(span.count) * (span.position + span.count) * c.q_width() * 0.05;
    const auto [low, high] = chunks_of(span);
    if (span.count == 1 && (low == high || !divided)) {
      for (int h = 0; h < c.heads; h += group) tasks.push_back({&span, 0, 1, h, group, 0, nullptr});
    } else if (span.count == 1) {
      for (int h = 0; h < c.heads; h += group) {
        wholes.push_back({&span, h, high - low + 1, states});
        for (int chunk = low; chunk <= high; chunk++, states += state) tasks.push_back({&span, 0, 1, h, group, chunk, states});
      }
    } else {
      for (int first = 0; first < span.count; first += kAttentionRows)
        for (int h = 0; h < c.heads; h++) tasks.push_back({&span, first, std::min(kAttentionRows, span.count - first), h, 1, 0, nullptr});
    }
  }
  const auto body = [&](int i) {
    const Task& task = tasks[static_cast<size_t>(i)];
    attend_block(layer, *task.span, task.first, task.count, task.head, task.heads, task.chunk, task.state);
  };
  if (work > model_.pool.worth_sharing / 3) model_.pool.run(static_cast<int>(tasks.size()), body);
  else
    for (int i = 0; i < static_cast<int>(tasks.size()); i++) body(i);
  for (const Whole& whole : wholes) model_.kernels.attention_merge(block_args(layer, *whole.span, 0, 1, whole.head, group), whole.chunks, whole.states);
}

/** Rows are either `count` tokens of one head, or the `heads` heads of one token that share a kv head. */
AttentionForwardArgs Forward::block_args(int layer, const Span& span, int first, int count, int head, int heads) {
  const ModelConfig& c = model_.config;
  const bool by_heads = heads > 1;
  const size_t offset = static_cast<size_t>(span.begin + first) * static_cast<size_t>(c.q_width()) + static_cast<size_t>(head * c.head_dim);
  const int64_t row = by_heads ? c.head_dim : c.q_width();
  AttentionForwardArgs args{};
  args.rows = by_heads ? heads : count;
  args.head_dim = c.head_dim;
  args.q = q_.data() + offset;
  args.q_row = row;
  args.first_limit = span.position + first;
  args.limit_step = by_heads ? 0 : 1;
  args.window = c.kind(layer).window;
  args.out = attended_.data() + offset;
  args.out_row = row;
  args.lse = nullptr;
  args.scale = c.attention_scale;
  return args;
}

/** `state` null: all keys, into the output; otherwise the keys of one chunk into a state. */
void Forward::attend_block(int layer, const Span& span, int first, int count, int head, int heads, int chunk, float* state) {
  const ModelConfig& c = model_.config;
  const int group = c.heads / c.kv_heads;
  AttentionForwardArgs args = block_args(layer, span, first, count, head, heads);
  args.scratch = attention_scratch(c.head_dim);
  const Sequence& sequence = *span.sequence;
  if (sequence.narrow()) {
    const int64_t depth = bf16_depth(c.head_dim);
    thread_local AlignedBuffer rows;
    auto* rows16 = reinterpret_cast<uint16_t*>(rows.reserve(static_cast<size_t>(kAttentionRows * (depth + kAttentionKeys) / 2)));
    model_.packed.bf16.rows(args.q, args.q_row, 1, args.rows, c.head_dim, rows16);
    args.narrow = &model_.packed, args.q16 = rows16, args.probabilities16 = rows16 + kAttentionRows * depth;
    args.keys16 = sequence.keys16(layer, head / group), args.values16 = sequence.values16(layer, head / group);
    if (span.count == 1 && state == nullptr) fetch_values(args.values16, span.position + 1, c.head_dim);
  } else {
    args.key_panels = sequence.key_panels(layer, head / group);
    args.v = sequence.values(layer, head / group);
    args.v_row = c.head_dim;
  }
  if (state != nullptr) model_.kernels.attention_chunk(args, chunk, state);
  else model_.kernels.attention_forward(args);
}

}  // namespace tackroom
