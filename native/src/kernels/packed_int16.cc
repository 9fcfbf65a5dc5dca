/**
 * Products of 13-bit integers with a scale for a block of depths, by vpdpwssd: twice the multiply-adds of fp32 in an instruction. A block's
 * sums of integers are exact, so only their scaled sum is rounded.
 */
#include "packed_avx512_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

constexpr float kLeastMagnitude16 = 0x1p-114f;  // as in packed_portable_impl.h
constexpr int kMostRows = 12;
constexpr int kBlocksTogether = 6;            // what of a pair of panels and of 12 rows the first-level cache about holds
constexpr int64_t kRowBytes = 512 << 10;        // of A that stay in the second-level cache while the panels pass by

static inline __m512i magnitude(__m512 x) { return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff)); }

/** Scales of 16 rows or columns from the bits of their largest magnitudes, and the factors that make integers: 0 where there are none. */
static inline __m512 int16_scales(__m512i top, __m512* inverse) {
  const __m512 largest = _mm512_castsi512_ps(top), limit = _mm512_set1_ps(kInt16Limit);
  const __mmask16 finite = _mm512_cmplt_epi32_mask(top, _mm512_set1_epi32(0x7f800000));
  const __mmask16 some = _mm512_cmpge_epi32_mask(top, _mm512_castps_si512(_mm512_set1_ps(kLeastMagnitude16)));
  *inverse = _mm512_maskz_div_ps(finite & some, limit, largest);
  return _mm512_maskz_mov_ps(some, _mm512_mask_div_ps(_mm512_set1_ps(__builtin_nanf("")), finite, largest, limit));
}

/** 0 where the factor is, also for a NaN. */
static inline __m512i integers(__m512 x, __m512 inverse, __mmask16 some) { return _mm512_maskz_cvtps_epi32(some, _mm512_mul_ps(x, inverse)); }

static inline __m512i pair_of(__m512i first, __m512i second) { return _mm512_mask_blend_epi16(0xaaaaaaaa, first, _mm512_slli_epi32(second, 16)); }

/** Loads `depths` of up to 16 rows as vectors of the rows, zeros up to a multiple of 32; returns the largest magnitudes. */
static inline __m512i load_block(const float* x, int64_t row, int64_t column, int rows, int depths, __m512* v) {
  __m512i top = _mm512_setzero_si512();
  const __mmask16 lanes = first_lanes(rows);
  if (row == 1) {
    for (int p = 0; p < depths; p++) v[p] = _mm512_maskz_loadu_ps(lanes, x + p * column);
  } else if (column == 1) {
    for (int p = 0; p < depths; p += 16) {
      __m512i square[16];
      for (int i = 0; i < 16; i++) square[i] = i < rows ? _mm512_maskz_loadu_epi32(first_lanes(depths - p), x + i * row + p) : _mm512_setzero_si512();
      transpose16(square);
      for (int e = 0; e < 16; e++) v[p + e] = _mm512_castsi512_ps(square[e]);
    }
  } else {
    alignas(64) float side[16] = {};
    for (int p = 0; p < depths; p++) {
      for (int i = 0; i < rows; i++) side[i] = x[i * row + p * column];
      v[p] = _mm512_load_ps(side);
    }
  }
  for (int p = 0; p < depths; p++) top = _mm512_max_epi32(top, magnitude(v[p]));
  for (int64_t p = depths; p < bf16_depth(depths); p++) v[p] = _mm512_setzero_ps();
  return top;
}

static inline int block_depths(int left) { return left < kInt16Block ? left : kInt16Block; }

static void rows_to_int16(const float* x, int64_t row, int64_t column, int m, int k, uint16_t* out) {
  const int64_t words = bf16_depth(k) + (k + kInt16Block - 1) / kInt16Block * 2;
  if (column == 1) {
    for (int i = 0; i < m; i++)
      for (int p = 0; p < k; p += kInt16Block) {
        const int depths = block_depths(k - p);
        const float* source = x + i * row + p;
        __m512i top = _mm512_setzero_si512();
        __m512 v[kInt16Block / 16];
        for (int e = 0; e < kInt16Block; e += 16) {
          v[e / 16] = _mm512_maskz_loadu_ps(first_lanes(depths - e), source + (e < depths ? e : 0));
          top = _mm512_max_epi32(top, magnitude(v[e / 16]));
        }
        __m512 inverse;
        const __m512 scale = int16_scales(_mm512_set1_epi32(_mm512_reduce_max_epi32(top)), &inverse);
        const __mmask16 some = _mm512_cmpneq_ps_mask(inverse, _mm512_setzero_ps());
        for (int e = 0; e < bf16_depth(depths); e += 16)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + e), _mm512_cvtepi32_epi16(integers(v[e / 16], inverse, some)));
        _mm_store_ss(reinterpret_cast<float*>(out + bf16_depth(depths)), _mm512_castps512_ps128(scale));
        out += bf16_depth(depths) + 2;
      }
    return;
  }
  __m512 v[kInt16Block];
  for (int i = 0; i < m; i += 16, out += 16 * words) {
    const int rows = m - i < 16 ? m - i : 16;
    uint16_t* target = out;
    for (int p = 0; p < k; p += kInt16Block) {
      const int depths = block_depths(k - p);
      __m512 inverse;
      alignas(64) float scales[16];
      _mm512_store_ps(scales, int16_scales(load_block(x + i * row + p * column, row, column, rows, depths, v), &inverse));
      const __mmask16 some = _mm512_cmpneq_ps_mask(inverse, _mm512_setzero_ps());
      for (int e = 0; e < depths; e += 32) {
        __m512i pairs[16];
        for (int j = 0; j < 16; j++) pairs[j] = pair_of(integers(v[e + 2 * j], inverse, some), integers(v[e + 2 * j + 1], inverse, some));
        transpose16(pairs);
        for (int r = 0; r < rows; r++) _mm512_storeu_si512(target + r * words + e, pairs[r]);
      }
      target += bf16_depth(depths);
      for (int r = 0; r < rows; r++) __builtin_memcpy(target + r * words, scales + r, 4);
      target += 2;
    }
  }
}

/** A block of a panel from its depths, zeros up to a multiple of 32; returns where the next begins. */
static inline uint16_t* put_block(const __m512* v, __m512i top, int depths, uint16_t* out) {
  __m512 inverse;
  const __m512 scales = int16_scales(top, &inverse);
  const __mmask16 some = _mm512_cmpneq_ps_mask(inverse, _mm512_setzero_ps());
  for (int64_t p = 0; p < bf16_depth(depths); p += 2, out += 2 * kPanelColumns)
    _mm512_storeu_si512(out, pair_of(integers(v[p], inverse, some), integers(v[p + 1], inverse, some)));
  _mm512_storeu_ps(reinterpret_cast<float*>(out), scales);
  return out + 2 * kPanelColumns;
}

static void pack_int16(const float* b, int64_t row, int64_t column, int n, int k, uint16_t* panels) {
  __m512 v[kInt16Block];
  for (int j = 0; j < n; j += kPanelColumns)
    for (int p = 0; p < k; p += kInt16Block) {
      const int depths = block_depths(k - p);
      const __m512i top = load_block(b + j * row + p * column, row, column, n - j < kPanelColumns ? n - j : kPanelColumns, depths, v);
      panels = put_block(v, top, depths, panels);
    }
}

static void expand_int16(const PackedWeights& w, int panel, uint16_t* out) {
  __m512 v[kInt16Block];
  __m512i top = _mm512_setzero_si512();
  for_depth_blocks(w, panel, [&](int p, int n, const __m512* values) {
    const int at = p % kInt16Block;
    for (int e = 0; e < 16; e++) v[at + e] = values[e], top = _mm512_max_epi32(top, magnitude(values[e]));
    if (at + 16 != kInt16Block && p + 16 < w.in) return;
    const int depths = at + n;
    for (int64_t e = at + 16; e < bf16_depth(depths); e++) v[e] = _mm512_setzero_ps();
    out = put_block(v, top, depths, out);
    top = _mm512_setzero_si512();
  });
}

/** In place: GCC 12 copies the sums of the intrinsic from register to register, and to the stack. */
static inline __attribute__((always_inline)) void add_products(__m512i& sum, __m512i x, __m512i v) { __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(v)); }

/** Adds one block of `pairs` pairs of depths to M rows by P panels of C, the first of them `whole` wide but the last. */
template <int M, int P>
static inline __attribute__((always_inline)) void tile(int64_t pairs, const uint16_t* a, int64_t a_row, const uint16_t* b, int64_t panel, int columns, float* c,
                                                       int64_t c_row, bool accumulate) {
  __m512i s[M][P];
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) s[i][j] = _mm512_setzero_si512();
  // Three row bases keep every row within reach of base + {0, 1, 2, 3} * a_row.
  const char *a0 = reinterpret_cast<const char*>(a), *a4 = a0 + 8 * a_row, *a8 = a0 + 16 * a_row;
  const int64_t ar = 2 * a_row, ar3 = 3 * ar;
  for (int64_t left = pairs; left > 0; left--) {
    __m512i v[P];
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) v[j] = _mm512_loadu_si512(b + j * panel);
#pragma GCC unroll 12
    for (int i = 0; i < M; i++) {
      const char* base = i < 4 ? a0 : i < 8 ? a4 : a8;
      int32_t word;
      __builtin_memcpy(&word, base + ((i & 3) == 3 ? ar3 : (i & 3) * ar), 4);
      const __m512i x = _mm512_set1_epi32(word);
#pragma GCC unroll 4
      for (int j = 0; j < P; j++) add_products(s[i][j], x, v[j]);
    }
    b += 2 * kPanelColumns, a0 += 4, a4 += 4, a8 += 4;
  }
  // Where the depths end the scales stand.
#pragma GCC unroll 12
  for (int i = 0; i < M; i++) {
    const char* base = i < 4 ? a0 : i < 8 ? a4 : a8;
    float scale;
    __builtin_memcpy(&scale, base + ((i & 3) == 3 ? ar3 : (i & 3) * ar), 4);
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) {
      const __mmask16 lanes = first_lanes(columns - j * kPanelColumns);
      float* out = c + i * c_row + j * kPanelColumns;
      const __m512 by = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(b + j * panel));
      const __m512 old = accumulate ? _mm512_maskz_loadu_ps(lanes, out) : _mm512_setzero_ps();
      _mm512_mask_storeu_ps(out, lanes, _mm512_fmadd_ps(_mm512_cvtepi32_ps(s[i][j]), by, old));
    }
  }
}

/** The blocks [begin, end) of a tile; the last of all, `tail` depths long, may be shorter. */
struct Blocks {
  int begin, end, count;
  int64_t tail, panel;
};

template <int M, int P>
static void tile_blocks(const Blocks& blocks, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  for (int block = blocks.begin; block < blocks.end; block++) {
    const int64_t at = int64_t{block} * (kInt16Block + 2);
    tile<M, P>((block == blocks.count - 1 ? blocks.tail : kInt16Block) / 2, a + at, a_row, b + at * kPanelColumns, blocks.panel, columns, c, c_row,
               accumulate || block > 0);
  }
}

template <int P>
static void tile_rows(int rows, const Blocks& blocks, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool acc) {
  switch (rows) {
#define TACKROOM_TILE(M) case M: tile_blocks<M, P>(blocks, a, a_row, b, columns, c, c_row, acc); break;
    TACKROOM_TILE(1) TACKROOM_TILE(2) TACKROOM_TILE(3) TACKROOM_TILE(4) TACKROOM_TILE(5) TACKROOM_TILE(6)
    TACKROOM_TILE(7) TACKROOM_TILE(8) TACKROOM_TILE(9) TACKROOM_TILE(10) TACKROOM_TILE(11) TACKROOM_TILE(12)
#undef TACKROOM_TILE
  }
}

static void few_rows(int rows, const Blocks& blocks, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool acc) {
  switch (rows) {
#define TACKROOM_TILE(M) case M: tile_blocks<M, 4>(blocks, a, a_row, b, columns, c, c_row, acc); break;
    TACKROOM_TILE(1) TACKROOM_TILE(2) TACKROOM_TILE(3) TACKROOM_TILE(4)
#undef TACKROOM_TILE
  }
}

/** Rows [first, last) of the product. */
static void gemm_chunk(int64_t first, int64_t last, int columns, Blocks blocks, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row,
                       bool accumulate) {
  const int64_t panel = blocks.panel;
  int n = 0;
  if (last - first <= 4) {
    blocks.begin = 0, blocks.end = blocks.count;
    for (; n + 4 * kPanelColumns <= columns; n += 4 * kPanelColumns)
      few_rows(static_cast<int>(last - first), blocks, a + first * a_row, a_row, b + n / kPanelColumns * panel, columns - n, c + first * c_row + n, c_row, accumulate);
  }
  const int done = n;
  for (blocks.begin = 0; blocks.begin < blocks.count; blocks.begin = blocks.end) {
    blocks.end = blocks.begin + kBlocksTogether < blocks.count ? blocks.begin + kBlocksTogether : blocks.count;
    for (n = done; n < columns; n += 2 * kPanelColumns) {
      const uint16_t* source = b + n / kPanelColumns * panel;
      for (int64_t i = first; i < last; i += kMostRows) {
        const int rows = static_cast<int>(last - i < kMostRows ? last - i : kMostRows);
        if (columns - n <= kPanelColumns) tile_rows<1>(rows, blocks, a + i * a_row, a_row, source, columns - n, c + i * c_row + n, c_row, accumulate);
        else tile_rows<2>(rows, blocks, a + i * a_row, a_row, source, columns - n, c + i * c_row + n, c_row, accumulate);
      }
    }
  }
}

static void gemm_int16(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate) {
  const int count = (k + kInt16Block - 1) / kInt16Block;
  const Blocks blocks{0, 0, count, bf16_depth(k - (count - 1) * kInt16Block), kPanelColumns * (bf16_depth(k) + 2 * count)};
  const int64_t fit = kRowBytes / (2 * a_row) / kMostRows * kMostRows, chunk = fit < kMostRows ? kMostRows : fit;
  for (int64_t first = 0; first < m; first += chunk)
    gemm_chunk(first, m - first < chunk ? m : first + chunk, columns, blocks, a, a_row, b, c, c_row, accumulate);
}

}  // namespace TACKROOM_ISA

void add_int16_bodies(PackedKernels& table) {
  using namespace TACKROOM_ISA;
  table.int16 = {"avx512vnni", true, kInt16Block, rows_to_int16, pack_int16, gemm_int16, expand_int16};
}

}  // namespace tackroom
