/** Searches for single bytes, sixteen at a time. Reads behind the end of a text only where its buffer goes on. */
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace tackroom::scan {

inline __m128i load(const uint8_t* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
inline __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

/** The first byte in [at, end) for which `one` holds, or end; `many` says the same of sixteen bytes, 0xff where it holds. */
template <class Many, class One>
inline const uint8_t* find(const uint8_t* at, const uint8_t* end, const uint8_t* readable, Many many, One one) {
  while (at < end) {
    if (readable - at < 16) {
      while (at < end && !one(*at)) at++;
      return at;
    }
    const auto hits = static_cast<uint32_t>(_mm_movemask_epi8(many(load(at))));
    if (hits != 0) {
      at += __builtin_ctz(hits);
      return at < end ? at : end;
    }
    at += 16;
  }
  return end;
}

}  // namespace tackroom::scan
