/** Operands and products of the form int16: the plain body against the definition, every other body against the plain one bit by bit. */
#include <algorithm>
#include <limits>

#include "support.h"

namespace tackroom::test {
namespace {

int16_t integer_of(uint16_t word) { return static_cast<int16_t>(word); }
float float_at(const uint16_t* words) {
  float x;
  std::memcpy(&x, words, 4);
  return x;
}

/** An operand of [n, k], and where its integers and scales lie in the two layouts. */
struct Operand {
  const Form16& form;
  int n, k;
  std::vector<uint16_t> rows, panels;

  Operand(const Form16& f, const float* x, int64_t row, int64_t column, int count, int depth) : form(f), n(count), k(depth) {
    rows.assign(static_cast<size_t>(n * form.words(k)), 0x1234);
    panels.assign(static_cast<size_t>(form.panels(n, k)), 0x1234);
    form.rows(x, row, column, n, k, rows.data());
    form.pack(x, row, column, n, k, panels.data());
  }
  int64_t block_depth(int p) const { return bf16_depth(std::min(kInt16Block, k - p / kInt16Block * kInt16Block)); }
  int64_t block_at(int p) const { return int64_t{p / kInt16Block} * (kInt16Block + 2); }
  int row_integer(int i, int p) const { return integer_of(rows[static_cast<size_t>(i * form.words(k) + block_at(p) + p % kInt16Block)]); }
  float row_scale(int i, int p) const { return float_at(rows.data() + i * form.words(k) + block_at(p) + block_depth(p)); }
  const uint16_t* panel_block(int j, int p) const { return panels.data() + (j / 16 * form.words(k) + block_at(p)) * 16; }
  int panel_integer(int j, int p) const { return integer_of(panel_block(j, p)[p % kInt16Block / 2 * 32 + j % 16 * 2 + p % 2]); }
  float panel_scale(int j, int p) const { return float_at(panel_block(j, p) + 16 * block_depth(p) + 2 * (j % 16)); }
};

/** Blocks of every size of number, some of zeros, one with a NaN or an infinity. */
std::vector<float> awkward(int n, int k, Random& random) {
  const float factors[] = {1, 1e-30f, 1e-35f, 1e-40f, 1e30f, 1.6e38f, 0};
  std::vector<float> x = random_floats(static_cast<size_t>(n) * k, random);
  for (int i = 0; i < n; i++)
    for (int p = 0; p < k; p++) x[static_cast<size_t>(i) * k + p] *= factors[(i + p / kInt16Block) % 7];
  if (n > 2) x[static_cast<size_t>(k) * 2 + random.below(k)] = random.below(2) == 0 ? NAN : -std::numeric_limits<float>::infinity();
  return x;
}

/** The definition: the largest magnitude of a block becomes the limit, every value the nearest integer. */
void check_plain(const Body& plain, int n, int k, Random& random) {
  const std::vector<float> x = awkward(n, k, random);
  const Operand o(plain.table.int16, x.data(), k, 1, n, k);
  bool holds = true, both = true, padded = true;
  for (int i = 0; i < n; i++)
    for (int first = 0; first < k; first += kInt16Block) {
      const int last = std::min(k, first + kInt16Block);
      float top = 0;
      bool finite = true;
      for (int p = first; p < last; p++) top = std::fmax(top, std::fabs(x[static_cast<size_t>(i) * k + p])), finite = finite && std::isfinite(x[static_cast<size_t>(i) * k + p]);
      const float scale = o.row_scale(i, first);
      both = both && same(scale, o.panel_scale(i, first));
      int highest = 0;
      for (int p = first; p < last; p++) {
        const int q = o.row_integer(i, p);
        both = both && q == o.panel_integer(i, p);
        highest = std::max(highest, std::abs(q));
        if (finite) holds = holds && std::fabs(double{x[static_cast<size_t>(i) * k + p]} - double{scale} * q) <= double{scale} * 0.5004 + 1e-34;
      }
      if (!finite) holds = holds && std::isnan(scale) && highest == 0;
      else holds = holds && (top < 1e-34f ? scale == 0 && highest == 0 : highest == kInt16Limit && std::fabs(scale - top / kInt16Limit) <= top * 1e-7f / kInt16Limit);
      for (int64_t p = last - first; p < o.block_depth(first); p++)
        padded = padded && o.rows[static_cast<size_t>(i * o.form.words(k) + o.block_at(first) + p)] == 0;
    }
  const std::string what = text("int16 n %d k %d: ", n, k);
  check(holds, what + "values");
  check(both, what + "rows as panels");
  check(padded, what + "padding");
}

void check_operands(const Body& b, const Body& plain, int n, int k, int64_t row, int64_t column, Random& random) {
  const std::vector<float> values = awkward(n, k, random);
  std::vector<float> x(static_cast<size_t>((n - 1) * row + (k - 1) * column + 1), NAN);  // a value read beside would be seen
  for (int i = 0; i < n; i++)
    for (int p = 0; p < k; p++) x[static_cast<size_t>(i * row + p * column)] = values[static_cast<size_t>(i) * k + p];
  const Operand got(b.table.int16, x.data(), row, column, n, k), wanted(plain.table.int16, x.data(), row, column, n, k);
  const std::string what = text("%s n %d k %d strides %d %d", b.name.c_str(), n, k, static_cast<int>(row), static_cast<int>(column));
  check(got.rows == wanted.rows, "rows int16 " + what);
  check(got.panels == wanted.panels, "panels int16 " + what);
}

void check_product(const Body& b, const Body& plain, int m, int n, int k, Random& random) {
  const std::vector<float> x = random_floats(static_cast<size_t>(m) * k, random), w = random_floats(static_cast<size_t>(n) * k, random);
  const Form16& form = b.table.int16;
  const Operand a(form, x.data(), k, 1, m, k), panels(form, w.data(), k, 1, n, k);
  const int64_t words = form.words(k), a_row = words + (m % 3 == 0 ? 2 : 0), c_row = n + 5;
  std::vector<uint16_t> rows(static_cast<size_t>(m * a_row), 0x7fff);
  for (int i = 0; i < m; i++) std::memcpy(rows.data() + i * a_row, a.rows.data() + i * words, static_cast<size_t>(2 * words));
  const auto run = [&](const Form16& f, bool accumulate) {
    std::vector<float> c(static_cast<size_t>(m * c_row), 0.37f);
    f.gemm(m, n, k, rows.data(), a_row, panels.panels.data(), c.data(), c_row, accumulate);
    return c;
  };
  const std::string what = text("gemm int16 %s m %d n %d k %d", b.name.c_str(), m, n, k);
  const std::vector<float> c = run(form, false), added = run(form, true);
  bool close = true, alone = true;
  std::vector<float> row(static_cast<size_t>(n));
  for (int i = 0; i < m; i++) {
    form.gemm(1, n, k, rows.data() + i * a_row, a_row, panels.panels.data(), row.data(), n, false);
    for (int j = 0; j < n; j++) {
      double wanted = 0, size = 0;
      for (int p = 0; p < k; p++) {
        const double product = double{a.row_scale(i, p)} * a.row_integer(i, p) * panels.panel_scale(j, p) * panels.panel_integer(j, p);
        wanted += product, size += std::fabs(product);
      }
      const size_t at = static_cast<size_t>(i * c_row + j);
      close = close && std::fabs(c[at] - wanted) <= size * 0x1p-24 * (8 + k / 64.0) && std::fabs(added[at] - 0.37 - wanted) <= (size + 0.37) * 0x1p-24 * (8 + k / 64.0);
      alone = alone && same(row[static_cast<size_t>(j)], c[at]);
    }
    for (int64_t j = n; j < c_row; j++) close = close && c[static_cast<size_t>(i * c_row + j)] == 0.37f && added[static_cast<size_t>(i * c_row + j)] == 0.37f;
  }
  check(close, what + ": values, and nothing written beside");
  check(alone, what + ": a row alone");
  check(c == run(plain.table.int16, false) && added == run(plain.table.int16, true), what + ": as the plain body");
}

/** All integers at the limit: the sum of a block just fits 32 bits. */
void check_limit(const Body& b, int sign) {
  constexpr int kRows = 13, kColumns = 33, kDepth = 300;
  const std::vector<float> ones(static_cast<size_t>(kColumns) * kDepth, 1.0f), signs(static_cast<size_t>(kRows) * kDepth, static_cast<float>(sign));
  const Operand a(b.table.int16, signs.data(), kDepth, 1, kRows, kDepth), w(b.table.int16, ones.data(), kDepth, 1, kColumns, kDepth);
  std::vector<float> c(static_cast<size_t>(kRows) * kColumns);
  b.table.int16.gemm(kRows, kColumns, kDepth, a.rows.data(), b.table.int16.words(kDepth), w.panels.data(), c.data(), kColumns, false);
  bool holds = true;
  for (const float x : c) holds = holds && std::fabs(x - static_cast<float>(sign * kDepth)) < 1e-3f;
  check(holds, text("gemm int16 %s: the largest sums", b.name.c_str()));
}

void check_not_finite(const Body& b, Random& random) {
  constexpr int kColumns = 40, kDepth = 200, kColumn = 21;
  for (const int m : {1, 9, 20, 50}) {
    std::vector<float> x = random_floats(static_cast<size_t>(m) * kDepth, random), w = random_floats(static_cast<size_t>(kColumns) * kDepth, random);
    const auto run = [&] {
      const Form16& form = b.table.int16;
      const Operand a(form, x.data(), kDepth, 1, m, kDepth), panels(form, w.data(), kDepth, 1, kColumns, kDepth);
      std::vector<float> c(static_cast<size_t>(m) * kColumns);
      form.gemm(m, kColumns, kDepth, a.rows.data(), form.words(kDepth), panels.panels.data(), c.data(), kColumns, false);
      return c;
    };
    const std::vector<float> clean = run();
    const int row = m / 2;
    x[static_cast<size_t>(row) * kDepth + 7] = NAN, w[static_cast<size_t>(kColumn) * kDepth + 130] = std::numeric_limits<float>::infinity();
    const std::vector<float> c = run();
    bool holds = true;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < kColumns; j++) {
        const size_t at = static_cast<size_t>(i) * kColumns + j;
        holds = holds && (i == row || j == kColumn ? std::isnan(c[at]) : same(c[at], clean[at]));
      }
    check(holds, text("gemm int16 %s m %d: NaN and infinity stay in their row and column", b.name.c_str(), m));
  }
}

void check_expanded(const Body& b, const TestWeights& t, const std::string& what) {
  std::vector<float> rows(static_cast<size_t>(16) * t.w.in);
  const Form16& form = b.table.int16;
  std::vector<uint16_t> got(static_cast<size_t>(form.panels(1, t.w.in)), 0x1234);
  bool holds = true;
  for (int panel = 0; panel < panel_count(t.w.out); panel++) {
    for (int c = 0; c < 16; c++)
      for (int p = 0; p < t.w.in; p++) rows[static_cast<size_t>(c) * t.w.in + p] = t.value(16 * panel + c, p);
    form.expand(t.w, panel, got.data());
    holds = holds && got == Operand(form, rows.data(), t.w.in, 1, 16, t.w.in).panels;
  }
  check(holds, "expand int16 " + what);
}

/** Weights in 16 bits, whose depth is no multiple of a padding: expanded to fp32 and to int16. */
void check_sixteen_bits(const Body& b, int out, int in, Random& random) {
  const std::vector<float> x = random_floats(static_cast<size_t>(out) * in, random);
  const int64_t depth = bf16_depth(in), row = in + 3, width = 16 * panel_count(out);
  std::vector<uint16_t> panels(static_cast<size_t>(16 * panel_count(out) * depth));
  b.table.bf16.pack(x.data(), in, 1, out, in, panels.data());
  PackedWeights w;
  w.out = out, w.in = in, w.data = reinterpret_cast<const uint8_t*>(panels.data());
  const auto value = [&](int64_t o, int p) { return o < out ? bf16_value(bf16_nearest(x[static_cast<size_t>(o) * in + p])) : 0.0f; };
  std::vector<float> rows(static_cast<size_t>(16 * row), 77.0f), deep(static_cast<size_t>(width * in) + 16, 77.0f), exact(static_cast<size_t>(16) * in);
  b.table.expand_depth(w, 0, static_cast<int>(panel_count(out)), deep.data());
  bool holds = deep[static_cast<size_t>(width * in)] == 77.0f, packed = true;
  for (int panel = 0; panel < panel_count(out); panel++) {
    b.table.expand_rows(w, panel, rows.data(), row);
    for (int c = 0; c < 16; c++) {
      for (int p = 0; p < in; p++) {
        const float wanted = value(16 * panel + c, p);
        exact[static_cast<size_t>(c) * in + p] = wanted;
        holds = holds && same(rows[static_cast<size_t>(c * row + p)], wanted) && same(deep[static_cast<size_t>(p * width + 16 * panel + c)], wanted);
      }
      holds = holds && rows[static_cast<size_t>(c * row + in)] == 77.0f;
    }
    const Form16& form = b.table.int16;
    std::vector<uint16_t> got(static_cast<size_t>(form.panels(1, in)), 0x1234);
    form.expand(w, panel, got.data());
    packed = packed && got == Operand(form, exact.data(), in, 1, 16, in).panels;
  }
  check(holds, text("16-bit weights %s %d x %d in fp32", b.name.c_str(), out, in));
  check(packed, text("16-bit weights %s %d x %d in int16", b.name.c_str(), out, in));
}

}  // namespace

void test_int16(const std::vector<Body>& all, bool quick) {
  Random random{31};
  const Body& plain = all[0];
  for (const int k : {1, 31, 32, 100, 128, 129, 160, 576}) check_plain(plain, 9, k, random);
  for (const Body& b : all) {
    for (const int n : {1, 5, 16, 17, 33})
      for (const int k : {1, 2, 15, 31, 33, 127, 128, 129, 200, 300}) {
        if (quick && k > 130) continue;
        check_operands(b, plain, n, k, k, 1, random);
        check_operands(b, plain, n, k, k + 5, 1, random);
        check_operands(b, plain, n, k, 1, n + 2, random);
        check_operands(b, plain, n, k, 3, 3 * n + 1, random);
      }
    for (int m = 1; m <= 26; m++)
      for (const int n : {1, 16, 23, 48, 70, 129}) check_product(b, plain, m, n, m % 2 == 0 ? 45 : 196, random);
    for (const int k : {1, 31, 128, 129, 576, 1000, 1536}) {
      if (quick && k > 600) continue;
      check_product(b, plain, 1, 65, k, random);
      check_product(b, plain, 37, 50, k, random);
    }
    if (!quick) check_product(b, plain, 300, 40, 1536, random);
    for (const int sign : {1, -1}) check_limit(b, sign);
    check_not_finite(b, random);
    for (const int bits : {4, 8})
      for (const int group : {16, 32})
        for (const bool minimums : {false, true})
          for (const int in : {32, 160, 576}) {
            if (quick && in > 160) continue;
            const TestWeights t(37, in, bits, group, bits == 4 ? 8 : 128, minimums, minimums, random);
            check_expanded(b, t, text("%s bits %d group %d minimums %d in %d", b.name.c_str(), bits, group, minimums, in));
          }
    for (const int in : {1, 17, 32, 130, 300}) check_sixteen_bits(b, 37, in, random);
  }
}

}  // namespace tackroom::test
