/** A matrix kept in 16, 8 or 4 bits: owns the memory that a PackedWeights view describes. */
#pragma once
#include <memory>

#include "aligned_buffer.h"
#include "kernels/packed.h"
#include "tensor_source.h"
#include "thread_pool.h"

namespace tackroom {

class PackedMatrix {
 public:
  /**
   * Repacks a matrix [out, in] of the file, once at load, without changing a value:
   * Q8_0 -> 8 bits; Q4_0, Q4_1 -> 4 bits; Q4_K -> 4 bits with wide scales; Q5_0, Q5_1, IQ4_NL -> 8 bits; Q5_K, IQ4_XS -> 8 bits with
   * wide scales; Q6_K, Q3_K, Q2_K -> 8 bits, groups of 16, wide scales; BF16 -> 16 bits. F32 and F16 become bf16 by rounding.
   */
  static std::unique_ptr<PackedMatrix> pack(const TensorView& view, ThreadPool& pool);

  const PackedWeights& weights() const { return weights_; }
  size_t bytes() const;

 private:
  PackedWeights weights_;
  AlignedBuffer data_, scales_, minimums_;
};

}  // namespace tackroom
