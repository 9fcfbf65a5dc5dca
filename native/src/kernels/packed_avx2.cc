/** Bodies for AVX2: the plain ones compiled for it, and dots of 8 bits by widening, which cannot overflow. */
#include "packed_portable_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

static inline __m256 factors(const PackedWeights& w, const void* base, int64_t index) {
  if (w.wide_scales) return _mm256_loadu_ps(static_cast<const float*>(base) + index);
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const uint16_t*>(base) + index)));
}

static inline __m256i bytes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
static inline int32_t quad_of(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return word;
}

/** Columns 0..7 and 8..15 of a dot over `quads` * 4 depths of 8-bit integers u [quads][16][4]. */
static inline void dot8(const uint8_t* u, const int8_t* q, int quads, __m256i* out) {
  __m256i s[4] = {};
  for (int j = 0; j < quads; j++) {
    const __m256i x = _mm256_cvtepi8_epi16(_mm_set1_epi32(quad_of(q + 4 * j)));
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
      const __m256i v = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(u + 64 * j + 16 * c)));
      s[c] = _mm256_add_epi32(s[c], _mm256_madd_epi16(v, x));
    }
  }
  for (int h = 0; h < 2; h++) out[h] = _mm256_permute4x64_epi64(_mm256_hadd_epi32(s[2 * h], s[2 * h + 1]), 0xd8);
}

/** The same for 4-bit integers, [quads / 2][16][4] of pairs: 8 sums of two products of 15 * 127 stay within 16 bits. */
static inline void dot4(const uint8_t* u, const int8_t* q, int quads, __m256i* out) {
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  for (int h = 0; h < 2; h++) {
    __m256i s = _mm256_setzero_si256();
    for (int j = 0; j < quads; j += 2) {
      const __m256i v = bytes(u + 32 * j + 32 * h);
      s = _mm256_add_epi16(s, _mm256_maddubs_epi16(_mm256_and_si256(v, low), _mm256_set1_epi32(quad_of(q + 4 * j))));
      s = _mm256_add_epi16(s, _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(v, 4), low), _mm256_set1_epi32(quad_of(q + 4 * j + 4))));
    }
    out[h] = _mm256_madd_epi16(s, ones);
  }
}

static void int8_row(const Int8Rows& a, int64_t row, const PackedWeights& w, int panel, float* out) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const int64_t first_scale = panel * w.panel_scales();
  const int8_t* q = a.q + row * w.in;
  __m256 acc[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int p = 0; p < w.in; p += w.group) {
    __m256i dots[2];
    if (w.bits == 8) dot8(data + p * kPanelColumns, q + p, w.group / 4, dots);
    else dot4(data + p * kPanelColumns / 2, q + p, w.group / 4, dots);
    const int32_t* sums = a.sums + row * (w.in / 16) + p / 16;
    const int32_t sum = w.group == 32 ? sums[0] + sums[1] : sums[0];
    const float by = a.scales[row * (w.in / 32) + p / 32];
    const int64_t index = first_scale + p / w.group * kPanelColumns;
    for (int h = 0; h < 2; h++) {
      const __m256 dot = _mm256_cvtepi32_ps(_mm256_sub_epi32(dots[h], _mm256_set1_epi32(w.offset * sum)));
      acc[h] = _mm256_fmadd_ps(dot, _mm256_mul_ps(factors(w, w.scales, index + 8 * h), _mm256_set1_ps(by)), acc[h]);
      if (w.minimums != nullptr)
        acc[h] = _mm256_fmadd_ps(factors(w, w.minimums, index + 8 * h), _mm256_set1_ps(by * static_cast<float>(sum)), acc[h]);
    }
  }
  _mm256_storeu_ps(out, acc[0]);
  _mm256_storeu_ps(out + 8, acc[1]);
}

static void gemm_int8(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  float acc[kPanelColumns];
  for (int panel = begin; panel < end; panel++) {
    const int left = w.out - panel * kPanelColumns, columns = left < kPanelColumns ? left : kPanelColumns;
    for (int row = 0; row < m; row++) {
      float* out = c + row * c_row + (panel - begin) * kPanelColumns;
      int8_row(a, row, w, panel, acc);
      for (int j = 0; j < columns; j++) out[j] = accumulate ? out[j] + acc[j] : acc[j];
    }
  }
}

}  // namespace TACKROOM_ISA

void add_avx2_bodies(PackedKernels& table) {
  using namespace TACKROOM_ISA;
  table = plain_table("avx2", gemm_int8);
}

}  // namespace tackroom
