#include "linear.h"

#include <algorithm>
#include <cstring>

#include "matmul.h"

namespace tackroom {
namespace {

constexpr int kUnit = 32;        // columns of the smallest piece: a multiple of every panel width
constexpr int kRowBlock = 256;   // rows of a piece, about
constexpr int kRowsTogether = 64;
constexpr int kFewRows = 32;
constexpr double kSmallestPiece = 6e3;  // ns

/** One matrix product: c[rows, columns] (+)= x B^T, B in one of the packed forms. */
struct Product {
  enum class Kind { Dense, Expanded, Narrow, Int8 };
  Kind kind;
  int rows, in, columns;
  const float* x;
  const Form16* form;             // Narrow
  const uint16_t* x16;
  Int8Rows x8[2];                 // Int8, and where `wide` the rest, whose product is added
  uint8_t* laid[2];               // the same as gemm_int8_laid wants it, or null
  bool wide;
  const float* panels;            // Dense
  const uint16_t* panels16;       // Narrow
  const PackedWeights* weights;   // Expanded, Int8, and Narrow where the matrix is packed
  const float* bias;
  float* y;
  int64_t stride;
  bool accumulate;
  const Product* then;  // added to each piece while it is in cache; same rows and columns
};

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
  const int step = static_cast<int>(std::max<int64_t>(kScratch / depth / kUnit, 1)) * kUnit;
  uint16_t* b = scratch16(static_cast<size_t>(depth) * static_cast<size_t>(std::min(step, (end - begin + kUnit - 1) / kUnit * kUnit)));
  for (int c = begin; c < end; c += step) {
    const int columns = std::min(step, end - c);
    for (int j = 0; j < columns; j += kPanelColumns) form.expand(*p.weights, (c + j) / kPanelColumns, b + j * depth);
    form.gemm(r1 - r0, columns, p.in, x, depth, b, y + c, p.stride, p.accumulate);
  }
}

void int8(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
  const int64_t groups = p.in / kInt8Group;
  const int first = begin / kPanelColumns, last = static_cast<int>(panel_count(end));
  float* y = p.y + r0 * p.stride + begin;
  for (int part = 0; part < (p.wide ? 2 : 1); part++) {
    const bool accumulate = p.accumulate || part > 0;
    const Int8Rows& x = p.x8[part];
    if (p.laid[part] != nullptr) model.packed.gemm_int8_laid(p.rows, p.laid[part], r0, r1, *p.weights, first, last, y, p.stride, accumulate);
    else model.packed.gemm_int8(r1 - r0, {x.q + r0 * int64_t{p.in}, x.scales + r0 * groups, x.sums + r0 * groups * 2}, *p.weights, first, last, y, p.stride, accumulate);
  }
}

void run_piece(const Model& model, const Product& p, int r0, int r1, int begin, int end) {
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
  if (p.then != nullptr) run_piece(model, *p.then, r0, r1, begin, end);
}

/** About the nanoseconds a product takes on one thread: the larger of arithmetic and memory. */
double cost(const Product& p) {
  const double size = static_cast<double>(p.in) * p.columns;
  const double per_mac = p.kind == Product::Kind::Dense || p.kind == Product::Kind::Expanded ? 0.02 : 0.005;
  const double bytes = p.weights == nullptr ? (p.kind == Product::Kind::Dense ? 4 : 2) : p.weights->bits / 8.0;
  return std::max(size * p.rows * per_mac, size * bytes * 0.08);
}

void run_products(Model& model, const std::vector<Product>& products) {
  struct Piece {
    const Product* product;
    int r0, r1, begin, end;
  };
  double total = 0;
  for (const Product& p : products) total += cost(p);
  if (total < model.pool.worth_sharing || model.pool.size() == 1) {
    for (const Product& p : products) run_piece(model, p, 0, p.rows, 0, p.columns);
    return;
  }
  std::vector<Piece> pieces;
  // A decode step waits for memory: pieces shrink towards the end, so that the threads end together however fast each is.
  const bool streams = std::all_of(products.begin(), products.end(), [](const Product& p) { return p.rows <= kFewRows; });
  double left = total;
  for (const Product& p : products) {
    const int units = (p.columns + kUnit - 1) / kUnit;
    int row_blocks = (p.rows + kRowBlock - 1) / kRowBlock;
    const int height = ((p.rows + row_blocks - 1) / row_blocks + kLaidRows - 1) / kLaidRows * kLaidRows;
    row_blocks = (p.rows + height - 1) / height;
    const double unit_cost = cost(p) / row_blocks / units, share = total / (model.pool.size() * 4.0);
    for (int block = 0; block < row_blocks; block++)
      for (int unit = 0; unit < units;) {
        const double wanted = streams ? std::max(left / (model.pool.size() * 2.0), kSmallestPiece) : share;
        int count = std::clamp(static_cast<int>(wanted / unit_cost + 0.5), 1, units - unit);
        if (!streams && units - unit - count < count / 2) count = units - unit;
        pieces.push_back({&p, block * height, std::min(p.rows, (block + 1) * height), unit * kUnit, std::min(p.columns, (unit + count) * kUnit)});
        unit += count;
        left -= count * unit_cost;
      }
  }
  model.pool.run(static_cast<int>(pieces.size()), [&](int i) {
    const Piece& piece = pieces[static_cast<size_t>(i)];
    run_piece(model, *piece.product, piece.r0, piece.r1, piece.begin, piece.end);
  });
}

template <class T>
T* typed(AlignedBuffer& buffer, size_t count) {
  return reinterpret_cast<T*>(buffer.reserve((count * sizeof(T) + 3) / 4));
}

}  // namespace

void Input::set(const float* x, int rows, int width) {
  x_ = x, rows_ = rows, width_ = width;
  have16_ = int8_[0].have = int8_[1].have = false;
  for (Laid& l : laid_) l.have = false;
}

const uint16_t* Input::in16(const Form16& form, ThreadPool& pool) {
  const int64_t depth = form.words(width_);
  if (have16_) return reinterpret_cast<const uint16_t*>(in16_.data());
  uint16_t* out = typed<uint16_t>(in16_, static_cast<size_t>(rows_ * depth));
  parallel_rows(pool, rows_, rows_ * static_cast<double>(width_) * 0.2, [&](int begin, int end) {
    form.rows(x_ + static_cast<int64_t>(begin) * width_, width_, 1, end - begin, width_, out + begin * depth);
  });
  have16_ = true;
  return out;
}

Int8Rows Input::int8(const Model& model, ThreadPool& pool, bool rest) {
  const size_t groups = static_cast<size_t>(width_ / kInt8Group), width = static_cast<size_t>(width_), rows = static_cast<size_t>(rows_);
  const Int8Rows taken = rest ? int8(model, pool, false) : Int8Rows{};
  Narrow& n = int8_[rest ? 1 : 0];
  int8_t* q = typed<int8_t>(n.q, rows * width);
  float* scales = n.scales.reserve(rows * groups);
  int32_t* sums = typed<int32_t>(n.sums, rows * groups * 2);
  if (!n.have)
    parallel_rows(pool, rows_, static_cast<double>(rows * width) * 0.1, [&](int begin, int end) {
      const size_t at = static_cast<size_t>(begin);
      if (!rest) return model.packed.quantize_rows(x_ + at * width, width_, end - begin, width_, q + at * width, scales + at * groups, sums + at * groups * 2);
      for (size_t r = at; r < static_cast<size_t>(end); r++) quantize_rest(model, static_cast<int>(r), taken, q + r * width, scales + r * groups, sums + r * groups * 2);
    });
  n.have = true;
  return {q, scales, sums};
}

/** A group has an outlier when its scale is far above the mean of the row's; the sum is in one order everywhere. */
void Input::quantize_rest(const Model& model, int row, const Int8Rows& taken, int8_t* q, float* scales, int32_t* sums) const {
  constexpr float kOutlier = 6;
  const int groups = width_ / kInt8Group;
  const float* x = x_ + int64_t{row} * width_;
  const float* first = taken.scales + int64_t{row} * groups;
  float total = 0;
  for (int g = 0; g < groups; g++) total += first[g];
  const float limit = kOutlier * total / static_cast<float>(groups);
  std::memset(q, 0, static_cast<size_t>(width_));
  std::memset(sums, 0, static_cast<size_t>(groups) * 2 * sizeof(int32_t));
  for (int g = 0; g < groups; g++) {
    scales[g] = 0;
    if (!(first[g] > limit)) continue;
    float rest[kInt8Group];
    for (int i = g * kInt8Group, e = 0; e < kInt8Group; i++, e++) rest[e] = x[i] - first[g] * static_cast<float>(taken.q[int64_t{row} * width_ + i]);
    model.packed.quantize_rows(rest, kInt8Group, 1, kInt8Group, q + g * kInt8Group, scales + g, sums + 2 * g);
  }
}

uint8_t* Input::laid(const Model& model, ThreadPool& pool, const PackedWeights& w, bool rest) {
  const PackedKernels& k = model.packed;
  if (k.lay_out_rows == nullptr || (!rest && rows_ > k.laid_rows)) return nullptr;
  const auto same = [&](const Laid& l) { return l.group == w.group && l.offset == w.offset && l.rest == rest; };
  auto found = std::find_if(laid_.begin(), laid_.end(), same);
  if (found == laid_.end()) found = laid_.insert(laid_.end(), {w.group, w.offset, rest, false, {}});
  uint8_t* memory = typed<uint8_t>(found->memory, static_cast<size_t>(k.laid_bytes(rows_, w)));
  if (found->have) return memory;
  const Int8Rows source = int8(model, pool, rest);
  const int blocks = (rows_ + kLaidRows - 1) / kLaidRows;
  parallel_rows(pool, blocks, static_cast<double>(rows_) * width_ * 0.05, [&](int begin, int end) {
    k.lay_out_rows(rows_, source, w, begin * kLaidRows, std::min(rows_, end * kLaidRows), memory);
  });
  found->have = true;
  return memory;
}

void LinearOps::forward(Precision precision, Input& input, std::initializer_list<Output> outputs, const std::vector<AdapterSpan>& spans, float* const* low) {
  std::vector<Product> first, narrow, second;
  const int rows = input.rows(), in = input.width();
  const Form16* form = model_.form16(precision);
  // The rows of a product from `begin` on in 8 bits; laid out where they are all rows of the input.
  const auto take8 = [&](Product& p, bool wide, int64_t begin) {
    p.wide = wide;
    for (int part = 0; part < (wide ? 2 : 1); part++) {
      if (p.rows == rows) p.laid[part] = input.laid(model_, model_.pool, *p.weights, part == 1);
      if (p.laid[part] != nullptr) continue;
      const Int8Rows x = input.int8(model_, model_.pool, part == 1);
      const int64_t groups = in / kInt8Group;
      p.x8[part] = {x.q + begin * in, x.scales + begin * groups, x.sums + begin * groups * 2};
    }
  };
  for (const Output& output : outputs)
    for (const LinearPart& part : output.linear->parts) {
      Product p{};
      p.rows = rows, p.in = in, p.columns = part.out;
      p.x = input.x();
      p.y = output.y + part.begin, p.stride = output.stride, p.accumulate = output.accumulate;
      p.bias = part.bias == kAbsent ? nullptr : model_.at(part.bias);
      if (part.packed == nullptr) {
        p.kind = Product::Kind::Dense;
        p.panels = part.panels.data();
      } else {
        p.weights = &part.packed->weights();
        p.kind = precision == Precision::Fp32 ? Product::Kind::Expanded : precision == Precision::Int8 ? Product::Kind::Int8 : Product::Kind::Narrow;
        if (precision == Precision::Int8 && p.weights->bits == 16) p.kind = Product::Kind::Narrow;
        if (p.kind == Product::Kind::Narrow) p.form = form, p.x16 = input.in16(*form, model_.pool);
        if (p.kind == Product::Kind::Int8) take8(p, output.wide, 0);
      }
      first.push_back(p);
    }

  int rank_limit = 0;
  for (const AdapterSpan& span : spans)
    if (span.adapter != nullptr) rank_limit = std::max(rank_limit, span.adapter->rank());
  struct Low {
    float* u;
    const LoraSite* site;
    const Output* output;
    const AdapterSpan* span;
  };
  std::vector<Low> lows;
  size_t low8 = 0;  // elements of the low-rank rows that go on in 8 bits
  size_t o = 0;
  for (const Output& output : outputs) {
    float* buffer = rank_limit == 0 ? nullptr : low != nullptr ? low[o] : scratch_.low[o].reserve(static_cast<size_t>(rows) * static_cast<size_t>(rank_limit));
    o++;
    for (const AdapterSpan& span : spans) {
      const LoraSite* site = span.adapter == nullptr ? nullptr : span.adapter->site(output.linear->site);
      if (site == nullptr) continue;
      Product p{};
      p.rows = span.count, p.in = in, p.columns = span.adapter->rank();
      p.y = buffer + static_cast<int64_t>(span.begin) * rank_limit, p.stride = p.columns;
      p.x = input.x() + static_cast<int64_t>(span.begin) * in;
      if (precision == Precision::Int8 && site->a8 != nullptr) {
        p.kind = Product::Kind::Int8, p.weights = &site->a8->weights();
        take8(p, output.wide, span.begin);
        low8 += static_cast<size_t>(p.rows * p.columns);
      } else if (form != nullptr) {
        p.kind = Product::Kind::Narrow, p.form = form;
        p.x16 = input.in16(*form, model_.pool) + span.begin * form->words(in), p.panels16 = site->narrow(*form).a.data();
      } else {
        p.kind = Product::Kind::Dense;
        p.panels = site->a_panels.data();
      }
      narrow.push_back(p);
      lows.push_back({p.y, site, &output, &span});
    }
  }
  // With one adapter its share is added piece by piece, so that y is written once; the sums are the same either way.
  bool together = low8 == 0 && lows.size() == outputs.size() && spans.size() == 1 && rows >= kRowsTogether;
  for (const Output& output : outputs)
    for (const LinearPart& part : output.linear->parts) together = together && part.begin % kUnit == 0;
  if (together) run_products(model_, narrow);
  else first.insert(first.begin(), narrow.begin(), narrow.end());  // the smallest pieces end a region
  if (!together) run_products(model_, first);
  if (lows.empty()) return;

  size_t total = 0;
  for (const Low& l : lows) total += form == nullptr ? 0 : static_cast<size_t>(l.span->count) * static_cast<size_t>(form->words(l.span->adapter->rank()));
  uint16_t* u16 = form != nullptr ? typed<uint16_t>(scratch_.low16, total) : nullptr;
  int8_t* u8 = typed<int8_t>(scratch_.low8, low8);
  float* scales8 = scratch_.scales8.reserve(low8 / kInt8Group);
  int32_t* sums8 = typed<int32_t>(scratch_.sums8, low8 / kInt8Group * 2);
  for (const Low& l : lows) {
    const int rank = l.span->adapter->rank();
    Product p{};
    p.rows = l.span->count, p.in = rank, p.columns = l.output->linear->out;
    p.y = l.output->y + l.span->begin * l.output->stride, p.stride = l.output->stride, p.accumulate = true;
    p.x = l.u;
    p.kind = form != nullptr ? Product::Kind::Narrow : Product::Kind::Dense, p.form = form;
    if (precision == Precision::Int8 && l.site->b8 != nullptr) {
      const size_t groups = static_cast<size_t>(p.rows) * static_cast<size_t>(rank / kInt8Group);
      model_.packed.quantize_rows(l.u, rank, p.rows, rank, u8, scales8, sums8);
      p.kind = Product::Kind::Int8, p.weights = &l.site->b8->weights(), p.x8[0] = {u8, scales8, sums8};
      u8 += p.rows * rank, scales8 += groups, sums8 += groups * 2;
    } else if (form != nullptr) {
      form->rows(l.u, rank, 1, p.rows, rank, u16);
      p.x16 = u16, p.panels16 = l.site->narrow(*form).b.data();
      u16 += p.rows * form->words(rank);
    } else {
      p.panels = l.site->b_panels.data();
    }
    second.push_back(p);
  }
  if (!together) return run_products(model_, second);
  size_t n = 0;
  std::vector<Product> parts;
  parts.reserve(first.size());
  for (size_t i = 0; i < outputs.size(); i++)
    for (const LinearPart& part : outputs.begin()[i].linear->parts) {
      const int64_t begin = part.begin;
      Product& p = parts.emplace_back(second[i]);
      p.columns = part.out, p.y += begin;
      if (form != nullptr) p.panels16 += begin * form->words(p.in);
      else p.panels += begin * p.in;
      first[n++].then = &p;
    }
  run_products(model_, first);
}

}  // namespace tackroom
