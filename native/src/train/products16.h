/** 16-bit operands in the layouts of packed.h, and several products of them in one parallel region. */
#pragma once
#include <vector>

#include "../model.h"

namespace tackroom {

/** A matrix in 16 bits: rows or panels. Grows, never shrinks. */
class Panels16 {
 public:
  uint16_t* reserve(int64_t count) { return reinterpret_cast<uint16_t*>(buffer_.reserve(static_cast<size_t>((count + 1) / 2))); }
  const uint16_t* data() const { return reinterpret_cast<const uint16_t*>(buffer_.data()); }
  bool empty() const { return buffer_.size() == 0; }
  size_t bytes() const { return buffer_.capacity() * sizeof(float); }

 private:
  AlignedBuffer buffer_;
};

/** Rounds x [m, k] (element (i, p) at x[i * row + p * column]) to rows, over the pool. */
void rows16(Model& model, const Form16& form, Panels16& out, const float* x, int64_t row, int64_t column, int m, int k);
/** Packs B [n, k] (element (j, p) at b[j * row + p * column]) into panels, over the pool. */
void panels16(Model& model, const Form16& form, Panels16& out, const float* b, int64_t row, int64_t column, int n, int k);
/** Panels of W^T [in, out] from a packed W [out, in]. */
void transposed_panels16(Model& model, const Form16& form, Panels16& out, const PackedWeights& w);

/** A B^T of rows (`a_row` words apart) and panels of depth k. */
struct Term16 {
  int k;
  const uint16_t* a;
  int64_t a_row;
  const uint16_t* b;
};

/** C [m, n] (+)= the sum of the terms, in their order. A piece of C takes all of them while it is in cache. */
struct Product16 {
  int m, n;
  float* c;
  int64_t c_row;
  bool accumulate;
  std::vector<Term16> terms;

  double work() const {
    double depths = 0;
    for (const Term16& term : terms) depths += term.k;
    return depths * m * n;
  }
};

/** All products in one region. Pieces are cut by rows and panels, so the result does not depend on the pool. */
void run_products16(Model& model, const Form16& form, const std::vector<Product16>& products);

}  // namespace tackroom
