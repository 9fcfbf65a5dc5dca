#include "products.h"

#include <algorithm>
#include <thread>

namespace tackroom {
namespace {

constexpr int kRowBlock = 256;   // rows of a piece, about
constexpr int kFewRows = 32;
constexpr int kSpins = 20000;
constexpr double kSmallestPiece = 6e3;  // ns

uint16_t* scratch16(size_t count) {
  thread_local AlignedBuffer buffer;
  return reinterpret_cast<uint16_t*>(buffer.reserve((count + 1) / 2));
}

float* scratch32(size_t count) {
  thread_local AlignedBuffer buffer;
  return buffer.reserve(count);
}

/** Expands the panels from column `begin` on into fp32 or bf16 scratch and multiplies piece by piece. */
void expanded(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
  const Kernels& k = model.kernels;
  const int panels = std::max(1, k.panel_width / kPanelColumns), width = panels * kPanelColumns;
  float* b = scratch32(static_cast<size_t>(p.in) * static_cast<size_t>(width));
  for (int c = begin; c < end; c += width) {
    const int some = std::min(panels, static_cast<int>(panel_count(p.columns)) - c / kPanelColumns);  // the last may be half of what gemm takes
    model.packed.expand_depth(*p.weights, c / kPanelColumns, some, b);
    k.gemm({r1 - r0, std::min(width, end - c), p.in, p.x + static_cast<int64_t>(r0) * p.in, p.in, 1, b, some * kPanelColumns, k.panel_width,
            p.y + r0 * p.stride + c, p.stride, p.accumulate});
  }
}

void narrow(const Product& p, int r0, int r1, int begin, int end) {
  const Form16& form = *p.form;
  const int64_t depth = form.words(p.in);
  const uint16_t* x = p.x16 + r0 * depth;
  float* y = p.y + r0 * p.stride;
  const bool direct = p.weights == nullptr || (p.weights->bits == 16 && form.block == 0);
  if (direct) {
    const uint16_t* b = p.panels16 != nullptr ? p.panels16 : reinterpret_cast<const uint16_t*>(p.weights->data);
    return form.gemm(r1 - r0, end - begin, p.in, x, depth, b + begin * depth, y + begin, p.stride, p.accumulate);
  }
  // Many columns a call, because the product lays its rows out anew for each; few enough to stay in the second-level cache.
  constexpr int64_t kScratch = 256 * 1024;
  const int step = static_cast<int>(std::max<int64_t>(kScratch / depth / kUnitColumns, 1)) * kUnitColumns;
  uint16_t* b = scratch16(static_cast<size_t>(depth) * static_cast<size_t>(std::min(step, (end - begin + kUnitColumns - 1) / kUnitColumns * kUnitColumns)));
  for (int c = begin; c < end; c += step) {
    const int columns = std::min(step, end - c);
    for (int j = 0; j < columns; j += kPanelColumns) form.expand(*p.weights, (c + j) / kPanelColumns, b + j * depth);
    form.gemm(r1 - r0, columns, p.in, x, depth, b, y + c, p.stride, p.accumulate);
  }
}

void int8(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
  const int64_t groups = p.in / kInt8Group;
  const int first = (p.first_column + begin) / kPanelColumns, last = static_cast<int>(panel_count(p.first_column + end));
  float* y = p.y + r0 * p.stride + begin;
  for (int part = 0; part < (p.wide ? 2 : 1); part++) {
    const bool accumulate = p.accumulate || part > 0;
    const Int8Rows& x = p.x8[part];
    if (p.laid[part] != nullptr) model.packed.gemm_int8_laid(p.rows, p.laid[part], r0, r1, *p.weights, first, last, y, p.stride, accumulate);
    else model.packed.gemm_int8(r1 - r0, {x.q + r0 * int64_t{p.in}, x.scales + r0 * groups, x.sums + r0 * groups * 2}, *p.weights, first, last, y, p.stride, accumulate);
  }
}

void compute(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
  const Kernels& k = model.kernels;
  float* y = p.y + r0 * p.stride;
  switch (p.kind) {
    case Product::Kind::Dense:
      k.gemm({r1 - r0, end - begin, p.in, p.x + static_cast<int64_t>(r0) * p.in, p.in, 1, p.panels + static_cast<int64_t>(begin) * p.in, k.panel_width,
              static_cast<int64_t>(p.in) * k.panel_width, y + begin, p.stride, p.accumulate});
      break;
    case Product::Kind::Expanded: expanded(model, p, r0, r1, begin, end); break;
    case Product::Kind::Narrow: narrow(p, r0, r1, begin, end); break;
    case Product::Kind::Int8: int8(model, p, r0, r1, begin, end); break;
  }
  if (p.bias != nullptr)
    for (int r = 0; r < r1 - r0; r++) k.add(y + r * p.stride + begin, p.bias + begin, end - begin);
}

/** One more piece of u is there; after the last, u is converted. */
void give(const Model& model, LowRank& low) {
  if (low.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (low.form != nullptr) low.form->rows(low.u, low.rank, 1, low.rows, low.rank, low.u16);
  if (low.q != nullptr) model.packed.quantize_rows(low.u, low.rank, low.rows, low.rank, low.q, low.scales, low.sums);
  low.ready.store(true, std::memory_order_release);
}

void wait_for(const LowRank& low) {
  for (int turns = 0; !low.ready.load(std::memory_order_acquire); turns++)
    if (turns > kSpins) std::this_thread::yield();
}

void run_piece(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
  compute(model, p, r0, r1, begin, end);
  if (p.gives != nullptr) give(model, *p.gives);
  for (const Product* then = p.then; then != nullptr; then = then->then) {
    const int from = std::max(r0 - then->first_row, 0), to = std::min(r1 - then->first_row, then->rows);
    if (from >= to) continue;
    wait_for(*then->needs);
    compute(model, *then, from, to, begin, end);
  }
}

/** About the nanoseconds a product takes on one thread: the larger of arithmetic and memory. */
double cost(const Product& p) {
  const double size = static_cast<double>(p.in) * p.columns;
  const double per_mac = p.kind == Product::Kind::Dense || p.kind == Product::Kind::Expanded ? 0.02 : 0.005;
  const double bytes = p.weights == nullptr ? (p.kind == Product::Kind::Dense ? 4 : 2) : p.weights->bits / 8.0;
  return std::max(size * p.rows * per_mac, size * bytes * 0.08);
}

/** A helper's first touch of what the caller has just written: all at once instead of line by line. */
void fetch(const std::vector<Product>& products) {
  const auto lines = [](const void* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at);
  };
  lines(products.data(), products.size() * sizeof(Product));
  for (const Product& p : products)
    if (p.then != nullptr) lines(p.then, sizeof(Product));
}

}  // namespace

void run_products(Model& model, const std::vector<Product>& products) {
  struct Piece {
    const Product* product;
    int r0, r1, begin, end;
  };
  double total = 0;
  for (const Product& p : products) total += cost(p);
  if (total < model.pool.worth_sharing || model.pool.size() == 1) {
    for (const Product& p : products) {
      if (p.gives != nullptr) p.gives->left.store(1, std::memory_order_relaxed);
      run_piece(model, p, 0, p.rows, 0, p.columns);
    }
    return;
  }
  thread_local std::vector<Piece> pieces;
  pieces.clear();
  // A decode step waits for memory: pieces shrink towards the end, so that the threads end together however fast each is.
  const bool streams = std::all_of(products.begin(), products.end(), [](const Product& p) { return p.rows <= kFewRows; });
  double left = total;
  for (const Product& p : products) {
    const int units = (p.columns + kUnitColumns - 1) / kUnitColumns;
    int row_blocks = (p.rows + kRowBlock - 1) / kRowBlock;
    const int height = ((p.rows + row_blocks - 1) / row_blocks + kLaidRows - 1) / kLaidRows * kLaidRows;
    row_blocks = (p.rows + height - 1) / height;
    const double unit_cost = cost(p) / row_blocks / units, share = total / (model.pool.size() * 4.0);
    for (int block = 0; block < row_blocks; block++)
      for (int unit = 0; unit < units;) {
        const double wanted = streams ? std::max(left / (model.pool.size() * 2.0), kSmallestPiece) : share;
        int count = std::clamp(static_cast<int>(wanted / unit_cost + 0.5), 1, units - unit);
        if (!streams && units - unit - count < count / 2) count = units - unit;
        pieces.push_back({&p, block * height, std::min(p.rows, (block + 1) * height), unit * kUnitColumns, std::min(p.columns, (unit + count) * kUnitColumns)});
        unit += count;
        left -= count * unit_cost;
        if (p.gives != nullptr) p.gives->left.fetch_add(1, std::memory_order_relaxed);
      }
  }
  model.pool.run(static_cast<int>(pieces.size()), [&model, &products, all = pieces.data()](int i) {
    const Piece& piece = all[i];
    if (i < model.pool.size()) fetch(products);
    run_piece(model, *piece.product, piece.r0, piece.r1, piece.begin, piece.end);
  });
}

}  // namespace tackroom
