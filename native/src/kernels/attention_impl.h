/**
 * Causal attention in blocks of queries by blocks of keys, never holding more than one block of scores.
 *
 * Forward keeps a running maximum and sum per row (online softmax, Milakov & Gimelshein 2018; FlashAttention, Dao et al.
 * 2022) and saves log-sum-exp; backward recomputes the probabilities from it. Keys come transposed in panels, because
 * q k^T then needs no horizontal sums, neither for a block of a prompt nor for the one row of a decode step. Key blocks
 * start at multiples of kAttentionKeys whatever the number of queries, so a row's result is the same in both. The running
 * maximum starts anew at every kAttentionChunk keys and the chunks are joined in order, so that threads may share a long context.
 */
#pragma once
#include "gemm_impl.h"
#include "rows_impl.h"

namespace tackroom::TACKROOM_ISA {

static inline int round_up(int n, int to) { return (n + to - 1) / to * to; }

/** Softmax numerators of one row of scores, in place; the row is padded to whole vectors. Returns their sum. */
static inline float exp_row(float* s, int valid, float scale, float shift) {
  const int padded = round_up(valid, W);
  for (int c = valid; c < padded; c++) s[c] = -1e30f;
  Vec sum = set1(0);
  for (int c = 0; c < padded; c += W) {
    const Vec e = exp(fma(load(s + c), set1(scale), set1(-shift)));
    store(s + c, e);
    sum = sum + e;
  }
  return reduce_add(sum);
}

static inline float max_row(const float* s, int valid) {
  Vec top = set1(-1e30f);
  for_vectors(valid, [&](int64_t i, int c) { top = max(top, load_n(s + i, c, -1e30f)); });
  return reduce_max(top);
}

/** Blocks of keys start at multiples of kAttentionKeys; the first that a query with this limit sees. */
static inline int first_block(int limit, int window) {
  const int lowest = window == 0 || limit < window ? 0 : limit - window + 1;
  return lowest / kAttentionKeys * kAttentionKeys;
}

/** Rows between two chunks of keys: values weighted by exp(scale * score - high), not yet divided by `sum`. */
struct AttentionState {
  int width;
  float *acc, *high, *sum;  // acc [rows][width]
};

static inline AttentionState state_at(float* memory, int rows, int head_dim) {
  const int width = round_up(head_dim, NR);
  return {width, memory, memory + rows * width, memory + rows * width + rows};
}

/** The keys [from, to] of a chunk into a fresh state. */
static void attend_keys(const AttentionForwardArgs& t, int from, int to, const AttentionState& state) {
  constexpr int K = kAttentionKeys;
  const int hd = t.head_dim, width = state.width;
  float *scores = t.scratch, *acc = state.acc, *high = state.high, *sum = state.sum;
  for (int r = 0; r < t.rows; r++) high[r] = -1e30f, sum[r] = 0;
  for (int k0 = from; k0 <= to; k0 += K) {
    const int keys = to + 1 - k0 < K ? to + 1 - k0 : K;
    const int64_t depth = bf16_depth(hd);
    if (t.narrow != nullptr) t.narrow->bf16.gemm(t.rows, keys, hd, t.q16, depth, t.keys16 + k0 * depth, scores, K, false);
    else gemm({t.rows, round_up(keys, NR), hd, t.q, t.q_row, 1, t.key_panels + static_cast<int64_t>(k0) * hd, NR, static_cast<int64_t>(hd) * NR, scores, K, false});
    for (int r = 0; r < t.rows; r++) {
      float* s = scores + r * K;
      int valid = t.first_limit + r * t.limit_step + 1 - k0;
      const int hidden = t.window == 0 ? 0 : valid - t.window;  // keys of this block before the window
      valid = valid < 0 ? 0 : valid > keys ? keys : valid;
      if (hidden >= valid) valid = 0;
      if (valid > 0) {
        for (int c = 0; c < hidden; c++) s[c] = -1e30f;
        const float block = max_row(s, valid) * t.scale;
        const float top = block > high[r] ? block : high[r];
        const float fade = k0 == from ? 0 : exp_scalar(high[r] - top);
        high[r] = top;
        sum[r] = sum[r] * fade + exp_row(s, valid, t.scale, top);
        if (k0 > from && fade != 1.0f) scale(acc + r * width, fade, width);
      }
      for (int c = valid; c < (t.narrow != nullptr ? K : keys); c++) s[c] = 0;
    }
    if (t.narrow != nullptr) {
      // Values are packed in whole blocks; past the last key the probabilities are zero.
      t.narrow->bf16.rows(scores, K, 1, t.rows, K, t.probabilities16);
      t.narrow->bf16.gemm(t.rows, hd, K, t.probabilities16, K, t.values16 + k0 / K * attention_value_block16(hd), acc, width, k0 > from);
      continue;
    }
    gemm({t.rows, hd, keys, scores, K, 1, t.v + k0 * t.v_row, t.v_row, NR, acc, width, k0 > from});
  }
}

/** The keys of chunk `chunk`, none when the rows see none of it. */
static void attend_chunk(const AttentionForwardArgs& t, int chunk, const AttentionState& state) {
  const int last = t.first_limit + (t.rows - 1) * t.limit_step, first = first_block(t.first_limit, t.window);
  const int begin = chunk * kAttentionChunk, end = begin + kAttentionChunk - 1;
  attend_keys(t, begin > first ? begin : first, end < last ? end : last, state);
}

/** Adds the state of the chunk after those of `state`. Never inlined: products and sums must be joined alike wherever it is called. */
[[gnu::noinline]] static void merge_chunk(int rows, const AttentionState& state, const AttentionState& next) {
  for (int r = 0; r < rows; r++) {
    const float top = state.high[r] > next.high[r] ? state.high[r] : next.high[r];
    const float before = exp_scalar(state.high[r] - top), after = exp_scalar(next.high[r] - top);
    state.high[r] = top;
    state.sum[r] = state.sum[r] * before + next.sum[r] * after;
    float *to = state.acc + r * state.width, *from = next.acc + r * state.width;
    for (int c = 0; c < state.width; c += W) store(to + c, fma(load(from + c), set1(after), load(to + c) * set1(before)));
  }
}

static void finish_rows(const AttentionForwardArgs& t, const AttentionState& state) {
  for (int r = 0; r < t.rows; r++) {
    const float inverse = 1.0f / state.sum[r];
    for_vectors(t.head_dim, [&](int64_t i, int c) { store_n(t.out + r * t.out_row + i, c, set1(inverse) * load_n(state.acc + r * state.width + i, c)); });
    if (t.lse != nullptr) t.lse[r] = state.high[r] + __builtin_logf(state.sum[r]);
  }
}

static void attention_chunk(const AttentionForwardArgs& t, int chunk, float* memory) { attend_chunk(t, chunk, state_at(memory, t.rows, t.head_dim)); }

static void attention_merge(const AttentionForwardArgs& t, int chunks, float* memory) {
  const AttentionState state = state_at(memory, t.rows, t.head_dim);
  for (int i = 1; i < chunks; i++) merge_chunk(t.rows, state, state_at(memory + i * attention_state_floats(t.rows, t.head_dim), t.rows, t.head_dim));
  finish_rows(t, state);
}

static void attention_forward(const AttentionForwardArgs& t) {
  float* memory = t.scratch + kAttentionRows * kAttentionKeys;
  const AttentionState state = state_at(memory, t.rows, t.head_dim), next = state_at(memory + attention_state_floats(kAttentionRows, t.head_dim), t.rows, t.head_dim);
  const int last = t.first_limit + (t.rows - 1) * t.limit_step, first = first_block(t.first_limit, t.window) / kAttentionChunk;
  attend_chunk(t, first, state);
  for (int chunk = first + 1; chunk * kAttentionChunk <= last; chunk++) {
    attend_chunk(t, chunk, next);
    merge_chunk(t.rows, state, next);
  }
  finish_rows(t, state);
}

/** B[j, p] = x[p * row + j]: rows of x become depths, [count] of them (at most kAttentionKeys, padded to it when `whole`). */
static inline void pack_depths(const PackedKernels& p, const float* x, int64_t row, int count, int hd, bool whole, uint16_t* out) {
  if (count == kAttentionKeys || !whole) return p.bf16.pack(x, 1, row, hd, count, out);
  p.bf16.pack(x, 1, row, hd, count, out);
  // The panels were laid out for a smaller depth: spread them from the last one on, zeros behind.
  const int64_t small = bf16_depth(count) * kPanelColumns, full = static_cast<int64_t>(kAttentionKeys) * kPanelColumns;
  for (int64_t j = panel_count(hd) - 1; j >= 0; j--) {
    __builtin_memmove(out + j * full, out + j * small, static_cast<size_t>(small) * 2);
    __builtin_memset(out + j * full + small, 0, static_cast<size_t>(full - small) * 2);
  }
}

/**
 * One row of a block of keys: scores s become probabilities, d (dout v^T) the gradient of the scores. The query sees the keys before
 * `valid`, or the last `window` of them; what it does not see, and all from `keys` to `width`, becomes 0.
 */
static inline void slopes_row(const AttentionBackwardArgs& t, float* s, float* d, int valid, int keys, int width, float lse, float delta) {
  const int hidden = t.window == 0 ? 0 : valid - t.window;
  valid = valid < 0 ? 0 : valid > keys ? keys : valid;
  if (valid > 0) exp_row(s, valid, t.scale, lse);
  for (int c = 0; c < hidden && c < keys; c++) s[c] = 0;
  for (int c = valid; c < width; c++) s[c] = 0;
  for_vectors(keys, [&](int64_t i, int n) { store_n(d + i, n, set1(t.scale) * load_n(s + i, n) * (load_n(d + i, n) - set1(delta))); });
  for (int c = keys; c < width; c++) d[c] = 0;
}

static void attention_backward_narrow(const AttentionBackwardArgs& t) {
  constexpr int R = kAttentionRows, K = kAttentionKeys;
  const PackedKernels& p = *t.narrow;
  const int hd = t.head_dim, total = t.before + t.rows;
  const int64_t depth = bf16_depth(hd), block = attention_value_block16(hd);
  uint16_t* keys16 = t.scratch16;
  uint16_t* values16 = keys16 + attention_key16(total, hd);
  uint16_t* key_depths = values16 + attention_key16(total, hd);
  uint16_t* q16 = key_depths + attention_value16(total, hd);
  uint16_t* dout16 = q16 + R * depth;
  uint16_t* q_depths = dout16 + R * depth;
  uint16_t* dout_depths = q_depths + block;
  uint16_t* rows16 = dout_depths + block;
  float* probs = t.scratch;
  float* dscores = probs + R * K;
  float* delta = dscores + R * K;
  const int lowest = first_block(t.before, t.window);
  for (int k0 = lowest; k0 < total; k0 += K) {
    const int keys = total - k0 < K ? total - k0 : K;
    p.bf16.pack(t.k + k0 * t.kv_row, t.kv_row, 1, keys, hd, keys16 + k0 * depth);
    p.bf16.pack(t.v + k0 * t.kv_row, t.kv_row, 1, keys, hd, values16 + k0 * depth);
    pack_depths(p, t.k + k0 * t.kv_row, t.kv_row, keys, hd, true, key_depths + k0 / K * block);
  }
  for (int r0 = 0; r0 < t.rows; r0 += R) {
    const int rows = t.rows - r0 < R ? t.rows - r0 : R, limit = t.before + r0;
    const float* q = t.q + r0 * t.q_row;
    const float* dout = t.dout + r0 * t.q_row;
    for (int r = 0; r < rows; r++) delta[r] = dot(dout + r * t.q_row, t.out + (r0 + r) * t.q_row, hd);
    p.bf16.rows(q, t.q_row, 1, rows, hd, q16);
    p.bf16.rows(dout, t.q_row, 1, rows, hd, dout16);
    pack_depths(p, q, t.q_row, rows, hd, false, q_depths);
    pack_depths(p, dout, t.q_row, rows, hd, false, dout_depths);
    for (int k0 = first_block(limit, t.window); k0 < limit + rows; k0 += K) {
      const int keys = limit + rows - k0 < K ? limit + rows - k0 : K;
      p.bf16.gemm(rows, keys, hd, q16, depth, keys16 + k0 * depth, probs, K, false);
      p.bf16.gemm(rows, keys, hd, dout16, depth, values16 + k0 * depth, dscores, K, false);
      for (int r = 0; r < rows; r++) slopes_row(t, probs + r * K, dscores + r * K, limit + r + 1 - k0, keys, K, t.lse[r0 + r], delta[r]);
      p.bf16.rows(dscores, K, 1, rows, K, rows16);
      p.bf16.gemm(rows, hd, K, rows16, K, key_depths + k0 / K * block, t.dq + r0 * t.q_row, t.q_row, true);
      p.bf16.rows(dscores, 1, K, keys, rows, rows16);
      p.bf16.gemm(keys, hd, rows, rows16, bf16_depth(rows), q_depths, t.dk + k0 * t.kv_row, t.kv_row, true);
      p.bf16.rows(probs, 1, K, keys, rows, rows16);
      p.bf16.gemm(keys, hd, rows, rows16, bf16_depth(rows), dout_depths, t.dv + k0 * t.kv_row, t.kv_row, true);
    }
  }
}

// With P = exp(scale q k^T - lse), D = rowsum(dout * out): dV = P^T dout, dS = scale P (dout V^T - D), dQ = dS K, dK = dS^T Q.
static void attention_backward(const AttentionBackwardArgs& t) {
  if (t.narrow != nullptr) return attention_backward_narrow(t);
  constexpr int R = kAttentionRows, K = kAttentionKeys;
  const int hd = t.head_dim;
  float* probs = t.scratch;
  float* dscores = probs + R * K;
  float* delta = dscores + R * K;
  for (int r0 = 0; r0 < t.rows; r0 += R) {
    const int rows = t.rows - r0 < R ? t.rows - r0 : R, limit = t.before + r0;
    const float* q = t.q + r0 * t.q_row;
    const float* dout = t.dout + r0 * t.q_row;
    for (int r = 0; r < rows; r++) delta[r] = dot(dout + r * t.q_row, t.out + (r0 + r) * t.q_row, hd);
    for (int k0 = first_block(limit, t.window); k0 < limit + rows; k0 += K) {
      const int keys = limit + rows - k0 < K ? limit + rows - k0 : K;
      const int64_t panel = static_cast<int64_t>(hd) * NR, offset = static_cast<int64_t>(k0) * hd;
      gemm({rows, round_up(keys, NR), hd, q, t.q_row, 1, t.key_panels + offset, NR, panel, probs, K, false});
      gemm({rows, round_up(keys, NR), hd, dout, t.q_row, 1, t.value_panels + offset, NR, panel, dscores, K, false});
      for (int r = 0; r < rows; r++) slopes_row(t, probs + r * K, dscores + r * K, limit + r + 1 - k0, keys, keys, t.lse[r0 + r], delta[r]);
      gemm({rows, hd, keys, dscores, K, 1, t.k + k0 * t.kv_row, t.kv_row, NR, t.dq + r0 * t.q_row, t.q_row, true});
      gemm({keys, hd, rows, dscores, 1, K, q, t.q_row, NR, t.dk + k0 * t.kv_row, t.kv_row, true});
      gemm({keys, hd, rows, probs, 1, K, dout, t.q_row, NR, t.dv + k0 * t.kv_row, t.kv_row, true});
    }
  }
}

}  // namespace tackroom::TACKROOM_ISA
