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
  for (int p = 0; p < w.in; p++) {
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

/** A table of the bodies in this file and one for 8-bit products. */
static inline PackedKernels plain_table(const char* int8_body, decltype(PackedKernels::gemm_int8) gemm_int8) {
  PackedKernels table = {};
  table.int8_body = int8_body;
  table.rows_to_bf16 = rows_to_bf16, table.pack_bf16 = pack_bf16;
  table.quantize_rows = quantize_rows, table.gemm_int8 = gemm_int8;
  table.expand_rows = expand_rows, table.expand_depth = expand_depth, table.expand_bf16 = expand_bf16;
  return table;
}

}  // namespace tackroom::TACKROOM_ISA
