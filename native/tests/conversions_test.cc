/** Rounding to bf16, quantisation of rows, expansion of weights. */
#include <limits>

#include "support.h"

namespace tackroom::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint16_t expected_bf16(float x) {
  if (std::isnan(x)) return 0x7fc0;
  if (std::fabs(x) > 3.38e38f) return static_cast<uint16_t>(x < 0 ? 0xff80 : 0x7f80);
  return bf16_nearest(x);
}
bool same_bf16(uint16_t got, uint16_t wanted) { return wanted == 0x7fc0 ? std::isnan(bf16_value(got)) : got == wanted; }

/** Random values with ties, denormals, overflow to infinity, infinities and NaN among them. */
std::vector<float> awkward_floats(size_t n, Random& random) {
  std::vector<float> x(n);
  for (float& v : x) {
    switch (random.below(12)) {
      case 0: v = float_of(static_cast<uint32_t>(random.next() & 0x807fffff)); break;
      case 1: v = float_of((static_cast<uint32_t>(random.next()) & 0xffff0000) | 0x8000); break;
      case 2: v = random.below(2) == 0 ? kInfinity : -kInfinity; break;
      case 3: v = float_of(0x7f800001 | static_cast<uint32_t>(random.next() & 0x803fffff)); break;
      case 4: v = random.below(2) == 0 ? 3.4e38f : -3.4e38f; break;
      default: v = random.uniform(-4, 4);
    }
    if (std::isfinite(v) && std::fabs(v) > 3.38e38f) v = 3.4e38f;
  }
  return x;
}

void check_bf16(const Body& b, int rows, int k, int64_t row, int64_t column, Random& random) {
  const std::vector<float> x = awkward_floats(static_cast<size_t>((rows - 1) * row + (k - 1) * column + 1), random);
  const int64_t depth = bf16_depth(k);
  const std::string what = text("%s rows %d k %d strides %d %d", b.name.c_str(), rows, k, static_cast<int>(row), static_cast<int>(column));
  std::vector<uint16_t> flat(static_cast<size_t>(rows * depth), 0x1234);
  b.table.bf16.rows(x.data(), row, column, rows, k, flat.data());
  std::vector<uint16_t> panels(static_cast<size_t>(panel_count(rows) * 16 * depth), 0x1234);
  b.table.bf16.pack(x.data(), row, column, rows, k, panels.data());
  bool flat_holds = true, panels_hold = true;
  for (int64_t i = 0; i < panel_count(rows) * 16; i++)
    for (int64_t p = 0; p < depth; p++) {
      const uint16_t wanted = i < rows && p < k ? expected_bf16(x[static_cast<size_t>(i * row + p * column)]) : uint16_t{0};
      if (i < rows) flat_holds = flat_holds && same_bf16(flat[static_cast<size_t>(i * depth + p)], wanted);
      panels_hold = panels_hold && same_bf16(panels[static_cast<size_t>((i / 16 * depth / 2 + p / 2) * 32 + i % 16 * 2 + p % 2)], wanted);
    }
  check(flat_holds, "rows_to_bf16 " + what);
  check(panels_hold, "pack_bf16 " + what);
}

void check_quantised(const Body& b, const Body& plain, int m, int in, Random& random) {
  std::vector<float> x = random_floats(static_cast<size_t>(m) * in, random);
  const float factors[] = {1, 1e-30f, 1e-36f, 1e-40f, 1e30f, 1.6e38f, 0};
  for (size_t g = 0; g < x.size() / 32; g++)
    for (size_t e = 0; e < 32; e++) {
      x[32 * g + e] *= factors[g % 7];
      if (g % 5 == 4) x[32 * g + e] = 0.5f * static_cast<float>(static_cast<int>(e) * 8 - 127);  // ties where the scale is 1
    }
  const size_t special = x.size() / 32 - 1;
  if (in > 64) x[32 * special + 5] = m % 2 == 0 ? NAN : -kInfinity;
  const TestRows r = quantized(b.table, x, m, in), wanted = quantized(plain.table, x, m, in);
  bool close = true, equal = r.q == wanted.q && r.sums == wanted.sums;
  for (size_t g = 0; g < r.scales.size(); g++) {
    equal = equal && same(r.scales[g], wanted.scales[g]);
    float top = 0;
    int sums[2] = {}, highest = 0;
    bool finite = true;
    for (size_t e = 0; e < 32; e++) {
      finite = finite && std::isfinite(x[32 * g + e]);
      top = std::fmax(top, std::fabs(x[32 * g + e]));
      sums[e / 16] += r.q[32 * g + e];
      highest = std::abs(int{r.q[32 * g + e]}) > highest ? std::abs(int{r.q[32 * g + e]}) : highest;
    }
    close = close && sums[0] == r.sums[2 * g] && sums[1] == r.sums[2 * g + 1];
    if (!finite) {
      close = close && std::isnan(r.scales[g]) && highest == 0;
      continue;
    }
    close = close && (top < 1e-35f ? r.scales[g] == 0 && highest == 0 : std::fabs(r.scales[g] - top / 127.0f) <= top * 1e-8f && highest == 127);
    for (size_t e = 0; e < 32; e++) {
      const double error = std::fabs(double{x[32 * g + e]} - double{r.scales[g]} * r.q[32 * g + e]);
      close = close && error <= double{r.scales[g]} * 0.50002 + 1e-35;
    }
  }
  check(close, text("quantize_rows %s m %d in %d", b.name.c_str(), m, in));
  check(equal, text("quantize_rows %s m %d in %d as the plain body", b.name.c_str(), m, in));
}

void check_expanded(const Body& b, const TestWeights& t, const std::string& what) {
  const PackedWeights& w = t.w;
  const int panels = static_cast<int>(panel_count(w.out));
  const int64_t row = w.in + 3, width = 16 * panels;
  std::vector<float> rows(static_cast<size_t>(16 * row), 77.0f), deep(static_cast<size_t>(width * w.in));
  std::vector<uint16_t> bf16(static_cast<size_t>(16 * w.in));
  bool rows_hold = true, depth_holds = true, bf16_holds = true;
  b.table.expand_depth(w, 0, panels, deep.data());
  for (int panel = 0; panel < panels; panel++) {
    b.table.expand_rows(w, panel, rows.data(), row);
    b.table.bf16.expand(w, panel, bf16.data());
    for (int c = 0; c < 16; c++) {
      for (int p = 0; p < w.in; p++) {
        const float wanted = t.value(16 * panel + c, p);
        rows_hold = rows_hold && same(rows[static_cast<size_t>(c * row + p)], wanted);
        depth_holds = depth_holds && same(deep[static_cast<size_t>(p * width + 16 * panel + c)], wanted);
        bf16_holds = bf16_holds && same_bf16(bf16[static_cast<size_t>(p / 2 * 32 + 2 * c + p % 2)], expected_bf16(wanted));
      }
      rows_hold = rows_hold && rows[static_cast<size_t>(c * row + w.in)] == 77.0f;
    }
  }
  check(rows_hold, "expand_rows " + what);
  check(depth_holds, "expand_depth " + what);
  check(bf16_holds, "expand_bf16 " + what);
}

}  // namespace

void test_conversions(const std::vector<Body>& all, bool quick) {
  Random random{11};
  for (const Body& b : all) {
    for (const int rows : {1, 5, 16, 17, 33})
      for (const int k : {1, 2, 15, 16, 31, 32, 33, 64, 100, 575}) {
        if (quick && k > 100) continue;
        check_bf16(b, rows, k, k, 1, random);
        check_bf16(b, rows, k, k + 5, 1, random);
        check_bf16(b, rows, k, 1, rows + 2, random);
        check_bf16(b, rows, k, 3, 3 * rows + 1, random);
      }
    for (const int in : {32, 64, 96, 576, 1536})
      for (const int m : {1, 2, 7}) check_quantised(b, all[0], m, in, random);
    for (const int bits : {4, 8})
      for (const int group : {16, 32})
        for (const int variant : {0, 1, 2, 3})
          for (const int in : {32, 64, 160, 576}) {
            if (quick && in > 160) continue;
            const bool wide = variant % 2 == 1, minimums = variant >= 2;
            for (const int offset : {0, bits == 4 ? 8 : 128, bits == 4 ? 0 : 32}) {
              const TestWeights t(in == 64 ? 16 : 37, in, bits, group, offset, wide, minimums, random);
              check_expanded(b, t, text("%s bits %d group %d offset %d wide %d minimums %d in %d", b.name.c_str(), bits, group, offset, wide, minimums, in));
            }
          }
  }
}

}  // namespace tackroom::test
