/** bf16 products against double precision; a row alone against the same row in company; nothing written beside C. */
#include "support.h"

namespace tackroom::test {
namespace {

struct Product {
  int m, n, k;
  int64_t depth, a_row, c_row;
  std::vector<uint16_t> a, b;

  Product(const PackedKernels& pack, int rows, int columns, int deep, Random& random)
      : m(rows), n(columns), k(deep), depth(bf16_depth(deep)), a_row(depth + (rows % 3 == 0 ? 32 : 0)), c_row(columns + 5) {
    const std::vector<float> x = random_floats(static_cast<size_t>(m) * k, random), w = random_floats(static_cast<size_t>(n) * k, random);
    std::vector<uint16_t> tight(static_cast<size_t>(m * depth));
    pack.bf16.rows(x.data(), k, 1, m, k, tight.data());
    a.assign(static_cast<size_t>(m * a_row), 0x7fc0);  // a read outside the rows would be seen
    for (int i = 0; i < m; i++) std::memcpy(a.data() + i * a_row, tight.data() + i * depth, static_cast<size_t>(2 * depth));
    b.resize(static_cast<size_t>(panel_count(n) * 16 * depth));
    pack.bf16.pack(w.data(), k, 1, n, k, b.data());
  }
  float a_at(int i, int p) const { return bf16_value(a[static_cast<size_t>(i * a_row + p)]); }
  float b_at(int j, int p) const { return bf16_value(b[static_cast<size_t>((j / 16 * depth / 2 + p / 2) * 32 + j % 16 * 2 + p % 2)]); }
  std::vector<float> run(const PackedKernels& kernels, bool accumulate, float start) const {
    std::vector<float> c(static_cast<size_t>(m * c_row), start);
    kernels.bf16.gemm(m, n, k, a.data(), a_row, b.data(), c.data(), c_row, accumulate);
    return c;
  }
};

void check_product(const Body& body, const Product& t) {
  const std::string what = text("gemm_bf16 %s m %d n %d k %d", body.name.c_str(), t.m, t.n, t.k);
  const std::vector<float> c = t.run(body.table, false, 0.37f), added = t.run(body.table, true, 0.37f);
  bool close = true, beside = true, sums = true, alone = true;
  std::vector<float> row(static_cast<size_t>(t.n));
  for (int i = 0; i < t.m; i++) {
    for (int j = 0; j < t.c_row; j++) {
      const size_t at = static_cast<size_t>(i * t.c_row + j);
      if (j >= t.n) {
        beside = beside && c[at] == 0.37f && added[at] == 0.37f;
        continue;
      }
      double wanted = 0, size = 0;
      for (int p = 0; p < t.k; p++) {
        const double product = double{t.a_at(i, p)} * t.b_at(j, p);
        wanted += product;
        size += std::fabs(product);
      }
      close = close && std::fabs(c[at] - wanted) <= size * 0x1p-24 * (8 + t.k / 16.0);
      sums = sums && same(added[at], 0.37f + c[at]);
    }
    body.table.bf16.gemm(1, t.n, t.k, t.a.data() + i * t.a_row, t.a_row, t.b.data(), row.data(), t.n, false);
    for (int j = 0; j < t.n; j++) alone = alone && same(row[static_cast<size_t>(j)], c[static_cast<size_t>(i * t.c_row + j)]);
  }
  check(close, what + ": values");
  check(beside, what + ": written beside");
  check(sums, what + ": accumulate");
  check(alone, what + ": a row alone");
}

void check_not_finite(const Body& body, Random& random) {
  for (const int m : {1, 9, 20, 50}) {
    Product t(body.table, m, 40, 64, random);
    const std::vector<float> clean = t.run(body.table, false, 0);
    const int row = m / 2, column = 21;
    t.a[static_cast<size_t>(row * t.a_row + 7)] = 0x7fc0;
    t.b[static_cast<size_t>((column / 16 * t.depth / 2 + 3) * 32 + column % 16 * 2)] = 0x7f80;
    const std::vector<float> c = t.run(body.table, false, 0);
    bool holds = true;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < t.n; j++) {
        const size_t at = static_cast<size_t>(i * t.c_row + j);
        if (i == row) holds = holds && std::isnan(c[at]);
        else if (j == column) holds = holds && !std::isfinite(c[at]);
        else holds = holds && same(c[at], clean[at]);
      }
    check(holds, text("gemm_bf16 %s m %d: NaN and infinity stay in their row and column", body.name.c_str(), m));
  }
}

}  // namespace

void test_bf16(const std::vector<Body>& all, bool quick) {
  for (const Body& body : all) {
    if (body.table.bf16.gemm == nullptr) continue;
    Random random{23};
    for (int m = 1; m <= 33; m++)
      for (const int n : {1, 16, 23, 48, 70}) check_product(body, Product(body.table, m, n, m % 2 == 0 ? 45 : 96, random));
    for (const int k : {1, 31, 32, 33, 64, 576, 1000, 1536}) {
      if (quick && k > 600) continue;
      check_product(body, Product(body.table, 1, 65, k, random));
      check_product(body, Product(body.table, 37, 50, k, random));
      check_product(body, Product(body.table, 100, 33, k, random));
    }
    if (!quick) check_product(body, Product(body.table, 700, 40, 1536, random));
    check_not_finite(body, random);
  }
}

}  // namespace tackroom::test
