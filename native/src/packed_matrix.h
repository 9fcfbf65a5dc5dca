/** A matrix kept in 16, 8 or 4 bits, in memory of its own or in a piece of a larger one. */
#pragma once
#include <memory>

#include "aligned_buffer.h"
#include "kernels/packed.h"
#include "tensor_source.h"
#include "thread_pool.h"

namespace tackroom {

class PackedMatrix {
 public:
  /** Shape, bits and size of a matrix [out, in] of the file once it is packed: no value is read, no memory taken. */
  static std::unique_ptr<PackedMatrix> describe(const TensorView& view);
  /**
   * Repacks the described matrix, once at load, without changing a value:
   * Q8_0 -> 8 bits; Q4_0, Q4_1 -> 4 bits; Q4_K -> 4 bits with wide scales; Q5_0, Q5_1, IQ4_NL -> 8 bits; Q5_K, IQ4_XS -> 8 bits with
   * wide scales; Q6_K, Q3_K, Q2_K -> 8 bits, groups of 16, wide scales; BF16 -> 16 bits. F32 and F16 become bf16 by rounding.
   *
   * `memory`: bytes() bytes on a 64-byte boundary that outlive the matrix; null: the matrix holds its own.
   */
  void fill(const TensorView& view, ThreadPool& pool, uint8_t* memory = nullptr);
  /** Both, in memory of its own. */
  static std::unique_ptr<PackedMatrix> pack(const TensorView& view, ThreadPool& pool);

  const PackedWeights& weights() const { return weights_; }
  size_t bytes() const { return data_ + scales_ + minimums_; }

 private:
  PackedWeights weights_;
  AlignedBuffer own_;
  size_t data_ = 0, scales_ = 0, minimums_ = 0;  // bytes of the parts, one after the other, each a multiple of 64
};

}  // namespace tackroom
