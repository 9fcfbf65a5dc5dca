/**
 * Causal attention in blocks of queries by blocks of keys, never holding more than one block of scores.
 *
 * Forward keeps a running maximum and sum per row (online softmax, Milakov & Gimelshein 2018; FlashAttention, Dao et al.
 * 2022) and saves log-sum-exp; backward recomputes the probabilities from it. Keys come transposed in panels, because
 * q k^T then needs no horizontal sums, neither for a block of a prompt nor for the one row of a decode step. Key blocks
 * start at multiples of kAttentionKeys whatever the number of queries, so a row's result is the same in both.
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

static void attention_forward(const AttentionForwardArgs& t) {
  constexpr int K = kAttentionKeys;
  const int hd = t.head_dim, width = round_up(hd, NR);
  float* scores = t.scratch;
  float* acc = scores + kAttentionRows * K;
  float* high = acc + kAttentionRows * width;
  float* sum = high + kAttentionRows;
  for (int r = 0; r < t.rows; r++) high[r] = -1e30f, sum[r] = 0;
  const int last = t.first_limit + (t.rows - 1) * t.limit_step;
  for (int k0 = 0; k0 <= last; k0 += K) {
    const int keys = last + 1 - k0 < K ? last + 1 - k0 : K;
    gemm({t.rows, round_up(keys, NR), hd, t.q, t.q_row, 1, t.key_panels + static_cast<int64_t>(k0) * hd, NR, static_cast<int64_t>(hd) * NR, scores, K, false});
    for (int r = 0; r < t.rows; r++) {
      float* s = scores + r * K;
      int valid = t.first_limit + r * t.limit_step + 1 - k0;
      valid = valid < 0 ? 0 : valid > keys ? keys : valid;
      if (valid > 0) {
        const float block = max_row(s, valid) * t.scale;
        const float top = block > high[r] ? block : high[r];
        const float fade = k0 == 0 ? 0 : exp_scalar(high[r] - top);
        high[r] = top;
        sum[r] = sum[r] * fade + exp_row(s, valid, t.scale, top);
        if (k0 > 0 && fade != 1.0f) scale(acc + r * width, fade, width);
      }
      for (int c = valid; c < keys; c++) s[c] = 0;
    }
    gemm({t.rows, hd, keys, scores, K, 1, t.v + k0 * t.v_row, t.v_row, NR, acc, width, k0 > 0});
  }
  for (int r = 0; r < t.rows; r++) {
    const float inverse = 1.0f / sum[r];
    for_vectors(hd, [&](int64_t i, int c) { store_n(t.out + r * t.out_row + i, c, set1(inverse) * load_n(acc + r * width + i, c)); });
    if (t.lse != nullptr) t.lse[r] = high[r] + __builtin_logf(sum[r]);
  }
}

// With P = exp(scale q k^T - lse), D = rowsum(dout * out): dV = P^T dout, dS = scale P (dout V^T - D), dQ = dS K, dK = dS^T Q.
static void attention_backward(const AttentionBackwardArgs& t) {
  constexpr int R = kAttentionRows, K = kAttentionKeys;
  const int hd = t.head_dim;
  float* probs = t.scratch;
  float* dscores = probs + R * K;
  float* delta = dscores + R * K;
  for (int r0 = 0; r0 < t.tokens; r0 += R) {
    const int rows = t.tokens - r0 < R ? t.tokens - r0 : R;
    const float* q = t.q + r0 * t.q_row;
    const float* dout = t.dout + r0 * t.q_row;
    for (int r = 0; r < rows; r++) delta[r] = dot(dout + r * t.q_row, t.out + (r0 + r) * t.q_row, hd);
    for (int k0 = 0; k0 < r0 + rows; k0 += K) {
      const int keys = r0 + rows - k0 < K ? r0 + rows - k0 : K;
      const int64_t panel = static_cast<int64_t>(hd) * NR, offset = static_cast<int64_t>(k0) * hd;
      gemm({rows, round_up(keys, NR), hd, q, t.q_row, 1, t.key_panels + offset, NR, panel, probs, K, false});
      gemm({rows, round_up(keys, NR), hd, dout, t.q_row, 1, t.value_panels + offset, NR, panel, dscores, K, false});
      for (int r = 0; r < rows; r++) {
        float *p = probs + r * K, *d = dscores + r * K;
        int valid = r0 + r + 1 - k0;
        valid = valid < 0 ? 0 : valid > keys ? keys : valid;
        if (valid > 0) exp_row(p, valid, t.scale, t.lse[r0 + r]);
        for (int c = valid; c < keys; c++) p[c] = 0;
        for_vectors(keys, [&](int64_t i, int n) {
          store_n(d + i, n, set1(t.scale) * load_n(p + i, n) * (load_n(d + i, n) - set1(delta[r])));
        });
      }
      gemm({rows, hd, keys, dscores, K, 1, t.k + k0 * t.kv_row, t.kv_row, NR, t.dq + r0 * t.q_row, t.q_row, true});
      gemm({keys, hd, rows, dscores, 1, K, q, t.q_row, NR, t.dk + k0 * t.kv_row, t.kv_row, true});
      gemm({keys, hd, rows, probs, 1, K, dout, t.q_row, NR, t.dv + k0 * t.kv_row, t.kv_row, true});
    }
  }
}

}  // namespace tackroom::TACKROOM_ISA
