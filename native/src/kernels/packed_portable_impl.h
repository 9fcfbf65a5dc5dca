/**
 * Conversions and expansions in plain C++, the reference for every other body. The compiler vectorises them for the
 * instruction set of the unit that includes this. Built with -ffp-contract=off: a product and a sum that are written
 * apart are rounded apart, in every body.
 */
#pragma once
#include "packed_bodies.h"
#include "simd.h"

namespace tackroom::TACKROOM_ISA {

/** Groups whose largest magnitude is below this count as zeros, so that neither the scale nor its inverse leaves the normal range. */
constexpr float kLeastMagnitude = 0x1p-118f;
/** The same of int16, whose largest integer is larger. */
constexpr float kLeastMagnitude16 = 0x1p-114f;

static inline float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
static inline uint32_t to_bits(float x) { return __builtin_bit_cast(uint32_t, x); }

/** Round to nearest even; a NaN stays one. */
static inline uint16_t bf16_from(float x) {
  const uint32_t u = to_bits(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : rounded);
}

static inline float f16_value(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 0x3ffu;
  if (exponent == 0) return from_bits(sign | to_bits(static_cast<float>(fraction) * 0x1p-24f));
  if (exponent == 31) return from_bits(sign | 0x7f800000u | fraction << 13 | (fraction != 0 ? 0x400000u : 0));
  return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static void rows_to_bf16(const float* x, int64_t row, int64_t column, int m, int k, uint16_t* out) {
  const int64_t depth = bf16_depth(k);
  for (int i = 0; i < m; i++, out += depth) {
    const float* source = x + i * row;
    if (column == 1)
      for (int p = 0; p < k; p++) out[p] = bf16_from(source[p]);
    else
      for (int p = 0; p < k; p++) out[p] = bf16_from(source[p * column]);
    for (int64_t p = k; p < depth; p++) out[p] = 0;
  }
}

static void pack_bf16(const float* b, int64_t row, int64_t column, int n, int k, uint16_t* panels) {
  const int64_t depth = bf16_depth(k);
  for (int j0 = 0; j0 < n; j0 += kPanelColumns)
    for (int64_t p = 0; p < depth; p += 2)
      for (int j = j0; j < j0 + kPanelColumns; j++)
        for (int64_t q = p; q < p + 2; q++) *panels++ = j < n && q < k ? bf16_from(b[j * row + q * column]) : uint16_t{0};
}

static void quantize_rows(const float* x, int64_t row, int m, int in, int8_t* q, float* scales, int32_t* sums) {
  for (int i = 0; i < m; i++)
    for (int p = 0; p < in; p += kInt8Group, q += kInt8Group) {
      const float* source = x + i * row + p;
      uint32_t top = 0;  // the order of magnitudes is that of their bits, with NaN above all
      for (int e = 0; e < kInt8Group; e++) {
        const uint32_t magnitude = to_bits(source[e]) & 0x7fffffff;
        top = top > magnitude ? top : magnitude;
      }
      float scale = from_bits(top) / 127.0f, inverse = 127.0f / from_bits(top);
      if (top >= 0x7f800000) scale = __builtin_nanf("");
      if (from_bits(top) < kLeastMagnitude) scale = 0;
      const bool zero = !(scale > 0);
      // Adding 1.5 * 2^23 rounds to nearest even and leaves the integer in the low bits.
      for (int e = 0; e < kInt8Group; e++) q[e] = zero ? int8_t{0} : static_cast<int8_t>(to_bits(source[e] * inverse + 12582912.0f));
      *scales++ = scale;
      for (int h = 0; h < kInt8Group; h += 16) {
        int sum = 0;
        for (int e = h; e < h + 16; e++) sum += q[e];
        *sums++ = sum;
      }
    }
}

/** The integers of 32 depths, [8][16][4], as the 8-bit layout has them. */
static inline void group_integers(const PackedWeights& w, const uint8_t* panel, int p, uint8_t* u) {
  if (w.bits == 8) {
    __builtin_memcpy(u, panel + p * kPanelColumns, 512);
    return;
  }
  const uint8_t* source = panel + p * kPanelColumns / 2;
  for (int j = 0; j < 4; j++)
    for (int e = 0; e < 64; e++) {
      u[128 * j + e] = source[64 * j + e] & 15;
      u[128 * j + 64 + e] = source[64 * j + e] >> 4;
    }
}

static inline void load_factors(const PackedWeights& w, const void* factors, int64_t index, float* out) {
  if (w.wide_scales) __builtin_memcpy(out, static_cast<const float*>(factors) + index, kPanelColumns * sizeof(float));
  else
    for (int c = 0; c < kPanelColumns; c++) out[c] = f16_value(static_cast<const uint16_t*>(factors)[index + c]);
}

/** Calls put(depth, values[16]) for every depth of a panel. */
template <class Put>
static inline void for_depths(const PackedWeights& w, int panel, Put put) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  uint8_t u[512];
  float scale[kPanelColumns], minimum[kPanelColumns] = {}, values[kPanelColumns];
  for (int p = 0; p < w.in && w.bits == 16; p++) {
    const uint16_t* words = reinterpret_cast<const uint16_t*>(data) + p / 2 * (2 * kPanelColumns) + p % 2;
    for (int c = 0; c < kPanelColumns; c++) values[c] = from_bits(uint32_t{words[2 * c]} << 16);
    put(p, values);
  }
  for (int p = 0; p < w.in && w.bits != 16; p++) {
    if (p % 32 == 0) group_integers(w, data, p, u);
    if (p % w.group == 0) {
      const int64_t index = panel * w.panel_scales() + p / w.group * kPanelColumns;
      load_factors(w, w.scales, index, scale);
      if (w.minimums != nullptr) load_factors(w, w.minimums, index, minimum);
    }
    const uint8_t* quad = u + p % 32 / 4 * 64 + p % 4;
    for (int c = 0; c < kPanelColumns; c++) values[c] = scale[c] * static_cast<float>(quad[4 * c] - w.offset);
    if (w.minimums != nullptr)
      for (int c = 0; c < kPanelColumns; c++) values[c] = values[c] + minimum[c];
    put(p, values);
  }
}

static void expand_rows(const PackedWeights& w, int panel, float* out, int64_t row) {
  for_depths(w, panel, [=](int p, const float* values) {
    for (int c = 0; c < kPanelColumns; c++) out[c * row + p] = values[c];
  });
}

static void expand_depth(const PackedWeights& w, int panel, int panels, float* out) {
  const int64_t width = int64_t{kPanelColumns} * panels;
  for (int i = 0; i < panels; i++)
    for_depths(w, panel + i, [=](int p, const float* values) {
      for (int c = 0; c < kPanelColumns; c++) out[p * width + i * kPanelColumns + c] = values[c];
    });
}

static void expand_bf16(const PackedWeights& w, int panel, uint16_t* out) {
  for_depths(w, panel, [=](int p, const float* values) {
    uint16_t* target = out + p / 2 * (2 * kPanelColumns) + p % 2;
    for (int c = 0; c < kPanelColumns; c++) target[2 * c] = bf16_from(values[c]);
  });
}

/** Scale and its inverse of a block whose largest magnitude has the bits `top`, with NaN above all; the inverse is 0 where the integers are. */
static inline void int16_scale(uint32_t top, float* scale, float* inverse) {
  const bool finite = top < 0x7f800000, some = from_bits(top) >= kLeastMagnitude16;
  *scale = !finite ? __builtin_nanf("") : some ? from_bits(top) / kInt16Limit : 0;
  *inverse = finite && some ? kInt16Limit / from_bits(top) : 0;
}

/** Rounds to nearest even: adding 1.5 * 2^23 leaves the integer in the low bits. A NaN times 0 must not become one. */
static inline uint16_t int16_from(float x, float inverse) { return inverse == 0 ? uint16_t{0} : static_cast<uint16_t>(to_bits(x * inverse + 12582912.0f)); }

/** One block of a row of n <= kInt16Block values, `step` apart: writes the integers `out_step` words apart, returns the scale. */
static inline float int16_block(const float* x, int64_t step, int n, uint16_t* out, int64_t out_step) {
  uint32_t top = 0;
  for (int p = 0; p < n; p++) top = top > (to_bits(x[p * step]) & 0x7fffffff) ? top : to_bits(x[p * step]) & 0x7fffffff;
  float scale, inverse;
  int16_scale(top, &scale, &inverse);
  for (int p = 0; p < bf16_depth(n); p++) out[p * out_step] = p < n ? int16_from(x[p * step], inverse) : uint16_t{0};
  return scale;
}

static void rows_to_int16(const float* x, int64_t row, int64_t column, int m, int k, uint16_t* out) {
  for (int i = 0; i < m; i++)
    for (int p = 0; p < k; p += kInt16Block) {
      const int n = k - p < kInt16Block ? k - p : kInt16Block;
      const float scale = int16_block(x + i * row + p * column, column, n, out, 1);
      __builtin_memcpy(out + bf16_depth(n), &scale, 4);
      out += bf16_depth(n) + 2;
    }
}

/** The 16 columns of a block of a panel, of which the first n exist. */
static inline uint16_t* pack_int16_block(const float* b, int64_t row, int64_t column, int n, int depths, uint16_t* out) {
  float scales[kPanelColumns] = {};
  uint16_t words[kInt16Block];
  for (int c = 0; c < kPanelColumns; c++) {
    for (uint16_t& word : words) word = 0;
    if (c < n) scales[c] = int16_block(b + c * row, column, depths, words, 1);
    for (int p = 0; p < bf16_depth(depths); p++) out[p / 2 * (2 * kPanelColumns) + 2 * c + p % 2] = words[p];
  }
  out += kPanelColumns * bf16_depth(depths);
  __builtin_memcpy(out, scales, sizeof scales);
  return out + 2 * kPanelColumns;
}

static void pack_int16(const float* b, int64_t row, int64_t column, int n, int k, uint16_t* panels) {
  for (int j = 0; j < n; j += kPanelColumns)
    for (int p = 0; p < k; p += kInt16Block)
      panels = pack_int16_block(b + j * row + p * column, row, column, n - j, k - p < kInt16Block ? k - p : kInt16Block, panels);
}

static void expand_int16(const PackedWeights& w, int panel, uint16_t* out) {
  float block[kInt16Block * kPanelColumns];
  for_depths(w, panel, [&](int p, const float* values) {
    const int at = p % kInt16Block;
    __builtin_memcpy(block + at * kPanelColumns, values, kPanelColumns * sizeof(float));
    if (at == kInt16Block - 1 || p == w.in - 1) out = pack_int16_block(block, 1, kPanelColumns, kPanelColumns, at + 1, out);
  });
}

static void gemm_int16(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate) {
  for (int j = 0; j < columns; j += kPanelColumns) {
    const int some = columns - j < kPanelColumns ? columns - j : kPanelColumns;
    const uint16_t* row_block = a;
    for (int p = 0; p < k; p += kInt16Block) {
      const int64_t depths = bf16_depth(k - p < kInt16Block ? k - p : kInt16Block);
      float scales[kPanelColumns];
      __builtin_memcpy(scales, b + kPanelColumns * depths, sizeof scales);
      for (int i = 0; i < m; i++) {
        const uint16_t* row = row_block + i * a_row;
        float scale;
        __builtin_memcpy(&scale, row + depths, 4);
        int32_t sums[kPanelColumns] = {};
        for (int64_t q = 0; q < depths; q++)
          for (int e = 0; e < kPanelColumns; e++)
            sums[e] += static_cast<int16_t>(row[q]) * static_cast<int16_t>(b[q / 2 * (2 * kPanelColumns) + 2 * e + q % 2]);
        float* out = c + i * c_row + j;
        for (int e = 0; e < some; e++)
          out[e] = __builtin_fmaf(static_cast<float>(sums[e]), scale * scales[e], accumulate || p > 0 ? out[e] : 0.0f);
      }
      row_block += depths + 2, b += kPanelColumns * (depths + 2);
    }
  }
}

/** A table of the bodies in this file and one for 8-bit products. */
static inline PackedKernels plain_table(const char* int8_body, decltype(PackedKernels::gemm_int8) gemm_int8) {
  PackedKernels table = {};
  table.int8_body = int8_body;
  table.bf16.rows = rows_to_bf16, table.bf16.pack = pack_bf16;
  table.quantize_rows = quantize_rows, table.gemm_int8 = gemm_int8;
  table.int16 = {int8_body, false, kInt16Block, rows_to_int16, pack_int16, gemm_int16, expand_int16};
  table.expand_rows = expand_rows, table.expand_depth = expand_depth, table.bf16.expand = expand_bf16;
  return table;
}

}  // namespace tackroom::TACKROOM_ISA
