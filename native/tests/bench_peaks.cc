/** Register-only peaks of the dot instructions of this processor, compiled with all of them; called only where they exist. */
#include "bench_peaks.h"

#include <immintrin.h>

namespace tackroom::test {

void vnni_peak_loop(int64_t iterations) {
  __m512i s[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) s[i] = _mm512_set1_epi32(i);
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
  for (int64_t n = 0; n < iterations; n++)
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      s[i] = _mm512_dpbusd_epi32(s[i], a, b);
      __asm__ volatile("" : "+v"(s[i]));
    }
}

void bf16_peak_loop(int64_t iterations) {
  __m512 s[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) s[i] = _mm512_set1_ps(0);
  const __m512bh a = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(0x3f803f80)), b = a;
  for (int64_t n = 0; n < iterations; n++)
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      s[i] = _mm512_dpbf16_ps(s[i], a, b);
      __asm__ volatile("" : "+v"(s[i]));
    }
}

int64_t read_loop(const void* memory, int64_t bytes) {
  const char* p = static_cast<const char*>(memory);
  __m512i s[8] = {};
  for (int64_t i = 0; i + 512 <= bytes; i += 512)
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
      _mm_prefetch(p + i + 4096 + 64 * j, _MM_HINT_T0);
      s[j] = _mm512_xor_si512(s[j], _mm512_loadu_si512(p + i + 64 * j));
    }
  for (int j = 1; j < 8; j++) s[0] = _mm512_xor_si512(s[0], s[j]);
  return _mm512_reduce_add_epi64(s[0]);
}

int64_t read_loop_plain(const void* memory, int64_t bytes) {
  const int64_t* p = static_cast<const int64_t*>(memory);
  int64_t s[8] = {};
  for (int64_t i = 0; i + 64 <= bytes; i += 64, p += 8)
    for (int j = 0; j < 8; j++) s[j] ^= p[j];
  return s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4] ^ s[5] ^ s[6] ^ s[7];
}

}  // namespace tackroom::test
