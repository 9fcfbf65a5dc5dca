/**
 * Matrix product: a register tile of MR rows by one panel (2 vectors) of columns, A read in place by broadcasts.
 *
 * Weights are kept transposed in panels so that the inner loop reads them in sequence; gradients use the row-major
 * matrix itself as B (its rows are panel rows already). A is never copied: its rows are streamed, and a transposed A
 * (dY^T in dW = dY^T X) has its MR elements side by side. With few rows several panels are taken at once instead, to
 * have enough independent sums in flight. k is cut at fixed multiples of kDepth only, so a row's sums do not depend on m.
 */
#pragma once
#include "simd.h"

namespace tackroom::TACKROOM_ISA {

constexpr int kDepth = 192;  // of a panel that stays in the first-level cache
constexpr int kRowBlock = 8 * MR;

/** M rows by V vectors of columns, two vectors a panel. */
template <int M, int V>
static inline __attribute__((always_inline)) void tile(int k, const float* a, int64_t ar, int64_t ak, const float* b, int64_t bk, int64_t bp,
                                                       float* c, int64_t cr, bool accumulate) {
  Vec s[M][V];
#pragma GCC unroll 16
  for (int i = 0; i < M; i++)
#pragma GCC unroll 8
    for (int j = 0; j < V; j++) s[i][j] = set1(0);
  // Three row bases keep every row within reach of base + {0, 1, 2, 3} * ar.
  const float *a0 = a, *a4 = a + 4 * ar, *a8 = a + 8 * ar;
  const int64_t ar3 = 3 * ar;
  for (; k > 0; k--) {
    Vec bv[V];
#pragma GCC unroll 8
    for (int j = 0; j < V; j++) bv[j] = load(b + j / 2 * bp + j % 2 * W);
#pragma GCC unroll 16
    for (int i = 0; i < M; i++) {
      const float* base = i < 4 ? a0 : i < 8 ? a4 : a8;
      const int64_t offset = (i & 3) == 3 ? ar3 : (i & 3) * ar;
      const Vec x = set1(base[offset]);
#pragma GCC unroll 8
      for (int j = 0; j < V; j++) s[i][j] = fma(x, bv[j], s[i][j]);
    }
    b += bk, a0 += ak, a4 += ak, a8 += ak;
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; i++)
#pragma GCC unroll 8
    for (int j = 0; j < V; j++) {
      float* p = c + i * cr + j * W;
      store(p, accumulate ? load(p) + s[i][j] : s[i][j]);
    }
}

/** `rows` <= MR rows of one panel, or of its first half (V = 1). */
template <int V>
static void tile_rows(int rows, int k, const float* a, int64_t ar, int64_t ak, const float* b, int64_t bk, float* c, int64_t cr, bool acc) {
  switch (rows) {
#define TACKROOM_TILE(M) case M: tile<M, V>(k, a, ar, ak, b, bk, 0, c, cr, acc); break;
    TACKROOM_TILE(1) TACKROOM_TILE(2) TACKROOM_TILE(3) TACKROOM_TILE(4)
#if defined(__AVX2__)
    TACKROOM_TILE(5) TACKROOM_TILE(6)
#endif
#if defined(__AVX512F__)
    TACKROOM_TILE(7) TACKROOM_TILE(8) TACKROOM_TILE(9) TACKROOM_TILE(10) TACKROOM_TILE(11) TACKROOM_TILE(12)
#endif
#undef TACKROOM_TILE
  }
}

/** The last panel: columns past `columns` are computed into a side buffer and dropped. Ranks of 8 or 16 take half a panel. */
static void tile_rows_edge(int rows, int columns, int k, const float* a, int64_t ar, int64_t ak, const float* b, int64_t bk, float* c, int64_t cr,
                           bool acc) {
  if (columns == W) return tile_rows<1>(rows, k, a, ar, ak, b, bk, c, cr, acc);
  float side[MR * NR];
  if (columns < W) tile_rows<1>(rows, k, a, ar, ak, b, bk, side, NR, false);
  else tile_rows<2>(rows, k, a, ar, ak, b, bk, side, NR, false);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) c[i * cr + j] = acc ? c[i * cr + j] + side[i * NR + j] : side[i * NR + j];
}

template <int M, int P>
static int wide_tiles(int n, int k, const float* a, int64_t ar, int64_t ak, const float* b, int64_t bk, int64_t bp, float* c, int64_t cr, bool acc) {
  int done = 0;
  for (; done + P * NR <= n; done += P * NR) tile<M, 2 * P>(k, a, ar, ak, b + done / NR * bp, bk, bp, c + done, cr, acc);
  return done;
}

/** Takes P panels at a time where m is small; returns the number of columns done. */
static int wide_rows(int m, int n, int k, const float* a, int64_t ar, int64_t ak, const float* b, int64_t bk, int64_t bp, float* c, int64_t cr,
                     bool acc) {
  switch (m) {
    case 1: return wide_tiles<1, 4>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
    case 2: return wide_tiles<2, 2>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
#if defined(__AVX512F__)
    case 3: return wide_tiles<3, 2>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
    case 4: return wide_tiles<4, 2>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
    case 5: return wide_tiles<5, 2>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
    case 6: return wide_tiles<6, 2>(n, k, a, ar, ak, b, bk, bp, c, cr, acc);
#endif
    default: return 0;
  }
}

static void gemm(const GemmArgs& g) {
  for (int k0 = 0; k0 < g.k; k0 += kDepth) {
    const int kc = g.k - k0 < kDepth ? g.k - k0 : kDepth;
    const bool acc = g.accumulate || k0 > 0;
    const float* a = g.a + k0 * g.a_k;
    const float* b = g.b + k0 * g.b_k;
    const int first = wide_rows(g.m, g.n, kc, a, g.a_row, g.a_k, b, g.b_k, g.b_panel, g.c, g.c_row, acc);
    for (int m0 = 0; m0 < g.m; m0 += kRowBlock) {
      const int m1 = m0 + kRowBlock < g.m ? m0 + kRowBlock : g.m;
      for (int n0 = first; n0 < g.n; n0 += NR) {
        const float* panel = b + n0 / NR * g.b_panel;
        const int columns = g.n - n0 < NR ? g.n - n0 : NR;
        for (int m = m0; m < m1; m += MR) {
          const int rows = m1 - m < MR ? m1 - m : MR;
          const float* am = a + m * g.a_row;
          float* cm = g.c + m * g.c_row + n0;
          if (columns == NR) tile_rows<2>(rows, kc, am, g.a_row, g.a_k, panel, g.b_k, cm, g.c_row, acc);
          else tile_rows_edge(rows, columns, kc, am, g.a_row, g.a_k, panel, g.b_k, cm, g.c_row, acc);
        }
      }
    }
  }
}

static void pack_panels(const float* w, int64_t ldw, int n, int k, float* panels) {
  for (int n0 = 0; n0 < n; n0 += NR, panels += static_cast<int64_t>(k) * NR) {
    const int columns = n - n0 < NR ? n - n0 : NR;
    // 16 depths at a time: each source row gives one cache line, and the destination block stays in L1.
    for (int k0 = 0; k0 < k; k0 += 16) {
      const int kc = k - k0 < 16 ? k - k0 : 16;
      for (int j = 0; j < NR; j++) {
        const float* source = w + (n0 + j) * ldw + k0;
        float* target = panels + static_cast<int64_t>(k0) * NR + j;
        if (j < columns)
          for (int p = 0; p < kc; p++) target[p * NR] = source[p];
        else
          for (int p = 0; p < kc; p++) target[p * NR] = 0;
      }
    }
  }
}

}  // namespace tackroom::TACKROOM_ISA
