#include "products16.h"

#include <algorithm>
#include <cstring>

#include "../matmul.h"

namespace tackroom {
namespace {

constexpr int kRowBlock = 256;
constexpr double kWorthSharing = 2e6;  // multiply-adds

/** Work of a call, about ns, of converting n elements. */
double conversion(double elements) { return elements * 0.4; }

/**
 * Moves 16 x `in` values of a panel of W into the panels of W^T at depths [out, out + 16). Both keep pairs of depths in 32 bits,
 * so the smallest unit is a 2 x 2 block.
 */
void transpose_panel(const uint32_t* panel, int in, int64_t out, int64_t depth, uint32_t* transposed) {
  const int64_t panel_words = depth / 2 * kPanelColumns;
  for (int i0 = 0; i0 < in; i0 += kPanelColumns, transposed += panel_words, panel += kPanelColumns / 2 * kPanelColumns) {
    const int pairs = std::min(kPanelColumns, in - i0 + 1) / 2;
    uint32_t* target = transposed + out / 2 * kPanelColumns;
    for (int j = 0; j < kPanelColumns; j += 2, target += kPanelColumns) {
      int i = 0;
      for (; i < pairs; i++) {
        const uint32_t a = panel[i * kPanelColumns + j], b = panel[i * kPanelColumns + j + 1];
        target[2 * i] = (a & 0xffffu) | b << 16;
        target[2 * i + 1] = a >> 16 | (b & 0xffff0000u);
      }
      for (i *= 2; i < kPanelColumns; i++) target[i] = 0;
    }
  }
}

}  // namespace

void rows16(Model& model, const Form16& form, Panels16& out, const float* x, int64_t row, int64_t column, int m, int k) {
  const int64_t depth = form.words(k);
  uint16_t* rows = out.reserve(m * depth);
  parallel_rows(model.pool, m, conversion(static_cast<double>(m) * k), [&](int begin, int end) {
    form.rows(x + begin * row, row, column, end - begin, k, rows + begin * depth);
  });
}

void panels16(Model& model, const Form16& form, Panels16& out, const float* b, int64_t row, int64_t column, int n, int k) {
  const int64_t depth = form.words(k);
  uint16_t* panels = out.reserve(form.panels(n, k));
  parallel_rows(model.pool, static_cast<int>(panel_count(n)), conversion(static_cast<double>(n) * k), [&](int begin, int end) {
    const int first = begin * kPanelColumns;
    form.pack(b + first * row, row, column, std::min(n, end * kPanelColumns) - first, k, panels + first * depth);
  });
}

namespace {

/** A block of the depths of W^T shares its scales, so W is expanded to fp32 a block of outputs at a time and packed again. */
void transposed_blocks(Model& model, const Form16& form, Panels16& out, const PackedWeights& w) {
  uint16_t* transposed = out.reserve(form.panels(w.in, w.out));
  const int64_t panel = form.panels(1, w.out), block_words = form.panels(1, form.block);
  parallel_rows(model.pool, (w.out + form.block - 1) / form.block, conversion(static_cast<double>(w.in) * w.out), [&](int begin, int end) {
    thread_local AlignedBuffer scratch;
    float* rows = scratch.reserve(static_cast<size_t>(form.block) * static_cast<size_t>(w.in));
    for (int block = begin; block < end; block++) {
      const int first = block * form.block, depths = std::min(form.block, w.out - first);
      for (int p = 0; p < depths; p += kPanelColumns) model.packed.expand_rows(w, (first + p) / kPanelColumns, rows + int64_t{p} * w.in, w.in);
      for (int i = 0; i < w.in; i += kPanelColumns)
        form.pack(rows + i, 1, w.in, std::min(kPanelColumns, w.in - i), depths, transposed + i / kPanelColumns * panel + block * block_words);
    }
  });
}

}  // namespace

void transposed_panels16(Model& model, const Form16& form, Panels16& out, const PackedWeights& w) {
  if (form.block != 0) return transposed_blocks(model, form, out, w);
  const int64_t depth = bf16_depth(w.out), in_depth = bf16_depth(w.in);
  uint32_t* transposed = reinterpret_cast<uint32_t*>(out.reserve(form.panels(w.in, w.out)));
  const int panels = static_cast<int>(panel_count(w.out));
  if (depth > panels * kPanelColumns) std::memset(transposed, 0, static_cast<size_t>(form.panels(w.in, w.out)) * sizeof(uint16_t));
  parallel_rows(model.pool, panels, conversion(static_cast<double>(w.in) * w.out), [&](int begin, int end) {
    thread_local AlignedBuffer scratch;
    for (int p = begin; p < end; p++) {
      const uint32_t* panel = reinterpret_cast<const uint32_t*>(w.data + p * w.panel_bytes());
      if (w.bits != 16) {
        uint32_t* expanded = reinterpret_cast<uint32_t*>(scratch.reserve(static_cast<size_t>(in_depth) * kPanelColumns / 2));
        form.expand(w, p, reinterpret_cast<uint16_t*>(expanded));
        panel = expanded;
      }
      transpose_panel(panel, w.in, int64_t{p} * kPanelColumns, depth, transposed);
    }
  });
}

void run_products16(Model& model, const Form16& form, const std::vector<Product16>& products) {
  struct Piece {
    const Product16* product;
    int r0, r1, begin, end;
  };
  const auto run = [&](const Product16& p, int r0, int r1, int begin, int end) {
    bool accumulate = p.accumulate;
    for (const Term16& t : p.terms) {
      form.gemm(r1 - r0, end - begin, t.k, t.a + r0 * t.a_row, t.a_row, t.b + begin * form.words(t.k), p.c + r0 * p.c_row + begin, p.c_row, accumulate);
      accumulate = true;
    }
  };
  double total = 0;
  for (const Product16& p : products) total += p.work();
  if (model.pool.size() == 1 || total < kWorthSharing) {
    for (const Product16& p : products) run(p, 0, p.m, 0, p.n);
    return;
  }
  std::vector<Piece> pieces;
  const double share = total / (model.pool.size() * 4.0);
  for (const Product16& p : products) {
    const int blocks = (p.m + kRowBlock - 1) / kRowBlock, units = (p.n + 2 * kPanelColumns - 1) / (2 * kPanelColumns);
    const double cost = p.work() / blocks;
    const int chunks = std::clamp(static_cast<int>(cost / share + 0.999), 1, units);
    for (int chunk = 0; chunk < chunks; chunk++)
      for (int block = 0; block < blocks; block++) {
        const int begin = units * chunk / chunks * 2 * kPanelColumns, end = std::min(p.n, units * (chunk + 1) / chunks * 2 * kPanelColumns);
        pieces.push_back({&p, block * kRowBlock, std::min(p.m, (block + 1) * kRowBlock), begin, end});
      }
  }
  model.pool.run(static_cast<int>(pieces.size()), [&](int i) {
    const Piece& piece = pieces[static_cast<size_t>(i)];
    run(*piece.product, piece.r0, piece.r1, piece.begin, piece.end);
  });
}

}  // namespace tackroom
