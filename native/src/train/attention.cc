/**
 * Grouped-query attention in training, over a forest.
 *
 * A task is one tree and one query head (or all query heads of one kv head). It walks the tree depth-first and keeps the keys
 * and values of the current path side by side, as if the path were a sequence: entering a node writes its own, siblings
 * overwrite each other. So shared keys are packed once, and a token's result is the same bits whether its prefix is shared or
 * not. Backward keeps the gradients of the path likewise and hands out those of a node when it leaves the node.
 */
#include <algorithm>
#include <cstring>

#include "../attention16.h"
#include "train_layer.h"

namespace tackroom {
namespace {

/** Buffers of one thread: a path of one kv head. */
struct PathScratch {
  AlignedBuffer keys, values, key_panels, value_panels, d_keys, d_values, attention;
  AlignedBuffer keys16, values16, rows16;  // bf16 numbers
};

uint16_t* sized16(AlignedBuffer& buffer, int64_t count) { return reinterpret_cast<uint16_t*>(buffer.reserve(static_cast<size_t>((count + 1) / 2))); }

PathScratch& path_scratch() {
  thread_local PathScratch scratch;
  return scratch;
}

/** Writes x [count, head_dim] (rows `row` apart) into panels at positions [from, from + count). */
void write_panels(const Kernels& k, const float* x, int64_t row, int from, int count, int head_dim, float* panels) {
  const int width = k.panel_width;
  for (int i = 0; i < count; i++) {
    const int position = from + i;
    float* panel = panels + static_cast<int64_t>(position / width) * width * head_dim;
    // From a panel's start on, whole panels; what they pad with zeros lies behind the path.
    if (position % width == 0) return k.pack_panels(x + i * row, row, count - i, head_dim, panel);
    for (int j = 0; j < head_dim; j++) panel[static_cast<int64_t>(j) * width + position % width] = x[i * row + j];
  }
}

void copy_rows(const float* x, int64_t row, int count, int width, float* out) {
  for (int64_t i = 0; i < count; i++) std::memcpy(out + i * width, x + i * row, static_cast<size_t>(width) * sizeof(float));
}

struct Task {
  int tree, head, heads;  // query heads [head, head + heads), of one kv head
};

/** All query heads of a kv head together where that leaves enough tasks: the path is then packed once for them. */
std::vector<Task> tasks_of(const TrainContext& context, bool single_heads) {
  const ModelConfig& c = context.config();
  const int trees = static_cast<int>(context.forest->trees.size()) - 1, group = c.heads / c.kv_heads;
  const int step = single_heads || trees * c.kv_heads < 4 * context.model.pool.size() ? 1 : group;
  // The largest trees first, so that no long task is left at the end.
  std::vector<int> order;
  const auto rows_of = [&](int tree) {
    const auto& f = *context.forest;
    const int last = f.trees[static_cast<size_t>(tree) + 1] - 1;
    const TreeNode &a = f.nodes[static_cast<size_t>(f.trees[static_cast<size_t>(tree)])], &b = f.nodes[static_cast<size_t>(last)];
    return b.begin + b.count - a.begin;
  };
  for (int t = 0; t < trees; t++) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rows_of(a) > rows_of(b); });
  std::vector<Task> tasks;
  for (const int tree : order)
    for (int h = 0; h < c.heads; h += step) tasks.push_back({tree, h, step});
  return tasks;
}

/** Nodes of a tree in order; calls leave(node) for every node that ends before the next begins. */
template <class Enter, class Leave>
void walk(const Forest& forest, int tree, Enter&& enter, Leave&& leave) {
  std::vector<int> path;
  for (int n = forest.trees[static_cast<size_t>(tree)]; n < forest.trees[static_cast<size_t>(tree) + 1]; n++) {
    const TreeNode& node = forest.nodes[static_cast<size_t>(n)];
    for (; !path.empty() && path.back() != node.parent; path.pop_back()) leave(forest.nodes[static_cast<size_t>(path.back())]);
    enter(node);
    path.push_back(n);
  }
  for (; !path.empty(); path.pop_back()) leave(forest.nodes[static_cast<size_t>(path.back())]);
}

/** Room for a path and its last panel; whole key blocks, because attention reads up to their end. */
int padded(int positions) { return (positions + kAttentionKeys - 1) / kAttentionKeys * kAttentionKeys + 64; }

void forward_task(TrainContext& context, const Task& task, int window, const AttentionTape& tape, float* attended, float* lse) {
  const ModelConfig& c = context.config();
  const Kernels& k = context.model.kernels;
  const int hd = c.head_dim, kv_head = task.head / (c.heads / c.kv_heads), room = padded(context.forest->longest);
  const int64_t q_width = c.q_width(), kv_width = c.kv_width();
  PathScratch& s = path_scratch();
  float *values = sized(s.values, room, hd), *panels = sized(s.key_panels, room, hd);
  AttentionForwardArgs args{};
  args.head_dim = hd;
  args.q_row = args.out_row = q_width;
  args.limit_step = 1;
  args.window = window;
  args.key_panels = panels;
  args.v = values;
  args.v_row = hd;
  args.scale = c.attention_scale;
  args.scratch = s.attention.reserve(static_cast<size_t>(attention_scratch_floats(hd)));
  const PackedKernels& p = context.model.packed;
  const bool narrow = context.model.training == Precision::Bf16;
  const int64_t depth = bf16_depth(hd);
  float* keys = narrow ? sized(s.keys, room, hd) : nullptr;
  uint16_t* keys16 = narrow ? sized16(s.keys16, attention_key16(room, hd)) : nullptr;
  uint16_t* values16 = narrow ? sized16(s.values16, attention_value16(room, hd)) : nullptr;
  uint16_t* rows16 = narrow ? sized16(s.rows16, kAttentionRows * (depth + kAttentionKeys)) : nullptr;
  if (narrow) args.narrow = &p, args.keys16 = keys16, args.values16 = values16, args.q16 = rows16, args.probabilities16 = rows16 + kAttentionRows * depth;
  walk(
      *context.forest, task.tree,
      [&](const TreeNode& node) {
        const int64_t kv_at = node.begin * kv_width + kv_head * hd;
        copy_rows(tape.v.data() + kv_at, kv_width, node.count, hd, values + static_cast<int64_t>(node.depth) * hd);
        if (narrow) {
          copy_rows(tape.k.data() + kv_at, kv_width, node.count, hd, keys + static_cast<int64_t>(node.depth) * hd);
          pack_keys16(p, keys, hd, 1, node.depth / kPanelColumns * kPanelColumns, node.depth + node.count, hd, keys16);
          pack_values16(p, values, hd, node.depth, node.depth + node.count, hd, values16);
        } else {
          write_panels(k, tape.k.data() + kv_at, kv_width, node.depth, node.count, hd, panels);
        }
        for (int h = task.head; h < task.head + task.heads; h++)
          for (int first = 0; first < node.count; first += kAttentionRows) {
            const int64_t row = node.begin + first, at = row * q_width + h * hd;
            args.rows = std::min(kAttentionRows, node.count - first);
            args.first_limit = node.depth + first;
            args.q = tape.q.data() + at;
            args.out = attended + at;
            args.lse = lse + static_cast<int64_t>(h) * context.rows + row;
            if (narrow) p.bf16.rows(args.q, q_width, 1, args.rows, hd, rows16);
            k.attention_forward(args);
          }
      },
      [](const TreeNode&) {});
}

/** dk and dv [rows, Q] are those of each query head. */
void backward_task(TrainContext& context, const Task& task, int window, const AttentionTape& tape, const float* d_attended, float* dq, float* dk, float* dv) {
  const ModelConfig& c = context.config();
  const Kernels& k = context.model.kernels;
  const int hd = c.head_dim, kv_head = task.head / (c.heads / c.kv_heads), room = padded(context.forest->longest);
  const int64_t q_width = c.q_width(), kv_width = c.kv_width();
  PathScratch& s = path_scratch();
  float *keys = sized(s.keys, room, hd), *values = sized(s.values, room, hd), *d_keys = sized(s.d_keys, room, hd), *d_values = sized(s.d_values, room, hd);
  float *key_panels = sized(s.key_panels, room, hd), *value_panels = sized(s.value_panels, room, hd);
  AttentionBackwardArgs args{};
  args.window = window;
  args.head_dim = hd;
  args.k = keys, args.v = values;
  args.q_row = q_width, args.kv_row = hd;
  args.key_panels = key_panels, args.value_panels = value_panels;
  args.dk = d_keys, args.dv = d_values;
  if (context.model.training == Precision::Bf16) {
    args.narrow = &context.model.packed;
    args.scratch16 = sized16(s.keys16, attention_scratch16(room, hd));
  }
  args.scale = c.attention_scale;
  args.scratch = s.attention.reserve(static_cast<size_t>(attention_scratch_floats(hd)));
  walk(
      *context.forest, task.tree,
      [&](const TreeNode& node) {
        const int64_t kv_at = node.begin * kv_width + kv_head * hd, at = node.begin * q_width + task.head * hd, on_path = static_cast<int64_t>(node.depth) * hd;
        const size_t bytes = static_cast<size_t>(node.count) * static_cast<size_t>(hd) * sizeof(float);
        copy_rows(tape.k.data() + kv_at, kv_width, node.count, hd, keys + on_path);
        copy_rows(tape.v.data() + kv_at, kv_width, node.count, hd, values + on_path);
        if (args.narrow == nullptr) {
          write_panels(k, tape.k.data() + kv_at, kv_width, node.depth, node.count, hd, key_panels);
          write_panels(k, tape.v.data() + kv_at, kv_width, node.depth, node.count, hd, value_panels);
        }
        std::memset(d_keys + on_path, 0, bytes);
        std::memset(d_values + on_path, 0, bytes);
        args.rows = node.count;
        args.before = node.depth;
        args.q = tape.q.data() + at;
        args.out = tape.attended.data() + at;
        args.dout = d_attended + at;
        args.lse = tape.lse.data() + static_cast<int64_t>(task.head) * context.rows + node.begin;
        args.dq = dq + at;
        k.attention_backward(args);
      },
      [&](const TreeNode& node) {
        for (int64_t i = 0; i < node.count; i++) {
          const int64_t at = (node.begin + i) * q_width + task.head * hd, on_path = (node.depth + i) * hd;
          std::memcpy(dk + at, d_keys + on_path, static_cast<size_t>(hd) * sizeof(float));
          std::memcpy(dv + at, d_values + on_path, static_cast<size_t>(hd) * sizeof(float));
        }
      });
}

/** QK-norm where the model has it, then RoPE, in place. */
void heads_forward(TrainContext& context, int rope, AlignedBuffer& x, AlignedBuffer& raw, AlignedBuffer& rstd, int heads, size_t norm) {
  const int hd = context.config().head_dim;
  const int64_t width = static_cast<int64_t>(heads) * hd;
  if (norm != kAbsent) {
    copy_parallel(context.model, sized(raw, context.rows, width), x.data(), context.rows * width);
    norm_forward(context.model, raw.data(), norm, x.data(), sized(rstd, context.rows, heads), static_cast<int64_t>(context.rows) * heads, hd);
  }
  parallel_rows(context.model.pool, context.rows, static_cast<double>(context.rows) * static_cast<double>(width) * 0.3, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) {
      const int position = context.forest->positions[static_cast<size_t>(r)];
      for (int h = 0; h < heads; h++)
        context.model.kernels.rope(x.data() + r * width + h * hd, context.model.rope_cos(rope, position), context.model.rope_sin(rope, position), hd / 2, 1.0f);
    }
  });
}

/** The gradient through heads_forward, in place; `other` is scratch of the size of dx. */
void heads_backward(TrainContext& context, int rope, AlignedBuffer& dx, const AlignedBuffer& raw, const AlignedBuffer& rstd, int heads, size_t norm, AlignedBuffer& other) {
  const int hd = context.config().head_dim;
  const int64_t width = static_cast<int64_t>(heads) * hd;
  parallel_rows(context.model.pool, context.rows, static_cast<double>(context.rows) * static_cast<double>(width) * 0.3, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) {
      const int position = context.forest->positions[static_cast<size_t>(r)];
      for (int h = 0; h < heads; h++)
        context.model.kernels.rope(dx.data() + r * width + h * hd, context.model.rope_cos(rope, position), context.model.rope_sin(rope, position), hd / 2, -1.0f);
    }
  });
  if (norm == kAbsent) return;
  sized(other, context.rows, width);
  other.zero();
  norm_backward(context.model, dx.data(), raw.data(), norm, rstd.data(), other.data(), context.linear.of_model(norm), static_cast<int64_t>(context.rows) * heads, hd,
                context.scratch.partial);
  dx.swap(other);
}

/** dx [rows, K] = sums of the query heads of each kv head, in their order. */
void sum_groups(TrainContext& context, const float* per_head, float* dx) {
  const ModelConfig& c = context.config();
  const int hd = c.head_dim, group = c.heads / c.kv_heads;
  parallel_rows(context.model.pool, context.rows, static_cast<double>(context.rows) * c.q_width() * 0.3, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++)
      for (int kv = 0; kv < c.kv_heads; kv++) {
        const float* source = per_head + r * c.q_width() + static_cast<int64_t>(kv) * group * hd;
        float* target = dx + r * c.kv_width() + static_cast<int64_t>(kv) * hd;
        std::memcpy(target, source, static_cast<size_t>(hd) * sizeof(float));
        for (int h = 1; h < group; h++) context.model.kernels.add(target, source + static_cast<int64_t>(h) * hd, hd);
      }
  });
}

}  // namespace

void attention_forward(TrainContext& context, int l, AttentionTape& tape, const float* h, float* y, bool accumulate) {
  const ModelConfig& c = context.config();
  const Layer& layer = context.model.layers[static_cast<size_t>(l)];
  const AttentionWeights& w = layer.attention;
  context.linear.forward(h, context.rows,
                         {{&w.q, sized(tape.q, context.rows, c.q_width()), c.q_width(), &tape.low[0]},
                          {&w.k, sized(tape.k, context.rows, c.kv_width()), c.kv_width(), &tape.low[1]},
                          {&w.v, sized(tape.v, context.rows, c.kv_width()), c.kv_width(), &tape.low[2]}});
  heads_forward(context, layer.kind.rope, tape.q, tape.q_raw, tape.q_rstd, c.heads, w.q_norm);
  heads_forward(context, layer.kind.rope, tape.k, tape.k_raw, tape.k_rstd, c.kv_heads, w.k_norm);
  float* attended = sized(tape.attended, context.rows, c.q_width());
  float* lse = sized(tape.lse, c.heads, context.rows);
  const std::vector<Task> tasks = tasks_of(context, false);
  context.model.pool.run(static_cast<int>(tasks.size()), [&](int i) { forward_task(context, tasks[static_cast<size_t>(i)], layer.kind.window, tape, attended, lse); });
  context.linear.forward(attended, context.rows, {{&w.o, y, c.hidden, &tape.low[3], accumulate}});
}

void attention_backward(TrainContext& context, int l, AttentionTape& tape, const float* dy, const float* h, float* dh) {
  const ModelConfig& c = context.config();
  const Layer& layer = context.model.layers[static_cast<size_t>(l)];
  const AttentionWeights& w = layer.attention;
  TrainScratch& s = context.scratch;
  float* d_attended = sized(s.a, context.rows, c.q_width());
  context.linear.backward(tape.attended.data(), context.rows, {{&w.o, dy, c.hidden, &tape.low[3]}}, d_attended);
  float *dq = sized(s.b, context.rows, c.q_width()), *dk_heads = sized(s.c, context.rows, c.q_width()), *dv_heads = sized(s.d, context.rows, c.q_width());
  s.b.zero();
  const std::vector<Task> tasks = tasks_of(context, true);
  context.model.pool.run(static_cast<int>(tasks.size()),
                         [&](int i) { backward_task(context, tasks[static_cast<size_t>(i)], layer.kind.window, tape, d_attended, dq, dk_heads, dv_heads); });
  float* dk = sized(s.a, context.rows, c.kv_width());
  sum_groups(context, dk_heads, dk);
  float* dv = sized(s.e, context.rows, c.kv_width());
  sum_groups(context, dv_heads, dv);
  heads_backward(context, layer.kind.rope, s.b, tape.q_raw, tape.q_rstd, c.heads, w.q_norm, s.c);
  heads_backward(context, layer.kind.rope, s.a, tape.k_raw, tape.k_rstd, c.kv_heads, w.k_norm, s.d);
  context.linear.backward(h, context.rows,
                          {{&w.q, s.b.data(), c.q_width(), &tape.low[0]}, {&w.k, s.a.data(), c.kv_width(), &tape.low[1]}, {&w.v, s.e.data(), c.kv_width(), &tape.low[2]}}, dh);
}

}  // namespace tackroom
