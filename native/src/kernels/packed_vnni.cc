/**
 * 8- and 4-bit products with VNNI: a block of R rows by one panel, its sums in registers.
 *
 * The integer sum of a group starts at -offset * sum(q), so the offset costs nothing. Rows are laid out first (see int8_block_impl.h);
 * a panel is read once for all blocks of a chunk of rows and stays in the first-level cache.
 */
#include "int8_block_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

constexpr int64_t kChunkBytes = 256 << 10;  // of rows laid out at once
constexpr int kAhead = 16384;               // bytes of weights fetched into the second-level cache before they are used

static inline __m512i quad_at(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return _mm512_set1_epi32(word);
}

/** The integers of the quad of depths p + 4j, 16 columns. */
template <int Bits>
static inline __attribute__((always_inline)) __m512i quads_at(const uint8_t* panel, int p, int j) {
  if constexpr (Bits == 8) return _mm512_loadu_si512(panel + p * 16 + 64 * j);
  const __m512i v = _mm512_loadu_si512(panel + p * 8 + 64 * (j / 2)), low = _mm512_set1_epi8(15);
  return _mm512_and_si512(j % 2 == 0 ? v : _mm512_srli_epi16(v, 4), low);
}

/** The first `columns` columns are written. */
template <int R, int Bits, int Group>
static void panel_rows(const Int8Block& b, const PackedWeights& w, int panel, int rows, bool ahead, float* c, int64_t c_row, int columns, bool accumulate) {
  constexpr int kHalves = 32 / Group, kQuads = Group / 4;
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const int64_t first_index = panel * w.panel_scales();
  __m512 acc[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++) acc[r] = _mm512_setzero_ps();
  const int32_t count = b.used[0];
  for (int i = 1; i <= count; i++) {
    const int64_t g = b.used[i];
    const int8_t* q = b.q + g * 32 * R;
    if (ahead)
#pragma GCC unroll 8
      for (int j = 0; j < Bits; j++) _mm_prefetch(reinterpret_cast<const char*>(data + 64 * Bits * g + kAhead + 64 * j), _MM_HINT_T1);
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; h++) {
      const int64_t index = first_index + (g * kHalves + h) * kPanelColumns;
      const __m512 scale = factors(w.wide_scales, w.scales, index);
      const int64_t at = (g * kHalves + h) * R;
      __m512i dot[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; r++) dot[r] = _mm512_set1_epi32(b.shifts[at + r]);
      // Row after row for every quad of depths: the sums of the rows are independent, those of one row are a chain.
#pragma GCC unroll 8
      for (int j = h * kQuads; j < (h + 1) * kQuads; j++) {
        const __m512i u = quads_at<Bits>(data, static_cast<int>(32 * g), j);
#pragma GCC unroll 16
        for (int r = 0; r < R; r++) dot[r] = _mm512_dpbusd_epi32(dot[r], u, quad_at(q + 32 * r + 4 * j));
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
    if (r < rows) put_row(acc[r], c + r * c_row, first_lanes(columns), accumulate);
}

using PanelRows = void (*)(const Int8Block&, const PackedWeights&, int, int, bool, float*, int64_t, int, bool);

struct Shape {
  int rows;
  PanelRows body;
};

template <int R>
static PanelRows panel_rows_for(const PackedWeights& w) {
  if (w.bits == 8) return w.group == 32 ? panel_rows<R, 8, 32> : panel_rows<R, 8, 16>;
  return w.group == 32 ? panel_rows<R, 4, 32> : panel_rows<R, 4, 16>;
}
/** The blocks in which m rows cost least; rows past the last are zeros. */
static Shape shape_for(int m, const PackedWeights& w) {
  switch (m) {
    case 1: return {1, panel_rows_for<1>(w)};
    case 2: return {2, panel_rows_for<2>(w)};
    case 3: return {3, panel_rows_for<3>(w)};
    case 4: return {4, panel_rows_for<4>(w)};
    case 5:
    case 6: return {6, panel_rows_for<6>(w)};
    case 7:
    case 8:
    case 13:
    case 14:
    case 15:
    case 16: return {8, panel_rows_for<8>(w)};
    default: return {12, panel_rows_for<12>(w)};
  }
}

static int64_t laid_bytes(int m, const PackedWeights& w) {
  const int R = shape_for(m, w).rows;
  return (m + R - 1) / R * int8_block_bytes(R, w);
}

/** Where few groups are used, the weights were read for others a moment ago. */
static bool sparse(const Int8Block& b, const PackedWeights& w) { return b.used[0] < w.in / 64; }

static void lay_out_rows(int m, const Int8Rows& a, const PackedWeights& w, int first, int last, uint8_t* laid) {
  const int R = shape_for(m, w).rows;
  const int64_t bytes = int8_block_bytes(R, w);
  for (int row = first; row < last; row += R)
    fill_int8_block(int8_block_at(laid + row / R * bytes, R, w), a, row, last - row < R ? last - row : R, R, w, false);
}

/** Rows that meet each panel while it is in the first-level cache, and stay in the second meanwhile. */
static void laid_chunk(const Shape& shape, uint8_t* laid, int rows, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  const int64_t bytes = int8_block_bytes(shape.rows, w);
  for (int panel = begin; panel < end; panel++, c += kPanelColumns)
    for (int row = 0; row < rows; row += shape.rows) {
      const Int8Block b = int8_block_at(laid + row / shape.rows * bytes, shape.rows, w);
      if (accumulate && b.used[0] == 0) continue;
      shape.body(b, w, panel, rows - row, row == 0 && !sparse(b, w), c + row * c_row, c_row, w.out - panel * kPanelColumns, accumulate);
    }
}

static void gemm_int8_laid(int m, uint8_t* laid, int first, int last, const PackedWeights& w, int begin, int end, float* c, int64_t c_row,
                           bool accumulate) {
  const Shape shape = shape_for(m, w);
  const int64_t bytes = int8_block_bytes(shape.rows, w), fit = kChunkBytes / bytes, blocks = fit < 1 ? 1 : fit;
  for (int row = first; row < last; row += static_cast<int>(blocks) * shape.rows) {
    const int64_t left = last - row, rows = left < blocks * shape.rows ? left : blocks * shape.rows;
    laid_chunk(shape, laid + row / shape.rows * bytes, static_cast<int>(rows), w, begin, end, c + (row - first) * c_row, c_row, accumulate);
  }
}

}  // namespace TACKROOM_ISA

void gemm_int8_vnni(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  using namespace TACKROOM_ISA;
  const Shape shape = shape_for(m, w);
  const int64_t bytes = int8_block_bytes(shape.rows, w), fit = kChunkBytes / bytes, blocks = fit < 1 ? 1 : fit;
  const int chunk = static_cast<int>(blocks) * shape.rows < m ? static_cast<int>(blocks) * shape.rows : m;
  uint8_t* memory = static_cast<uint8_t*>(packed_scratch(static_cast<size_t>((chunk + shape.rows - 1) / shape.rows * bytes)));
  for (int row = 0; row < m; row += chunk) {
    const int rows = m - row < chunk ? m - row : chunk;
    for (int r = 0; r < rows; r += shape.rows)
      fill_int8_block(int8_block_at(memory + r / shape.rows * bytes, shape.rows, w), a, row + r, rows - r < shape.rows ? rows - r : shape.rows, shape.rows, w, false);
    laid_chunk(shape, memory, rows, w, begin, end, c + row * c_row, c_row, accumulate);
  }
}

void add_vnni_bodies(PackedKernels& table) {
  table.int8_body = "avx512vnni";
  table.gemm_int8 = gemm_int8_vnni;
  table.laid_rows = 1 << 30;
  table.laid_bytes = TACKROOM_ISA::laid_bytes;
  table.lay_out_rows = TACKROOM_ISA::lay_out_rows;
  table.gemm_int8_laid = TACKROOM_ISA::gemm_int8_laid;
}

}  // namespace tackroom
