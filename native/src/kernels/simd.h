/**
 * The vector type of the translation unit that includes this: 4, 8 or 16 floats by the compiler's target flags.
 *
 * Everything under kernels/ that includes this header sits in a namespace of its own and uses no standard templates:
 * an inline function compiled here for AVX-512 must never be the one the linker keeps for the rest of the engine.
 */
#pragma once
#include <immintrin.h>

#include "kernels.h"

#if defined(__AVX512F__)
#define TACKROOM_ISA isa_avx512
#elif defined(__AVX2__)
#define TACKROOM_ISA isa_avx2
#else
#define TACKROOM_ISA isa_baseline
#endif

namespace tackroom::TACKROOM_ISA {

#if defined(__AVX512F__)
constexpr int W = 16, MR = 12;
using Vec = __m512;
static inline Vec set1(float x) { return _mm512_set1_ps(x); }
static inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
static inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
static inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
static inline Vec sqrt(Vec a) { return _mm512_sqrt_ps(a); }
static inline float reduce_add(Vec a) { return _mm512_reduce_add_ps(a); }
static inline float reduce_max(Vec a) { return _mm512_reduce_max_ps(a); }
static inline Vec round(Vec a) { return _mm512_roundscale_ps(a, 8); }
static inline Vec exp2i(Vec n) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23)); }
static inline Vec zero_where_below(Vec x, Vec limit, Vec y) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), y); }
#elif defined(__AVX2__)
constexpr int W = 8, MR = 6;
using Vec = __m256;
static inline Vec set1(float x) { return _mm256_set1_ps(x); }
static inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
static inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
static inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
static inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
static inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
static inline Vec sqrt(Vec a) { return _mm256_sqrt_ps(a); }
static inline float reduce_add(Vec a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
static inline float reduce_max(Vec a) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
static inline Vec round(Vec a) { return _mm256_round_ps(a, 8); }
static inline Vec exp2i(Vec n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23)); }
static inline Vec zero_where_below(Vec x, Vec limit, Vec y) { return _mm256_and_ps(_mm256_cmp_ps(x, limit, _CMP_NLT_UQ), y); }
#else
constexpr int W = 4, MR = 4;
using Vec = __m128;
static inline Vec set1(float x) { return _mm_set1_ps(x); }
static inline Vec load(const float* p) { return _mm_loadu_ps(p); }
static inline void store(float* p, Vec v) { _mm_storeu_ps(p, v); }
static inline Vec fma(Vec a, Vec b, Vec c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
static inline Vec max(Vec a, Vec b) { return _mm_max_ps(a, b); }
static inline Vec min(Vec a, Vec b) { return _mm_min_ps(a, b); }
static inline Vec sqrt(Vec a) { return _mm_sqrt_ps(a); }
static inline float reduce_add(Vec s) {
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
static inline float reduce_max(Vec s) {
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
static inline Vec round(Vec a) { return _mm_round_ps(a, 8); }
static inline Vec exp2i(Vec n) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127)), 23)); }
static inline Vec zero_where_below(Vec x, Vec limit, Vec y) { return _mm_and_ps(_mm_cmpnlt_ps(x, limit), y); }
#endif

constexpr int NR = 2 * W;

/** e^x to about 2 ulp; below -87.3 exactly 0; NaN stays NaN. Range reduction and polynomial as in Cephes expf. */
static inline Vec exp(Vec x) {
  const Vec lowest = set1(-87.3f);
  const Vec clamped = min(set1(88.02f), max(lowest, x));
  const Vec n = round(clamped * set1(1.44269504088896341f));
  Vec r = fma(n, set1(-0.693359375f), clamped);
  r = fma(n, set1(2.12194440e-4f), r);
  Vec p = set1(1.9875691500e-4f);
  p = fma(p, r, set1(1.3981999507e-3f));
  p = fma(p, r, set1(8.3334519073e-3f));
  p = fma(p, r, set1(4.1665795894e-2f));
  p = fma(p, r, set1(1.6666665459e-1f));
  p = fma(p, r, set1(5.0000001201e-1f));
  p = fma(p, r * r, r + set1(1.0f));
  return zero_where_below(x, lowest, p * exp2i(n));
}

static inline float exp_scalar(float x) {
  float lanes[W];
  store(lanes, exp(set1(x)));
  return lanes[0];
}

/** Loads n < W floats, the rest filled with `fill`. */
static inline Vec load_tail(const float* p, int n, float fill) {
  float lanes[W];
  for (int i = 0; i < W; i++) lanes[i] = i < n ? p[i] : fill;
  return load(lanes);
}
static inline void store_tail(float* p, int n, Vec v) {
  float lanes[W];
  store(lanes, v);
  for (int i = 0; i < n; i++) p[i] = lanes[i];
}

/** Calls body(offset, count) for whole vectors (count == W) and then once for the rest. */
template <class Body>
static inline void for_vectors(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + W <= n; i += W) body(i, W);
  if (i < n) body(i, static_cast<int>(n - i));
}
static inline Vec load_n(const float* p, int count, float fill = 0) { return count == W ? load(p) : load_tail(p, count, fill); }
static inline void store_n(float* p, int count, Vec v) {
  if (count == W) store(p, v);
  else store_tail(p, count, v);
}

}  // namespace tackroom::TACKROOM_ISA
