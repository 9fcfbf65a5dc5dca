/** Checks, random numbers and exact references for the native test programs. */
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../src/kernels/packed_bodies.h"

namespace tackroom::test {

inline int64_t checks = 0, failures = 0;

/** Counts a check; prints the first failures with the case they belong to. */
inline bool check(bool holds, const std::string& what) {
  checks++;
  if (!holds && ++failures <= 20) std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  return holds;
}

template <class... Args>
std::string text(const char* format, Args... args) {
  char out[512];
  std::snprintf(out, sizeof out, format, args...);
  return out;
}

/** splitmix64: the same numbers on every machine. */
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  float uniform(float from, float to) { return from + (to - from) * static_cast<float>(next() >> 40) * 0x1p-24f; }
};

inline uint32_t bits_of(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}
inline float float_of(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}
/** Any NaN equals any other. */
inline bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || bits_of(a) == bits_of(b); }

inline float bf16_value(uint16_t h) { return float_of(uint32_t{h} << 16); }
/** The nearer of the two neighbours, found by distance; the even one on a tie. Finite values below the largest bf16 only. */
inline uint16_t bf16_nearest(float x) {
  const uint16_t low = static_cast<uint16_t>(bits_of(x) >> 16), high = static_cast<uint16_t>(low + 1);
  const double down = std::fabs(double{x} - bf16_value(low)), up = std::fabs(double{bf16_value(high)} - x);
  if (down == up) return low % 2 == 0 ? low : high;
  return down < up ? low : high;
}

/** By the definition of IEEE 754 binary16. */
inline float f16_value(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(h & 0x8000 ? -magnitude : magnitude);
}

struct Body {
  std::string name;
  PackedKernels table;
};

/** The tables of every level that runs here. */
inline std::vector<Body> bodies() {
  std::vector<Body> all;
  const std::pair<const char*, KernelLevel> levels[] = {
      {"baseline", KernelLevel::baseline}, {"avx2", KernelLevel::avx2}, {"avx512", KernelLevel::avx512}, {"amx", KernelLevel::amx}};
  for (const auto& [name, level] : levels)
    if (runs_here(level)) all.push_back({name, packed_table(level)});
  // The instruction exists where another body is preferred to it.
  if (const CpuInfo cpu = cpu_info(); cpu.avx512bf16 && !cpu.fast_bf16) {
    all.push_back({"avx512bf16", packed_table(KernelLevel::avx512)});
    add_avx512bf16_bodies(all.back().table);
  }
  return all;
}

/** Random weights in the packed layout, and what each element stands for. */
struct TestWeights {
  PackedWeights w;
  std::vector<uint8_t> data, integers;  // integers: [padded out][in]
  std::vector<float> scales, minimums;  // [padded out][in / group], as the values they have
  std::vector<float> wide_scales, wide_minimums;
  std::vector<uint16_t> half_scales, half_minimums;

  TestWeights(const TestWeights&) = delete;
  TestWeights(int out, int in, int bits, int group, int offset, bool wide, bool with_minimums, Random& random) {
    const int padded = static_cast<int>(panel_count(out)) * 16, groups = in / group;
    integers.resize(static_cast<size_t>(padded) * in);
    data.resize(static_cast<size_t>(padded) * in * bits / 8);
    for (int i = 0; i < padded; i++)
      for (int p = 0; p < in; p++) {
        const int u = random.below(4) == 0 ? (random.below(2) == 0 ? 0 : (1 << bits) - 1) : random.below(1 << bits);
        integers[static_cast<size_t>(i) * in + p] = static_cast<uint8_t>(u);
        const size_t panel = static_cast<size_t>(i / 16), c = i % 16;
        if (bits == 8) data[((panel * (in / 4) + p / 4) * 16 + c) * 4 + p % 4] = static_cast<uint8_t>(u);
        else {
          const int within = p % 32, vector = within / 8, high = within % 8 / 4;
          data[((panel * (in / 32) + p / 32) * 4 + vector) * 64 + c * 4 + p % 4] |= static_cast<uint8_t>(u << (4 * high));
        }
      }
    fill(out, padded, groups, wide, random, scales, wide_scales, half_scales);
    if (with_minimums) fill(out, padded, groups, wide, random, minimums, wide_minimums, half_minimums);
    w = {out, in, bits, group, offset, wide, data.data(), pointer(wide_scales, half_scales), with_minimums ? pointer(wide_minimums, half_minimums) : nullptr};
  }

  /** scale * (u - offset) + minimum, rounded after the product and after the sum. */
  float value(int i, int p) const {
    const size_t g = static_cast<size_t>(i) * (w.in / w.group) + p / w.group;
    const volatile float product = scales[g] * static_cast<float>(integers[static_cast<size_t>(i) * w.in + p] - w.offset);
    return minimums.empty() ? product : product + minimums[g];
  }
  float& scale_at(int i, int g) { return wide_scales[(static_cast<size_t>(i / 16) * (w.in / w.group) + g) * 16 + i % 16]; }

 private:
  static const void* pointer(const std::vector<float>& wide, const std::vector<uint16_t>& half) {
    return wide.empty() ? static_cast<const void*>(half.data()) : wide.data();
  }
  static void fill(int out, int padded, int groups, bool wide, Random& random, std::vector<float>& values, std::vector<float>& floats,
                   std::vector<uint16_t>& halves) {
    values.resize(static_cast<size_t>(padded) * groups);
    if (wide) floats.resize(values.size());
    else halves.resize(values.size());
    for (int i = 0; i < padded; i++)
      for (int g = 0; g < groups; g++) {
        // Normal and denormal f16 of both signs; now and then zero.
        uint16_t half = static_cast<uint16_t>(random.below(2) << 15 | random.below(18) << 10 | random.below(1024));
        if (i >= out || random.below(16) == 0) half = 0;
        const float value = wide && half != 0 ? random.uniform(-3, 3) : f16_value(half);
        values[static_cast<size_t>(i) * groups + g] = value;
        const size_t at = (static_cast<size_t>(i / 16) * groups + g) * 16 + i % 16;
        if (wide) floats[at] = value;
        else halves[at] = half;
      }
  }
};

struct TestRows {
  std::vector<int8_t> q;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  Int8Rows rows() const { return {q.data(), scales.data(), sums.data()}; }
  Int8Rows row(int64_t i, int in) const { return {q.data() + i * in, scales.data() + i * (in / 32), sums.data() + i * (in / 16)}; }
};

inline TestRows quantized(const PackedKernels& k, const std::vector<float>& x, int m, int in) {
  TestRows r;
  r.q.resize(static_cast<size_t>(m) * in);
  r.scales.resize(static_cast<size_t>(m) * in / 32);
  r.sums.resize(static_cast<size_t>(m) * in / 16);
  k.quantize_rows(x.data(), in, m, in, r.q.data(), r.scales.data(), r.sums.data());
  return r;
}

inline std::vector<float> random_floats(size_t n, Random& random, float from = -2, float to = 2) {
  std::vector<float> x(n);
  for (float& v : x) v = random.uniform(from, to);
  return x;
}

void test_conversions(const std::vector<Body>& all, bool quick);
void test_bf16(const std::vector<Body>& all, bool quick);
void test_int16(const std::vector<Body>& all, bool quick);
void test_int8(const std::vector<Body>& all, bool quick);

}  // namespace tackroom::test
