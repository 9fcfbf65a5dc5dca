/**
 * bf16 products with vdpbf16ps: M rows by P panels, every sum one chain over the depths in ascending order, so that a row's
 * result does not depend on the block it falls into. Few rows take several panels, to have enough chains in flight.
 */
#include "packed_avx512_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

constexpr int64_t kRowBytes = 512 << 10;  // of A that stay in the second-level cache while the panels pass by
constexpr int kMostRows = 12;

static inline __m512bh pair_at(const uint16_t* a) {
  int32_t word;
  __builtin_memcpy(&word, a, 4);
  return __builtin_bit_cast(__m512bh, _mm512_set1_epi32(word));
}
static inline __m512bh vector_at(const uint16_t* b) { return __builtin_bit_cast(__m512bh, _mm512_loadu_si512(b)); }

template <int M, int P>
static void tile(int64_t depth, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  __m512 s[M][P];
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) s[i][j] = _mm512_setzero_ps();
  const int64_t panel = depth * kPanelColumns;
  for (int64_t p = 0; p < depth; p += 2) {
    __m512bh v[P];
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) {
      const uint16_t* source = b + j * panel + p * kPanelColumns;
      // The next P panels; the sequence within a panel is found by the processor.
      if constexpr (M <= 4) _mm_prefetch(reinterpret_cast<const char*>(source + P * panel), _MM_HINT_T1);
      v[j] = vector_at(source);
    }
#pragma GCC unroll 12
    for (int i = 0; i < M; i++) {
      const __m512bh x = pair_at(a + i * a_row + p);
#pragma GCC unroll 4
      for (int j = 0; j < P; j++) s[i][j] = _mm512_dpbf16_ps(s[i][j], x, v[j]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
#pragma GCC unroll 4
    for (int j = 0; j < P; j++) put_row(s[i][j], c + i * c_row + j * kPanelColumns, first_lanes(columns - j * kPanelColumns), accumulate);
}

template <int P>
static void tile_rows(int rows, int64_t depth, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool acc) {
  switch (rows) {
#define TACKROOM_TILE(M) case M: tile<M, P>(depth, a, a_row, b, columns, c, c_row, acc); break;
    TACKROOM_TILE(1) TACKROOM_TILE(2) TACKROOM_TILE(3) TACKROOM_TILE(4) TACKROOM_TILE(5) TACKROOM_TILE(6)
    TACKROOM_TILE(7) TACKROOM_TILE(8) TACKROOM_TILE(9) TACKROOM_TILE(10) TACKROOM_TILE(11) TACKROOM_TILE(12)
#undef TACKROOM_TILE
  }
}

static void few_rows(int rows, int64_t depth, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool acc) {
  switch (rows) {
#define TACKROOM_TILE(M) case M: tile<M, 4>(depth, a, a_row, b, columns, c, c_row, acc); break;
    TACKROOM_TILE(1) TACKROOM_TILE(2) TACKROOM_TILE(3) TACKROOM_TILE(4)
#undef TACKROOM_TILE
  }
}

static void gemm_bf16(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate) {
  const int64_t depth = bf16_depth(k), panel = depth * kPanelColumns;
  const int64_t fit = kRowBytes / (2 * depth) / kMostRows * kMostRows, chunk = fit < kMostRows ? kMostRows : fit;
  for (int64_t first = 0; first < m; first += chunk) {
    const int64_t last = m - first < chunk ? m : first + chunk;
    int n = 0;
    if (last - first <= 4)
      for (; n + 4 * kPanelColumns <= columns; n += 4 * kPanelColumns)
        few_rows(static_cast<int>(last - first), depth, a + first * a_row, a_row, b + n / kPanelColumns * panel, columns - n, c + first * c_row + n,
                 c_row, accumulate);
    for (; n < columns; n += 2 * kPanelColumns) {
      const uint16_t* source = b + n / kPanelColumns * panel;
      const bool single = columns - n <= kPanelColumns;
      for (int64_t i = first; i < last; i += kMostRows) {
        const int rows = static_cast<int>(last - i < kMostRows ? last - i : kMostRows);
        if (single) tile_rows<1>(rows, depth, a + i * a_row, a_row, source, columns - n, c + i * c_row + n, c_row, accumulate);
        else tile_rows<2>(rows, depth, a + i * a_row, a_row, source, columns - n, c + i * c_row + n, c_row, accumulate);
      }
    }
  }
}

}  // namespace TACKROOM_ISA

void add_avx512bf16_bodies(PackedKernels& table) {
  table.bf16.body = "avx512bf16";
  table.bf16.gains = true;
  table.bf16.gemm = TACKROOM_ISA::gemm_bf16;
}

}  // namespace tackroom
