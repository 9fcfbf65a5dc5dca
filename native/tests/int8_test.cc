/** 8- and 4-bit products: against double precision, every body against the plainest bit by bit, a row alone against company. */
#include <utility>

#include "support.h"

namespace tackroom::test {
namespace {

struct Case {
  int m, out, in, bits, group, offset;
  bool wide, minimums;
  std::string name() const {
    return text("m %d out %d in %d bits %d group %d offset %d wide %d minimums %d", m, out, in, bits, group, offset, wide, minimums);
  }
};

/** The panels [begin, end) of a product, in a frame of untouched values. */
std::vector<float> run(const PackedKernels& k, int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, int64_t c_row, bool accumulate) {
  std::vector<float> c(static_cast<size_t>(m * c_row), 0.37f);
  k.gemm_int8(m, a, w, begin, end, c.data(), c_row, accumulate);
  return c;
}

bool all_same(const std::vector<float>& a, const std::vector<float>& b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); i++) equal = same(a[i], b[i]);
  return equal;
}

/** Sum over groups of scale_a * (scale_w * (dot - offset * sum) + minimum * sum), in double. */
void check_values(const Case& t, const TestWeights& weights, const TestRows& rows, const std::vector<float>& c, int64_t c_row) {
  bool close = true, beside = true;
  const int groups = t.in / t.group;
  for (int i = 0; i < t.m; i++)
    for (int j = 0; j < c_row; j++) {
      const float got = c[static_cast<size_t>(i * c_row + j)];
      if (j >= t.out) {
        beside = beside && got == 0.37f;
        continue;
      }
      double wanted = 0, size = 0;
      for (int g = 0; g < groups; g++) {
        int64_t dot = 0, sum = 0;
        for (int p = g * t.group; p < (g + 1) * t.group; p++) {
          const int q = rows.q[static_cast<size_t>(i) * t.in + p];
          dot += (int{weights.integers[static_cast<size_t>(j) * t.in + p]} - t.offset) * q;
          sum += q;
        }
        const double by = rows.scales[static_cast<size_t>(i * (t.in / 32) + g * t.group / 32)];
        const size_t at = static_cast<size_t>(j * groups + g);
        const double term = by * weights.scales[at] * static_cast<double>(dot);
        const double lift = weights.minimums.empty() ? 0 : by * weights.minimums[at] * static_cast<double>(sum);
        wanted += term + lift;
        size += std::fabs(term) + std::fabs(lift);
      }
      close = close && std::fabs(got - wanted) <= size * 0x1p-24 * (4 + groups) + 1e-36;
    }
  check(close, "gemm_int8 baseline " + t.name() + ": values");
  check(beside, "gemm_int8 baseline " + t.name() + ": written beside");
}

/** Rows laid out once, in two pieces where they may be, and multiplied in pieces. */
void check_laid(const Body& b, const Case& t, const TestWeights& weights, const TestRows& rows, const std::vector<float>& wanted, int64_t c_row) {
  const PackedKernels& k = b.table;
  if (k.lay_out_rows == nullptr) return;
  std::vector<uint8_t> memory(static_cast<size_t>(k.laid_bytes(t.m, weights.w)) + 64, 0xa5);
  uint8_t* laid = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
  const int cut = t.m > kLaidRows ? kLaidRows : t.m, panels = static_cast<int>(panel_count(t.out)), from = panels / 2;
  k.lay_out_rows(t.m, rows.rows(), weights.w, 0, cut, laid);
  if (cut < t.m) k.lay_out_rows(t.m, rows.rows(), weights.w, cut, t.m, laid);
  std::vector<float> c(static_cast<size_t>(t.m * c_row), 0.37f), added = c;
  for (const auto& [first, last] : {std::pair{0, cut}, std::pair{cut, t.m}}) {
    if (first == last) continue;
    float* at = c.data() + first * c_row;
    k.gemm_int8_laid(t.m, laid, first, last, weights.w, 0, from, at, c_row, false);
    k.gemm_int8_laid(t.m, laid, first, last, weights.w, from, panels, at + 16 * from, c_row, false);
    k.gemm_int8_laid(t.m, laid, first, last, weights.w, 0, panels, added.data() + first * c_row, c_row, true);
  }
  bool sums = true;
  for (int i = 0; i < t.m; i++)
    for (int j = 0; j < t.out; j++) sums = sums && same(added[static_cast<size_t>(i * c_row + j)], 0.37f + wanted[static_cast<size_t>(i * c_row + j)]);
  const std::string what = "gemm_int8_laid " + b.name + " " + t.name();
  check(all_same(c, wanted), what + ": as gemm_int8");
  check(sums, what + ": accumulate");
}

void check_case(const std::vector<Body>& all, const Case& t, Random& random) {
  const TestWeights weights(t.out, t.in, t.bits, t.group, t.offset, t.wide, t.minimums, random);
  std::vector<float> x = random_floats(static_cast<size_t>(t.m) * t.in, random);
  for (size_t g = 0; g < x.size() / 32; g++)
    if (random.below(8) == 0)
      for (size_t e = 0; e < 32; e++) x[32 * g + e] *= random.below(2) == 0 ? 0 : 1e6f;
  const TestRows rows = quantized(all[0].table, x, t.m, t.in);
  const int panels = static_cast<int>(panel_count(t.out)), from = panels / 2;
  const int64_t c_row = t.out + 3;
  const std::vector<float> plain = run(all[0].table, t.m, rows.rows(), weights.w, 0, panels, c_row, false);
  check_values(t, weights, rows, plain, c_row);
  for (const Body& b : all) {
    const std::string what = "gemm_int8 " + b.name + " " + t.name();
    const std::vector<float> c = run(b.table, t.m, rows.rows(), weights.w, 0, panels, c_row, false);
    check(all_same(c, plain), what + ": as the plain body");
    const std::vector<float> added = run(b.table, t.m, rows.rows(), weights.w, 0, panels, c_row, true);
    const std::vector<float> part = run(b.table, t.m, rows.rows(), weights.w, from, panels, c_row, false);
    bool sums = true, parts = true, alone = true;
    for (int i = 0; i < t.m; i++) {
      for (int j = 0; j < t.out; j++) {
        const size_t at = static_cast<size_t>(i * c_row + j);
        sums = sums && same(added[at], 0.37f + c[at]);
        if (j >= 16 * from) parts = parts && same(part[at - static_cast<size_t>(16 * from)], c[at]);
      }
      const std::vector<float> row = run(b.table, 1, rows.row(i, t.in), weights.w, 0, panels, c_row, false);
      for (int j = 0; j < t.out; j++) alone = alone && same(row[static_cast<size_t>(j)], c[static_cast<size_t>(i * c_row + j)]);
    }
    check(sums, what + ": accumulate");
    check(parts, what + ": some panels");
    check(alone, what + ": a row alone");
    check_laid(b, t, weights, rows, c, c_row);
  }
}

void check_not_finite(const std::vector<Body>& all, Random& random) {
  for (const int m : {1, 3, 7, 16, 40})
    for (const int bits : {4, 8}) {
      const int in = 96, out = 40, row = m / 2, column = 21;
      TestWeights weights(out, in, bits, 32, 1 << (bits - 1), true, bits == 4, random);
      std::vector<float> x = random_floats(static_cast<size_t>(m) * in, random);
      const TestRows clean = quantized(all[0].table, x, m, in);
      const std::vector<float> before = run(all[0].table, m, clean.rows(), weights.w, 0, 3, out, false);
      x[static_cast<size_t>(row * in + 40)] = bits == 4 ? NAN : INFINITY;
      weights.scale_at(column, 1) = bits == 4 ? INFINITY : NAN;
      for (const Body& b : all) {
        const TestRows rows = quantized(b.table, x, m, in);
        const std::vector<float> c = run(b.table, m, rows.rows(), weights.w, 0, 3, out, false);
        bool holds = true;
        for (int i = 0; i < m; i++)
          for (int j = 0; j < out; j++) {
            const size_t at = static_cast<size_t>(i * out + j);
            if (i == row) holds = holds && std::isnan(c[at]);
            else if (j == column) holds = holds && !std::isfinite(c[at]);
            else holds = holds && same(c[at], before[at]);
          }
        check(holds, text("gemm_int8 %s m %d bits %d: NaN and infinity stay in their row and column", b.name.c_str(), m, bits));
      }
    }
}

}  // namespace

void test_int8(const std::vector<Body>& all, bool quick) {
  Random random{37};
  for (const int bits : {4, 8})
    for (const int group : {32, 16})
      for (int variant = 0; variant < 4; variant++) {
        const bool wide = variant % 2 == 1, minimums = variant >= 2;
        const int middle = 1 << (bits - 1);
        for (int m = 1; m <= 33; m++) {
          if (quick && m % 4 != variant && m > 8) continue;
          const int offset = m % 3 == 0 ? 0 : m % 3 == 1 ? middle : bits == 4 ? 3 : 32;
          check_case(all, {m, m % 2 == 0 ? 23 : 48, m % 5 == 0 ? 160 : 32 + m % 4 * 32, bits, group, offset, wide, minimums}, random);
        }
        check_case(all, {37, 40, 576, bits, group, middle, wide, minimums}, random);
        // Few rows share tiles two groups at a time: even and odd numbers of groups, and of pairs.
        for (const int in : {64, 128, 160, 192, 320}) check_case(all, {5 + in / 32 % 4, 40, in, bits, group, middle, wide, minimums}, random);
        // An offset that leaves no signed byte.
        for (const int m : {3, 8, 20}) check_case(all, {m, 24, 64, bits, group, 200, wide, minimums}, random);
        if (quick) continue;
        check_case(all, {100, 33, 96, bits, group, middle, wide, minimums}, random);
        check_case(all, {100, 33, 64, bits, group, 0, wide, minimums}, random);
        check_case(all, {6, 20, 1536, bits, group, middle, wide, minimums}, random);
        check_case(all, {410, 20, 1536, bits, group, variant % 2 == 0 ? middle : 5, wide, minimums}, random);
      }
  check_not_finite(all, random);
}

}  // namespace tackroom::test
