/** Conversions for AVX-512: rows and panels of bf16, quantisation of rows. The results are those of the portable bodies. */
#include "packed_avx512_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

/** Loads the depths p and p + 1 of 16 rows that lie side by side and pairs them. */
static inline __m512i side_by_side(const float* x, int64_t column, int p, int k, __mmask16 rows) {
  if (p >= k) return _mm512_setzero_si512();
  const __m512 first = _mm512_maskz_loadu_ps(rows, x + p * column);
  const __m512 second = p + 1 < k ? _mm512_maskz_loadu_ps(rows, x + (p + 1) * column) : _mm512_setzero_ps();
  return pair_bf16(first, second);
}

/** 32 consecutive depths of one row as 16 pairs. */
static inline __m512i consecutive(const float* x, int p, int k) {
  const int left = k - p;
  const __m512 a = _mm512_maskz_loadu_ps(first_lanes(left), x + p), b = _mm512_maskz_loadu_ps(first_lanes(left - 16), x + p + 16);
  return _mm512_inserti64x4(_mm512_castsi256_si512(to_bf16(a)), to_bf16(b), 1);
}

static inline void rows_block(const float* x, int64_t row, int64_t column, int p, int k, int rows, __m512i* out) {
  if (column == 1) {
    for (int i = 0; i < 16; i++) out[i] = i < rows ? consecutive(x + i * row, p, k) : _mm512_setzero_si512();
  } else if (row == 1) {
    for (int j = 0; j < 16; j++) out[j] = side_by_side(x, column, p + 2 * j, k, first_lanes(rows));
    transpose16(out);
  } else {
    alignas(64) uint16_t side[16][32] = {};
    for (int i = 0; i < rows; i++)
      for (int e = 0; e < 32 && p + e < k; e++) side[i][e] = bf16_from(x[i * row + (p + e) * column]);
    for (int i = 0; i < 16; i++) out[i] = _mm512_load_si512(side[i]);
  }
}

static void rows_to_bf16(const float* x, int64_t row, int64_t column, int m, int k, uint16_t* out) {
  const int64_t depth = bf16_depth(k);
  if (column == 1) {
    for (int i = 0; i < m; i++)
      for (int p = 0; p < k; p += 32) _mm512_storeu_si512(out + i * depth + p, consecutive(x + i * row, p, k));
    return;
  }
  __m512i block[16];
  for (int i = 0; i < m; i += 16) {
    const int rows = m - i < 16 ? m - i : 16;
    for (int p = 0; p < k; p += 32) {
      rows_block(x + i * row, row, column, p, k, rows, block);
      for (int r = 0; r < rows; r++) _mm512_storeu_si512(out + (i + r) * depth + p, block[r]);
    }
  }
}

static void pack_bf16(const float* b, int64_t row, int64_t column, int n, int k, uint16_t* panels) {
  const int64_t depth = bf16_depth(k);
  __m512i block[16];
  for (int j = 0; j < n; j += kPanelColumns, panels += depth * kPanelColumns) {
    const int rows = n - j < kPanelColumns ? n - j : kPanelColumns;
    for (int p = 0; p < k; p += 32) {
      if (row == 1) {
        for (int e = 0; e < 16; e++) block[e] = side_by_side(b + j, column, p + 2 * e, k, first_lanes(rows));
      } else {
        rows_block(b + j * row, row, column, p, k, rows, block);
        transpose16(block);
      }
      for (int e = 0; e < 16; e++) _mm512_storeu_si512(panels + (p + 2 * e) * kPanelColumns, block[e]);
    }
  }
}

/** Lane g of the result: the reduction of vector g, of integers without a sign for `max`. */
template <class Reduce>
static inline __m128i reduce_four(const __m512i* v, Reduce reduce) {
  const __m512i a = reduce(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
  const __m512i b = reduce(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
  const __m512i lanes = reduce(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m512i halves = reduce(lanes, _mm512_shuffle_i64x2(lanes, lanes, 0x4e));
  return _mm512_castsi512_si128(reduce(halves, _mm512_shuffle_i64x2(halves, halves, 0xb1)));
}

/** Quantises the first n <= 4 groups of x [4][2] vectors; those from n on are zero. */
static inline void quantize_groups(const __m512* x, int n, int8_t* q, float* scales, int32_t* sums) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i high[4];
#pragma GCC unroll 4
  for (int g = 0; g < 4; g++)
    high[g] = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(x[2 * g]), magnitude), _mm512_and_si512(_mm512_castps_si512(x[2 * g + 1]), magnitude));
  const __m128i top = reduce_four(high, [](__m512i a, __m512i b) { return _mm512_max_epi32(a, b); });
  const __m128 largest = _mm_castsi128_ps(top), limit = _mm_set1_ps(127.0f);
  const __mmask8 finite = _mm_cmplt_epi32_mask(top, _mm_set1_epi32(0x7f800000)), some = _mm_cmpge_epi32_mask(top, _mm_castps_si128(_mm_set1_ps(kLeastMagnitude)));
  __m128 scale = _mm_mask_div_ps(_mm_set1_ps(__builtin_nanf("")), finite, largest, limit);
  scale = _mm_maskz_mov_ps(some, scale);
  const __m128 inverse = _mm_maskz_div_ps(finite & some, limit, largest);
  __m512i values[8];
#pragma GCC unroll 4
  for (int g = 0; g < 4; g++) {
    const __m512 by = _mm512_permutexvar_ps(_mm512_set1_epi32(g), _mm512_castps128_ps512(inverse));
    const __mmask16 keep = (finite & some) >> g & 1 ? 0xffff : 0;
    values[2 * g] = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(x[2 * g], by));
    values[2 * g + 1] = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(x[2 * g + 1], by));
  }
  const auto add = [](__m512i a, __m512i b) { return _mm512_add_epi32(a, b); };
  const __mmask8 groups = static_cast<__mmask8>((1 << n) - 1);
  _mm_mask_storeu_ps(scales, groups, scale);
  _mm256_mask_storeu_epi32(sums, static_cast<__mmask8>((1 << 2 * n) - 1), _mm256_set_m128i(reduce_four(values + 4, add), reduce_four(values, add)));
  for (int v = 0; v < 2 * n; v++) _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 16 * v), _mm512_cvtepi32_epi8(values[v]));
}

static void quantize_rows(const float* x, int64_t row, int m, int in, int8_t* q, float* scales, int32_t* sums) {
  for (int i = 0; i < m; i++, x += row)
    for (int p = 0; p < in; p += 4 * kInt8Group) {
      const int n = in - p < 4 * kInt8Group ? (in - p) / kInt8Group : 4;
      __m512 v[8];
#pragma GCC unroll 8
      for (int j = 0; j < 8; j++) v[j] = j < 2 * n ? _mm512_loadu_ps(x + p + 16 * j) : _mm512_setzero_ps();
      quantize_groups(v, n, q, scales, sums);
      q += n * kInt8Group, scales += n, sums += 2 * n;
    }
}

/**
 * bf16 products by fp32 arithmetic: a pair of depths becomes two vectors by a shift and a mask. Every sum is one chain over the depths in
 * ascending order, so that a row's result does not depend on the block it falls into. a: fp32 rows [M][depth], zeros from `used` on.
 */
template <int M, int P>
static void tile(int64_t depth, int64_t used, const float* a, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const int64_t panel = depth * kPanelColumns;
  __m512 s[M][P];
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
#pragma GCC unroll 8
    for (int j = 0; j < P; j++) s[i][j] = _mm512_setzero_ps();
  for (int64_t p = 0; p < used; p += 2) {
    __m512 v[P];
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
#pragma GCC unroll 8
      for (int j = 0; j < P; j++) {
        const uint16_t* source = b + j * panel + p * kPanelColumns;
        // The next P panels, or in attention the next block: few rows compute little for what they read.
        if constexpr (M <= 8)
          if (half == 0) _mm_prefetch(reinterpret_cast<const char*>(source + P * panel), _MM_HINT_T0);
        const __m512i pair = _mm512_loadu_si512(source);
        v[j] = _mm512_castsi512_ps(half == 0 ? _mm512_slli_epi32(pair, 16) : _mm512_and_si512(pair, upper));
      }
#pragma GCC unroll 12
      for (int i = 0; i < M; i++) {
        const __m512 x = _mm512_set1_ps(a[i * depth + p + half]);
#pragma GCC unroll 8
        for (int j = 0; j < P; j++) s[i][j] = _mm512_fmadd_ps(x, v[j], s[i][j]);
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
#pragma GCC unroll 8
    for (int j = 0; j < P; j++) put_row(s[i][j], c + i * c_row + j * kPanelColumns, first_lanes(columns - j * kPanelColumns), accumulate);
}

/** M rows by the panels from column n on, P at a time, then half of that. */
template <int M, int P>
static void tile_panels(int n, int64_t depth, int64_t used, const float* a, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  for (; n + (P - 1) * kPanelColumns < columns; n += P * kPanelColumns) tile<M, P>(depth, used, a, b + n * depth, columns - n, c + n, c_row, accumulate);
  if constexpr (P > 1) tile_panels<M, P / 2>(n, depth, used, a, b, columns, c, c_row, accumulate);
}

static void gemm_bf16(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate) {
  constexpr int kMostRows = 12;
  const int64_t depth = bf16_depth(k);
  float* rows = static_cast<float*>(packed_scratch(static_cast<size_t>(kMostRows * depth) * sizeof(float)));
  for (int first = 0; first < m; first += kMostRows) {
    const int count = m - first < kMostRows ? m - first : kMostRows;
    int64_t used = 0;  // depths, from which on all rows are zero
    for (int i = 0; i < count; i++)
      for (int64_t p = 0; p < depth; p += 16) {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + (first + i) * a_row + p));
        if (p >= used && !_mm256_testz_si256(words, words)) used = p + 16;
        _mm512_store_si512(rows + i * depth + p, _mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16));
      }
    float* out = c + first * c_row;
    switch (count) {
#define TACKROOM_TILE(M, P) case M: tile_panels<M, P>(0, depth, used, rows, b, columns, out, c_row, accumulate); break;
      TACKROOM_TILE(1, 8) TACKROOM_TILE(2, 4) TACKROOM_TILE(3, 4) TACKROOM_TILE(4, 4) TACKROOM_TILE(5, 4) TACKROOM_TILE(6, 2)
      TACKROOM_TILE(7, 2) TACKROOM_TILE(8, 2) TACKROOM_TILE(9, 2) TACKROOM_TILE(10, 2) TACKROOM_TILE(11, 2) TACKROOM_TILE(12, 2)
#undef TACKROOM_TILE
    }
  }
}

static void expand_rows(const PackedWeights& w, int panel, float* out, int64_t row) {
  for_depth_blocks(w, panel, [=](int p, int n, const __m512* values) {
    __m512i block[16];
    for (int e = 0; e < 16; e++) block[e] = _mm512_castps_si512(values[e]);
    transpose16(block);
    for (int c = 0; c < 16; c++) _mm512_mask_storeu_epi32(out + c * row + p, first_lanes(n), block[c]);
  });
}

static void expand_depth(const PackedWeights& w, int panel, int panels, float* out) {
  const int64_t width = int64_t{kPanelColumns} * panels;
  for (int i = 0; i < panels; i++)
    for_depth_blocks(w, panel + i, [=](int p, int n, const __m512* values) {
      for (int e = 0; e < n; e++) _mm512_storeu_ps(out + (p + e) * width + i * kPanelColumns, values[e]);
    });
}

static void expand_bf16(const PackedWeights& w, int panel, uint16_t* out) {
  for_depth_blocks(w, panel, [=](int p, int, const __m512* values) {
    for (int e = 0; e < 16; e += 2) _mm512_storeu_si512(out + (p + e) * kPanelColumns, pair_bf16(values[e], values[e + 1]));
  });
}

}  // namespace TACKROOM_ISA

void add_avx512_bodies(PackedKernels& table) {
  using namespace TACKROOM_ISA;
  table.bf16.rows = rows_to_bf16;
  table.bf16.pack = pack_bf16;
  table.bf16.body = "avx512";
  table.bf16.gemm = gemm_bf16;
  table.quantize_rows = quantize_rows;
  table.expand_rows = expand_rows;
  table.expand_depth = expand_depth;
  table.bf16.expand = expand_bf16;
}

}  // namespace tackroom
