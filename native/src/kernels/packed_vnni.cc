/**
 * 8- and 4-bit products with VNNI: a block of R rows by one panel, its sums in registers.
 *
 * The integer sum of a group starts at -offset * sum(q), so the offset costs nothing. Rows are laid out once a call (see
 * int8_block_impl.h); a panel is read once for all blocks of a chunk of rows and stays in the first-level cache.
 */
#include "int8_block_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

constexpr int64_t kChunkBytes = 256 << 10;  // of rows laid out at once
constexpr int kAhead = 4096;                // bytes of weights fetched before they are used

static inline __m512i quad_at(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return _mm512_set1_epi32(word);
}

/** The integers of the quads j and j + 1 (j even) of the 32 depths from p on. */
template <int Bits>
static inline __attribute__((always_inline)) void load_quads(const uint8_t* panel, int p, int j, __m512i* first, __m512i* second) {
  if constexpr (Bits == 8) {
    *first = _mm512_loadu_si512(panel + p * 16 + 64 * j);
    *second = _mm512_loadu_si512(panel + p * 16 + 64 * j + 64);
  } else {
    const __m512i v = _mm512_loadu_si512(panel + p * 8 + 32 * j), low = _mm512_set1_epi8(15);
    *first = _mm512_and_si512(v, low);
    *second = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
  }
}

template <int R, int Bits, int Group>
static void panel_rows(const Int8Block& b, const PackedWeights& w, int panel, int rows, bool ahead, float* c, int64_t c_row, __mmask16 columns,
                       bool accumulate) {
  constexpr int kHalves = 32 / Group, kQuads = Group / 4;
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const int8_t* q = b.q;
  int64_t index = panel * w.panel_scales();
  __m512 acc[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++) acc[r] = _mm512_setzero_ps();
  for (int g = 0; g < w.in / 32; g++, q += 32 * R) {
    if (ahead)
#pragma GCC unroll 8
      for (int j = 0; j < Bits; j++) _mm_prefetch(reinterpret_cast<const char*>(data + 64 * Bits * g + kAhead + 64 * j), _MM_HINT_T0);
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; h++, index += kPanelColumns) {
      const __m512 scale = factors(w.wide_scales, w.scales, index);
      const int64_t at = (g * kHalves + h) * R;
      __m512i dot[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) dot[r] = _mm512_set1_epi32(b.shifts[at + r]);
      // Row after row for every quad of depths: the sums of the rows are independent, those of one row are a chain.
#pragma GCC unroll 4
      for (int j = h * kQuads; j < (h + 1) * kQuads; j += 2) {
        __m512i first, second;
        load_quads<Bits>(data, 32 * g, j, &first, &second);
#pragma GCC unroll 16
        for (int r = 0; r < R; r++) dot[r] = _mm512_dpbusd_epi32(dot[r], first, quad_at(q + 32 * r + 4 * j));
#pragma GCC unroll 16
        for (int r = 0; r < R; r++) dot[r] = _mm512_dpbusd_epi32(dot[r], second, quad_at(q + 32 * r + 4 * j + 4));
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; r++)
        acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r]), _mm512_mul_ps(scale, _mm512_set1_ps(b.scales[g * R + r])), acc[r]);
      if (w.minimums != nullptr) {
        const __m512 minimum = factors(w.wide_scales, w.minimums, index);
#pragma GCC unroll 16
        for (int r = 0; r < R; r++) acc[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(b.lifts[at + r]), acc[r]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
    if (r < rows) put_row(acc[r], c + r * c_row, columns, accumulate);
}

using PanelRows = void (*)(const Int8Block&, const PackedWeights&, int, int, bool, float*, int64_t, __mmask16, bool);

template <int R>
static PanelRows panel_rows_for(const PackedWeights& w) {
  if (w.bits == 8) return w.group == 32 ? panel_rows<R, 8, 32> : panel_rows<R, 8, 16>;
  return w.group == 32 ? panel_rows<R, 4, 32> : panel_rows<R, 4, 16>;
}

struct Shape {
  int rows;
  PanelRows body;
};

/** The block that takes `rows` rows at the least cost; the rows it has too many are zeros. */
static Shape shape_for(int rows, const PackedWeights& w) {
  switch (rows) {
    case 1: return {1, panel_rows_for<1>(w)};
    case 2: return {2, panel_rows_for<2>(w)};
    case 3: return {3, panel_rows_for<3>(w)};
    case 4: return {4, panel_rows_for<4>(w)};
    case 5:
    case 6: return {6, panel_rows_for<6>(w)};
    case 7:
    case 8: return {8, panel_rows_for<8>(w)};
    default: return {12, panel_rows_for<12>(w)};
  }
}

}  // namespace TACKROOM_ISA

void gemm_int8_vnni(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  using namespace TACKROOM_ISA;
  constexpr int kMost = 12;
  const int64_t bytes = int8_block_bytes(kMost, w);
  int64_t blocks = kChunkBytes / bytes;
  if (blocks > (m + kMost - 1) / kMost) blocks = (m + kMost - 1) / kMost;
  if (blocks < 1) blocks = 1;
  uint8_t* memory = static_cast<uint8_t*>(packed_scratch(static_cast<size_t>(blocks * bytes)));
  for (int first = 0; first < m; first += static_cast<int>(blocks) * kMost) {
    const int left = m - first, count = left < blocks * kMost ? (left + kMost - 1) / kMost : static_cast<int>(blocks);
    for (int x = 0; x < count; x++) {
      const int rows = left - x * kMost < kMost ? left - x * kMost : kMost, R = shape_for(rows, w).rows;
      fill_int8_block(int8_block_at(memory + x * bytes, R, w), a, first + x * kMost, rows, R, w);
    }
    for (int panel = begin; panel < end; panel++)
      for (int x = 0; x < count; x++) {
        const int rows = left - x * kMost < kMost ? left - x * kMost : kMost;
        const Shape shape = shape_for(rows, w);
        float* out = c + static_cast<int64_t>(first + x * kMost) * c_row + (panel - begin) * kPanelColumns;
        const __mmask16 columns = first_lanes(w.out - panel * kPanelColumns);
        shape.body(int8_block_at(memory + x * bytes, shape.rows, w), w, panel, rows, x == 0, out, c_row, columns, accumulate);
      }
  }
}

void add_vnni_bodies(PackedKernels& table) {
  table.int8_body = "avx512vnni";
  table.gemm_int8 = gemm_int8_vnni;
}

}  // namespace tackroom
