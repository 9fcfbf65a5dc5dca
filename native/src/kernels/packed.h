/**
 * Products with weights that stay in 16, 8 or 4 bits, one table of bodies chosen at run time.
 *
 * A weight matrix W[out, in] lies in panels of 16 outputs: one AVX-512 vector, one AMX tile. Every function is
 * single-threaded and re-entrant; callers split the panels (and rows) over threads. A row of a product is computed with
 * the same sequence of fp32 operations whatever the number of rows beside it and whichever body runs for that number, so
 * the result for one token does not depend on the batch it travels in.
 */
#pragma once
#include <cstdint>

namespace tackroom {

constexpr int kPanelColumns = 16;
/** bf16 rows and panels are padded with zeros to a multiple of this depth. */
constexpr int kBf16Depth = 32;
/** Inputs of the 8-bit path are quantised in groups of this many values. */
constexpr int kInt8Group = 32;
/** Rows of 8-bit activations are split over threads at multiples of this: whole blocks and whole tiles of every body. */
constexpr int kLaidRows = 48;

[[gnu::always_inline]] inline int64_t bf16_depth(int64_t k) { return (k + kBf16Depth - 1) / kBf16Depth * kBf16Depth; }
[[gnu::always_inline]] inline int64_t panel_count(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns; }

/**
 * W[out, in]. Columns past `out` in the last panel are zero (scale 0, minimum 0).
 *
 * bits 16: data is bf16 [panels][bf16_depth(in) / 2][16][2] (pairs of depths side by side).
 * bits 8:  data is u8 [panels][in / 4][16][4]; value = scale * (u - offset) + minimum.
 * bits 4:  data is u8 [panels][in / 32][4][64]: vector j of a group of 32 depths holds depths 8j..8j+3 in its low nibbles
 *          and 8j+4..8j+7 in its high ones, each as [16][4]; value as for 8 bits.
 * `group` (32 or 16) consecutive depths share a scale; in % 32 == 0 for 4 and 8 bits.
 */
struct PackedWeights {
  int out = 0, in = 0, bits = 16, group = 32, offset = 0;
  bool wide_scales = false;        // scales and minimums are fp32 instead of f16
  const uint8_t* data = nullptr;
  const void* scales = nullptr;    // [panels][in / group][16]
  const void* minimums = nullptr;  // the same, or null

  [[gnu::always_inline]] int64_t panel_bytes() const { return bits == 16 ? bf16_depth(in) * kPanelColumns * 2 : int64_t{in} * kPanelColumns * bits / 8; }
  [[gnu::always_inline]] int64_t panel_scales() const { return bits == 16 ? 0 : int64_t{in} / group * kPanelColumns; }
};

/**
 * Rows of activations for the 8-bit path: x = scale * q, symmetric, scale = max|x| / 127 of a group. The scale is 0 for a group
 * of zeros (magnitudes below 2^-118 count as such) and NaN for one that holds a NaN or an infinity, which the row then is too.
 */
struct Int8Rows {
  const int8_t* q;       // [rows][in]
  const float* scales;   // [rows][in / 32]
  const int32_t* sums;   // [rows][in / 16] sums of q over 16 values
};

/** Depths of a row that share a scale in the form int16. */
constexpr int kInt16Block = 128;
/** Their largest magnitude: kInt16Block products of two such numbers do not leave 32 bits. */
constexpr int kInt16Limit = 4095;

/**
 * Operands of products in 16 bits, in one of two forms.
 *
 * bf16: every value is rounded to bf16. int16: a block of kInt16Block depths of a row shares a scale, max|x| / kInt16Limit, and
 * holds the integers x / scale; the scale is 0 for a block of zeros (magnitudes below 2^-114 count as such) and NaN for one that
 * holds a NaN or an infinity, which every result of the row then is too.
 *
 * Rows are [m][words(k)] words of 16 bits, panels [panel_count(n)][16 * words(k)]. Depths are padded with zeros to a multiple of 32.
 * A row: the depths in order; in int16 the scale (fp32) follows each block. A panel: [pairs of depths][16 columns][2]; in
 * int16 the 16 scales follow each block.
 */
struct Form16 {
  const char* body;  // bf16: "amx", "avx512bf16", "avx512"; int16: "avx512vnni"; null: no body, the precision is refused
  bool gains;        // products are faster than in fp32; otherwise they save memory only
  int block;         // kInt16Block, or 0 where values have exponents of their own

  /** Words of a row of depth k; a panel has 16 times as many. Even. */
  [[gnu::always_inline]] int64_t words(int64_t k) const { return bf16_depth(k) + (block == 0 ? 0 : (k + block - 1) / block * 2); }
  /** Words of the panels of B [n, k]. */
  [[gnu::always_inline]] int64_t panels(int64_t n, int64_t k) const { return panel_count(n) * kPanelColumns * words(k); }

  /** Rounds to nearest even; element (i, p) of x at x[i * row + p * column]. */
  void (*rows)(const float* x, int64_t row, int64_t column, int m, int k, uint16_t* out);
  /** Packs B[n, k], element (j, p) at b[j * row + p * column]. */
  void (*pack)(const float* b, int64_t row, int64_t column, int n, int k, uint16_t* panels);
  /**
   * C[m, columns] (+)= A[m, k] B^T. a: rows with stride a_row, in words; b: consecutive panels, of which the first `columns`
   * columns are written. A row's sums run over the depths in one order, whatever m is. In int16 a block's sum is exact and
   * acc = fma(sum, scale_a * scale_b, acc) over the blocks in ascending order, from C where it is added to.
   */
  void (*gemm)(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate);
  /** Panel `panel` of a weight matrix in 8 or 4 bits; int16 also takes 16 bits. */
  void (*expand)(const PackedWeights& w, int panel, uint16_t* out);
};

struct PackedKernels {
  Form16 bf16, int16;
  const char* int8_body;  // "amx", "avx512vnni", "avx2", "portable"

  /** Rounds to nearest even. `in` % 32 == 0. */
  void (*quantize_rows)(const float* x, int64_t row, int m, int in, int8_t* q, float* scales, int32_t* sums);
  /**
   * C[m, columns of the panels] (+)= A W^T for the panels [begin, end) of w (bits 8 or 4); c points at column 16 * begin.
   * Every body gives the same bits: over the groups in ascending order acc = fma(dot - offset * sum, scale_w * scale_a, acc) and,
   * with minimums, acc = fma(minimum, scale_a * sum, acc). A call lays the rows out anew, so give it panels by the dozen.
   */
  void (*gemm_int8)(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate);
  /**
   * The same with rows laid out once for many calls: up to `laid_rows` rows (0: gemm_int8 is as good). lay_out_rows writes the rows
   * [first, last) of m, `first` a multiple of kLaidRows, into laid_bytes(m, w) bytes on a 64-byte boundary, for every matrix with the
   * width, group and offset of w. Groups that are zero in all rows of a block cost nothing. gemm_int8_laid multiplies the rows [first, last); c points at row `first` and column 16 * begin.
   */
  int laid_rows;
  int64_t (*laid_bytes)(int m, const PackedWeights& w);
  void (*lay_out_rows)(int m, const Int8Rows& a, const PackedWeights& w, int first, int last, uint8_t* laid);
  void (*gemm_int8_laid)(int m, uint8_t* laid, int first, int last, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate);

  /** Exact fp32 values: scale * (u - offset) rounded, then + minimum rounded. The rows of panel `panel`, row-major [16][in], stride `row`. */
  void (*expand_rows)(const PackedWeights& w, int panel, float* out, int64_t row);
  /** The same values depth-major: out[p * width + j], j = column within `panels` consecutive panels from `panel`; width = 16 * panels. */
  void (*expand_depth)(const PackedWeights& w, int panel, int panels, float* out);
};

/** The best bodies of this processor, limited by TACKROOM_KERNELS (baseline, avx2, avx512, amx) as `kernels()` is. */
const PackedKernels& packed_kernels();

}  // namespace tackroom
