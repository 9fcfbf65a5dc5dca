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

/** c (+)= acc for the first `columns` of 16. */
static inline void put_row(__m512 acc, float* c, __mmask16 columns, bool accumulate) {
  if (accumulate) acc = _mm512_add_ps(_mm512_maskz_loadu_ps(columns, c), acc);
  _mm512_mask_storeu_ps(c, columns, acc);
}

}  // namespace tackroom::TACKROOM_ISA
