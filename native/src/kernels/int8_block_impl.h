/**
 * Rows of 8-bit activations laid out for a block of R rows that meets panel after panel: what a group of depths needs
 * stands together, and what depends on the row alone (offset * sum, scale * sum) is computed once instead of per panel.
 */
#pragma once
#include "packed_avx512_impl.h"

namespace tackroom::TACKROOM_ISA {

struct Int8Block {
  int8_t* q;        // [in / 32][R][32]
  float* scales;    // [in / 32][R]
  int32_t* shifts;  // [in / group][R] of -offset * sum
  float* lifts;     // [in / group][R] of scale * sum, what the minimum is multiplied by
  int32_t* used;    // how many groups of 32 are not zero in all rows, and which; ascending
};

static inline int64_t cache_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static inline int64_t int8_block_bytes(int R, const PackedWeights& w) {
  return cache_lines(int64_t{R} * w.in) + cache_lines(int64_t{4} * R * (w.in / 32)) + 2 * cache_lines(int64_t{4} * R * (w.in / w.group)) + cache_lines(4 + w.in / 8);
}

static inline Int8Block int8_block_at(uint8_t* memory, int R, const PackedWeights& w) {
  Int8Block b;
  b.q = reinterpret_cast<int8_t*>(memory);
  memory += cache_lines(int64_t{R} * w.in);
  b.scales = reinterpret_cast<float*>(memory);
  memory += cache_lines(int64_t{4} * R * (w.in / 32));
  b.shifts = reinterpret_cast<int32_t*>(memory);
  memory += cache_lines(int64_t{4} * R * (w.in / w.group));
  b.lifts = reinterpret_cast<float*>(memory);
  b.used = reinterpret_cast<int32_t*>(memory + cache_lines(int64_t{4} * R * (w.in / w.group)));
  return b;
}

/** Fills a block with `rows` <= R rows from `row` on; the rest is zero. Groups that are not used may be left as they are. */
static void fill_int8_block(const Int8Block& b, const Int8Rows& a, int row, int rows, int R, const PackedWeights& w, bool unused = true) {
  const int groups = w.in / 32, halves = 32 / w.group;
  int count = 0;
  for (int g = 0; g < groups; g++) {
    bool some = false;
    for (int r = 0; r < rows; r++) some = some || a.scales[int64_t{row + r} * groups + g] != 0;
    if (some) b.used[++count] = g;
  }
  b.used[0] = count;
  for (int r = 0; r < R; r++) {
    const int64_t from = row + r;
    const bool real = r < rows;
    const int8_t* q = a.q + from * w.in;
    const float* scales = a.scales + from * groups;
    const int32_t* sums = a.sums + from * groups * 2;
    for (int i = 0, n = unused ? groups : count; i < n; i++) {
      const int g = unused ? i : b.used[i + 1];
      __m256i* target = reinterpret_cast<__m256i*>(b.q + (int64_t{g} * R + r) * 32);
      _mm256_store_si256(target, real ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + 32 * g)) : _mm256_setzero_si256());
      const float scale = real ? scales[g] : 0;
      b.scales[g * R + r] = scale;
      for (int h = 0; h < halves; h++) {
        const int32_t sum = !real ? 0 : halves == 2 ? sums[2 * g + h] : sums[2 * g] + sums[2 * g + 1];
        b.shifts[(g * halves + h) * R + r] = -w.offset * sum;
        b.lifts[(g * halves + h) * R + r] = scale * static_cast<float>(sum);
      }
    }
  }
}

}  // namespace tackroom::TACKROOM_ISA
