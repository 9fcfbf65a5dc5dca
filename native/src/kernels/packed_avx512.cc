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

static void quantize_rows(const float* x, int64_t row, int m, int in, int8_t* q, float* scales, int32_t* sums) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  for (int i = 0; i < m; i++)
    for (int p = 0; p < in; p += kInt8Group, q += kInt8Group) {
      const __m512 a = _mm512_loadu_ps(x + i * row + p), b = _mm512_loadu_ps(x + i * row + p + 16);
      const __m512i high = _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(a), magnitude), _mm512_and_si512(_mm512_castps_si512(b), magnitude));
      const uint32_t top = _mm512_reduce_max_epu32(high);
      float scale = from_bits(top) / 127.0f;
      const __m512 inverse = _mm512_set1_ps(127.0f / from_bits(top));
      if (top >= 0x7f800000) scale = __builtin_nanf("");
      if (from_bits(top) < kLeastMagnitude) scale = 0;
      const __mmask16 keep = scale > 0 ? 0xffff : 0;
      const __m512i qa = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(a, inverse)), qb = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(b, inverse));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm512_cvtepi32_epi8(qa));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 16), _mm512_cvtepi32_epi8(qb));
      *scales++ = scale;
      *sums++ = _mm512_reduce_add_epi32(qa);
      *sums++ = _mm512_reduce_add_epi32(qb);
    }
}

/** The values of the depths 4j + e of a group, 16 columns, from its vector j of integers. */
static inline __m512 depth_values(__m512i quads, int e, __m512i offset, __m512 scale, const __m512* minimum) {
  const __m512i u = _mm512_and_si512(_mm512_srl_epi32(quads, _mm_cvtsi32_si128(8 * e)), _mm512_set1_epi32(255));
  const __m512 value = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(_mm512_sub_epi32(u, offset)));
  return minimum == nullptr ? value : _mm512_add_ps(value, *minimum);
}

/** Calls put(depth, vectors) with the values of 16 depths from `depth` on, a vector of 16 columns for each. */
template <class Put>
static inline void for_depth_blocks(const PackedWeights& w, int panel, Put put) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const __m512i offset = _mm512_set1_epi32(w.offset);
  __m512i u[8];
  __m512 values[16];
  for (int p = 0; p < w.in; p += 16) {
    if (p % 32 == 0) load_integers(w.bits, data, p, u);
    const int64_t index = panel * w.panel_scales() + p / w.group * kPanelColumns;
    const __m512 scale = factors(w.wide_scales, w.scales, index);
    __m512 minimum;
    if (w.minimums != nullptr) minimum = factors(w.wide_scales, w.minimums, index);
#pragma GCC unroll 16
    for (int e = 0; e < 16; e++) values[e] = depth_values(u[p % 32 / 4 + e / 4], e % 4, offset, scale, w.minimums == nullptr ? nullptr : &minimum);
    put(p, values);
  }
}

static void expand_rows(const PackedWeights& w, int panel, float* out, int64_t row) {
  for_depth_blocks(w, panel, [=](int p, const __m512* values) {
    __m512i block[16];
    for (int e = 0; e < 16; e++) block[e] = _mm512_castps_si512(values[e]);
    transpose16(block);
    for (int c = 0; c < 16; c++) _mm512_storeu_si512(out + c * row + p, block[c]);
  });
}

static void expand_depth(const PackedWeights& w, int panel, int panels, float* out) {
  const int64_t width = int64_t{kPanelColumns} * panels;
  for (int i = 0; i < panels; i++)
    for_depth_blocks(w, panel + i, [=](int p, const __m512* values) {
      for (int e = 0; e < 16; e++) _mm512_storeu_ps(out + (p + e) * width + i * kPanelColumns, values[e]);
    });
}

static void expand_bf16(const PackedWeights& w, int panel, uint16_t* out) {
  for_depth_blocks(w, panel, [=](int p, const __m512* values) {
    for (int e = 0; e < 16; e += 2) _mm512_storeu_si512(out + (p + e) * kPanelColumns, pair_bf16(values[e], values[e + 1]));
  });
}

}  // namespace TACKROOM_ISA

void add_avx512_bodies(PackedKernels& table) {
  using namespace TACKROOM_ISA;
  table.rows_to_bf16 = rows_to_bf16;
  table.pack_bf16 = pack_bf16;
  table.quantize_rows = quantize_rows;
  table.expand_rows = expand_rows;
  table.expand_depth = expand_depth;
  table.expand_bf16 = expand_bf16;
}

}  // namespace tackroom
