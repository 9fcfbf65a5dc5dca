/** What the AVX-512 bodies of packed.h share: loads of scales and integers, bf16 rounding, a transpose. */
#pragma once
#include "packed_bodies.h"
#include "simd.h"

namespace tackroom::TACKROOM_ISA {

constexpr float kLeastMagnitude = 0x1p-118f;  // as in packed_portable_impl.h

static inline float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

static inline __mmask16 first_lanes(int n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1); }

/** bf16 bits in the low halves: round to nearest even by integers, because the instruction for it flushes denormals. */
static inline __m512i bf16_words(__m512 x) {
  const __m512i u = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_srli_epi32(_mm512_mask_or_epi32(rounded, nan, u, _mm512_set1_epi32(0x400000)), 16);
}

static inline __m256i to_bf16(__m512 x) { return _mm512_cvtepi32_epi16(bf16_words(x)); }
static inline __m512i pair_bf16(__m512 first, __m512 second) {
  return _mm512_or_si512(bf16_words(first), _mm512_slli_epi32(bf16_words(second), 16));
}
static inline uint16_t bf16_from(float x) { return static_cast<uint16_t>(_mm512_cvtsi512_si32(bf16_words(_mm512_set1_ps(x)))); }

/** Swaps rows and columns of 16 x 16 words. */
static inline void transpose16(__m512i* r) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 4) {
    const __m512i a = _mm512_unpacklo_epi32(r[i], r[i + 1]), b = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    const __m512i c = _mm512_unpacklo_epi32(r[i + 2], r[i + 3]), d = _mm512_unpackhi_epi32(r[i + 2], r[i + 3]);
    t[i] = _mm512_unpacklo_epi64(a, c), t[i + 1] = _mm512_unpackhi_epi64(a, c);
    t[i + 2] = _mm512_unpacklo_epi64(b, d), t[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  // t[4g + s] holds, in its lane l of 4 words, column 4l + s of the rows 4g..4g + 3.
#pragma GCC unroll 4
  for (int s = 0; s < 4; s++) {
    const __m512i a = _mm512_shuffle_i32x4(t[s], t[4 + s], 0x44), b = _mm512_shuffle_i32x4(t[s], t[4 + s], 0xee);
    const __m512i c = _mm512_shuffle_i32x4(t[8 + s], t[12 + s], 0x44), d = _mm512_shuffle_i32x4(t[8 + s], t[12 + s], 0xee);
    r[s] = _mm512_shuffle_i32x4(a, c, 0x88), r[4 + s] = _mm512_shuffle_i32x4(a, c, 0xdd);
    r[8 + s] = _mm512_shuffle_i32x4(b, d, 0x88), r[12 + s] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}

/** 16 scales or minimums from element `index` on. */
static inline __m512 factors(bool wide, const void* base, int64_t index) {
  if (wide) return _mm512_loadu_ps(static_cast<const float*>(base) + index);
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const uint16_t*>(base) + index)));
}

/** The integers of 32 depths from p on: vector j holds the depths 4j..4j + 3 of 16 columns. */
static inline __attribute__((always_inline)) void load_integers(int bits, const uint8_t* panel, int p, __m512i* u) {
  if (bits == 8) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) u[j] = _mm512_loadu_si512(panel + p * 16 + 64 * j);
    return;
  }
  const __m512i low = _mm512_set1_epi8(15);
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m512i v = _mm512_loadu_si512(panel + p * 8 + 64 * j);
    u[2 * j] = _mm512_and_si512(v, low);
    u[2 * j + 1] = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
  }
}

/** The values of the depths 4j + e of a group, 16 columns, from its vector j of integers. */
static inline __m512 depth_values(__m512i quads, int e, __m512i offset, __m512 scale, const __m512* minimum) {
  const __m512i u = _mm512_and_si512(_mm512_srl_epi32(quads, _mm_cvtsi32_si128(8 * e)), _mm512_set1_epi32(255));
  const __m512 value = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(_mm512_sub_epi32(u, offset)));
  return minimum == nullptr ? value : _mm512_add_ps(value, *minimum);
}

/** Calls put(depth, n, vectors) with the values of 16 depths from `depth` on, a vector of 16 columns for each; the first n exist, the others are zeros. */
template <class Put>
static inline void for_depth_blocks(const PackedWeights& w, int panel, Put put) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  __m512 values[16];
  for (int p = 0; p < w.in && w.bits == 16; p += 16) {
    for (int e = 0; e < 16; e += 2) {
      const __m512i pair = _mm512_loadu_si512(data + int64_t{p + e} * (2 * kPanelColumns));
      values[e] = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
      values[e + 1] = _mm512_castsi512_ps(_mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
    }
    put(p, w.in - p < 16 ? w.in - p : 16, values);
  }
  if (w.bits == 16) return;
  const __m512i offset = _mm512_set1_epi32(w.offset);
  __m512i u[8];
  for (int p = 0; p < w.in; p += 16) {
    if (p % 32 == 0) load_integers(w.bits, data, p, u);
    const int64_t index = panel * w.panel_scales() + p / w.group * kPanelColumns;
    const __m512 scale = factors(w.wide_scales, w.scales, index);
    __m512 minimum;
    if (w.minimums != nullptr) minimum = factors(w.wide_scales, w.minimums, index);
#pragma GCC unroll 16
    for (int e = 0; e < 16; e++) values[e] = depth_values(u[p % 32 / 4 + e / 4], e % 4, offset, scale, w.minimums == nullptr ? nullptr : &minimum);
    put(p, 16, values);
  }
}

/** c (+)= acc for the first `columns` of 16. */
static inline void put_row(__m512 acc, float* c, __mmask16 columns, bool accumulate) {
  if (accumulate) acc = _mm512_add_ps(_mm512_maskz_loadu_ps(columns, c), acc);
  _mm512_mask_storeu_ps(c, columns, acc);
}

}  // namespace tackroom::TACKROOM_ISA
