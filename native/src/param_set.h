/**
 * Named tensors in one flat array.
 *
 * Weights, gradients and both optimizer moments share one layout, so reducing gradients over threads, clipping, saving
 * and an AdamW step are single passes over flat memory. Each tensor starts on a 64-byte boundary.
 */
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "aligned_buffer.h"

namespace tackroom {

enum class ParamKind { Embedding, Head, Norm, Bias, Matrix, Kernel, Buffer };  // a Buffer is never trained

struct Param {
  std::string name;
  std::vector<int64_t> shape;
  ParamKind kind;
  size_t offset;  // in floats, from the start of the set
  size_t size;    // in floats, without padding
};

class ParamSet {
 public:
  /** Appends a tensor to the layout and returns its offset. Call `allocate` once after the last one. */
  size_t add(std::string name, std::vector<int64_t> shape, ParamKind kind);
  void allocate() { values_.reserve(floats_); }

  float* at(size_t offset) { return values_.data() + offset; }
  const float* at(size_t offset) const { return values_.data() + offset; }
  const std::vector<Param>& params() const { return params_; }
  const Param* find(const std::string& name) const;
  /** Floats of the flat array, padding included. */
  size_t floats() const { return floats_; }
  /** Elements of all tensors, padding left out. */
  size_t elements() const;

 private:
  std::vector<Param> params_;
  std::unordered_map<std::string, size_t> index_;
  AlignedBuffer values_;
  size_t floats_ = 0;
};

}  // namespace tackroom
