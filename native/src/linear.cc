#include "linear.h"

#include <algorithm>
#include <cstring>

#include "matmul.h"
#include "products.h"

namespace tackroom {
namespace {

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

namespace {

/** Whether the columns of B that belong to a part of the layer begin where a panel does. */
bool in_pieces(const Linear& linear) {
  return std::all_of(linear.parts.begin(), linear.parts.end(), [](const LinearPart& part) { return part.begin % kUnitColumns == 0; });
}

/** y += u B^T for the columns [begin, begin + columns) of the layer and the adapter's rows, from `first_row` on. */
Product product_with_b(LowRank& low, const LoraSite& site, int first_row, const Output& output, int begin, int columns) {
  Product p{};
  p.rows = low.rows, p.in = low.rank, p.columns = columns;
  p.y = output.y + first_row * output.stride + begin, p.stride = output.stride, p.accumulate = true;
  p.needs = &low, p.first_row = first_row;
  if (low.q != nullptr) {
    p.kind = Product::Kind::Int8, p.weights = &site.b8->weights(), p.first_column = begin;
    p.x8[0] = {low.q, low.scales, low.sums};
  } else if (low.form != nullptr) {
    p.kind = Product::Kind::Narrow, p.form = low.form, p.x16 = low.u16;
    p.panels16 = site.narrow(*low.form).b.data() + begin * low.form->words(low.rank);
  } else {
    p.kind = Product::Kind::Dense, p.x = low.u;
    p.panels = site.b_panels.data() + int64_t{begin} * low.rank;
  }
  return p;
}

}  // namespace

void LinearOps::forward(Precision precision, Input& input, std::initializer_list<Output> outputs, const std::vector<AdapterSpan>& spans, float* const* low) {
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

  int rank_limit = 0;
  for (const AdapterSpan& span : spans)
    if (span.adapter != nullptr) rank_limit = std::max(rank_limit, span.adapter->rank());
  auto& shares = scratch_.shares;
  shares.clear();
  size_t words = 0, low8 = 0, o = 0;
  for (const Output& output : outputs) {
    float* buffer = rank_limit == 0 ? nullptr : low != nullptr ? low[o] : scratch_.low[o].reserve(static_cast<size_t>(rows) * static_cast<size_t>(rank_limit));
    o++;
    for (const AdapterSpan& span : spans) {
      const LoraSite* site = span.adapter == nullptr ? nullptr : span.adapter->site(output.linear->site);
      if (site == nullptr) continue;
      shares.push_back({&output, &span, site, buffer + static_cast<int64_t>(span.begin) * rank_limit, words, low8});
      const size_t count = static_cast<size_t>(span.count), rank = static_cast<size_t>(span.adapter->rank());
      if (precision == Precision::Int8 && site->a8 != nullptr) low8 += count * rank;
      else if (form != nullptr) words += count * static_cast<size_t>(form->words(span.adapter->rank()));
    }
  }
  uint16_t* u16 = typed<uint16_t>(scratch_.low16, words);
  int8_t* u8 = typed<int8_t>(scratch_.low8, low8);
  float* scales8 = scratch_.scales8.reserve(low8 / kInt8Group);
  int32_t* sums8 = typed<int32_t>(scratch_.sums8, low8 / kInt8Group * 2);

  if (scratch_.lows.size() < shares.size()) scratch_.lows = std::vector<LowRank>(shares.size());
  auto& lows = scratch_.lows;
  auto& products = scratch_.products;
  auto& with_b = scratch_.with_b;
  size_t parts = 0;
  for (const Output& output : outputs) parts += output.linear->parts.size();
  products.clear(), with_b.clear();
  with_b.reserve(shares.size() * parts);  // pointed at
  for (size_t i = 0; i < shares.size(); i++) {
    const LoraScratch::Share& share = shares[i];
    const AdapterSpan& span = *share.span;
    Product p{};
    p.rows = span.count, p.in = in, p.columns = span.adapter->rank();
    p.y = share.u, p.stride = p.columns;
    p.x = input.x() + static_cast<int64_t>(span.begin) * in;
    LowRank& l = lows[i];
    l.begin(share.u, p.rows, p.columns);
    p.gives = &l;
    if (precision == Precision::Int8 && share.site->a8 != nullptr) {
      p.kind = Product::Kind::Int8, p.weights = &share.site->a8->weights();
      take8(p, share.output->wide, span.begin);
      l.q = u8 + share.at8, l.scales = scales8 + share.at8 / kInt8Group, l.sums = sums8 + share.at8 / kInt8Group * 2;
    } else if (form != nullptr) {
      p.kind = Product::Kind::Narrow, p.form = form;
      p.x16 = input.in16(*form, model_.pool) + span.begin * form->words(in), p.panels16 = share.site->narrow(*form).a.data();
      l.form = form, l.u16 = u16 + share.at16;
    } else {
      p.kind = Product::Kind::Dense, p.panels = share.site->a_panels.data();
    }
    products.push_back(p);
  }

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
      for (size_t i = 0; i < shares.size(); i++) {
        if (shares[i].output != &output || !in_pieces(*output.linear)) continue;
        with_b.push_back(product_with_b(lows[i], *shares[i].site, shares[i].span->begin, output, part.begin, part.out));
        with_b.back().then = p.then;
        p.then = &with_b.back();
      }
      products.push_back(p);
    }
  run_products(model_, products);

  products.clear();
  for (size_t i = 0; i < shares.size(); i++)
    if (const Output& output = *shares[i].output; !in_pieces(*output.linear))
      products.push_back(product_with_b(lows[i], *shares[i].site, shares[i].span->begin, output, 0, output.linear->out));
  run_products(model_, products);
}

}  // namespace tackroom
