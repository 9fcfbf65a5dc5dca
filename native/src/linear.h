/**
 * Linear layers in every precision: y (+)= W x + bias, and the LoRA products beside them.
 *
 * Several layers that read the same input are computed in one parallel region, so that a decode step does not wait at a
 * barrier for each of them. The input is converted to the form a precision needs once for all of them.
 */
#pragma once
#include <initializer_list>
#include <vector>

#include "adapter.h"
#include "model.h"
#include "products.h"

namespace tackroom {

/** Rows of activations [rows, width], and on demand the same in 16 or in 8 bits. */
class Input {
 public:
  void set(const float* x, int rows, int width);
  const float* x() const { return x_; }
  int rows() const { return rows_; }
  int width() const { return width_; }
  /** [rows][form.words(width)]; of one form between two calls of set. */
  const uint16_t* in16(const Form16& form, ThreadPool& pool);
  /** In 8 bits; `rest`: what that leaves of the groups with outliers, the others are zero. */
  Int8Rows int8(const Model& model, ThreadPool& pool, bool rest);
  /** The same laid out for a matrix (see packed.h); null where the processor's product does that itself. */
  uint8_t* laid(const Model& model, ThreadPool& pool, const PackedWeights& w, bool rest);

 private:
  struct Narrow {
    bool have = false;
    AlignedBuffer q, scales, sums;
  };
  struct Laid {
    int group, offset;
    bool rest, have = false;
    AlignedBuffer memory;
  };

  void quantize_rest(const Model& model, int row, const Int8Rows& taken, int8_t* q, float* scales, int32_t* sums) const;

  const float* x_ = nullptr;
  int rows_ = 0, width_ = 0;
  bool have16_ = false;
  AlignedBuffer in16_;
  Narrow int8_[2];          // the 8-bit form, and the rest
  std::vector<Laid> laid_;  // a form of weights each
};

/**
 * One layer of a call: y [rows, linear->out], `stride` floats from row to row. `wide`: in the precision int8 groups of the input with an
 * outlier are taken in two 8-bit parts; down projections need it, since beside those of gate * up the rest of a group vanishes.
 */
struct Output {
  const Linear* linear;
  float* y;
  int64_t stride;
  bool accumulate = false, wide = false;
};

/** Rows [begin, begin + count) of a batch that carry one adapter (null: the base model). */
struct AdapterSpan {
  int begin, count;
  Adapter* adapter;
};

/** Scratch of a call: the products, and scale * x A^T of every output, [rows][rank] each, and the same in 16 or 8 bits. */
struct LoraScratch {
  struct Share {  // what one adapter adds to one output
    const Output* output;
    const AdapterSpan* span;
    const LoraSite* site;
    float* u;
    size_t at16, at8;  // where its form stands below
  };
  std::vector<Share> shares;
  std::vector<LowRank> lows;
  std::vector<Product> products, with_b;
  AlignedBuffer low[4], low16, low8, scales8, sums8;
};

class LinearOps {
 public:
  explicit LinearOps(Model& model) : model_(model) {}
  /**
   * All outputs of one input. `low` (training) gets u = scale * x A^T of each output, [rows][rank]; then there must be a
   * single span over all rows. At most 4 outputs.
   */
  void forward(Precision precision, Input& input, std::initializer_list<Output> outputs, const std::vector<AdapterSpan>& spans, float* const* low = nullptr);

 private:
  Model& model_;
  LoraScratch scratch_;
};

}  // namespace tackroom
