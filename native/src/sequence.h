/**
 * One token sequence with what its layers remember.
 *
 * Attention layers hold keys as attention reads them, per kv head in panels [capacity / panel][head_dim][panel], so that a
 * decode step needs no transposition, and values as rows [capacity][head_dim]; below fp32, where the processor has bf16 products,
 * both in bf16 in the form of attention16.h: half the memory, and the numbers training computes with. Short convolutions hold their input u of every
 * position, [capacity][hidden], so that a sequence can be cut at any length. The cache grows by doubling.
 */
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "adapter.h"
#include "attention16.h"
#include "model.h"

namespace tackroom {

class Sequence {
 public:
  Sequence(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, Precision precision);

  int length() const { return length_.load(std::memory_order_relaxed); }
  void truncate(int n);
  std::shared_ptr<Sequence> clone(int n) const;

  /** Makes room for `positions` tokens. Throws OUT_OF_MEMORY; the sequence is then as before. */
  void reserve(int positions);
  /** Writes the keys and values of one position of an attention layer, [kv_heads * head_dim] each. */
  void put(int layer, int position, const float* k, const float* v);
  /** Makes the tokens whose keys and values were written part of the sequence. */
  void append(const int* ids, int count);

  /** Keys and values are in bf16. */
  bool narrow() const { return narrow_; }
  const uint16_t* keys16(int layer, int kv_head) const { return cache16(keys_, layer) + kv_head * attention_key16(capacity_, model_->config.head_dim); }
  const uint16_t* values16(int layer, int kv_head) const { return cache16(values_, layer) + kv_head * attention_value16(capacity_, model_->config.head_dim); }
  const float* key_panels(int layer, int kv_head) const { return keys_[static_cast<size_t>(layer)].data() + static_cast<size_t>(kv_head) * stride_; }
  const float* values(int layer, int kv_head) const { return values_[static_cast<size_t>(layer)].data() + static_cast<size_t>(kv_head) * stride_; }
  /** Inputs of a convolution layer, [capacity][hidden]. */
  float* convolved(int layer) { return values_[static_cast<size_t>(layer)].data(); }
  const std::vector<int>& tokens() const { return tokens_; }
  Adapter* adapter() const { return adapter_.get(); }
  const Model& model() const { return *model_; }
  Precision precision() const { return precision_; }
  size_t bytes() const;
  /** Bytes a token takes in the cache of this model. */
  static size_t bytes_per_token(const Model& model, Precision precision);

  /** Jobs on the engine thread that use this sequence; it must not be changed meanwhile. */
  std::atomic<int> busy{0};

 private:
  static const uint16_t* cache16(const std::vector<AlignedBuffer>& buffers, int layer) { return reinterpret_cast<const uint16_t*>(buffers[static_cast<size_t>(layer)].data()); }
  void put16(int layer, int position, const float* k, const float* v);
  /** Copies the first `count` positions of `from` into caches of a larger or equal capacity. */
  void copy_layers(const Sequence& from, int count, std::vector<AlignedBuffer>& keys, std::vector<AlignedBuffer>& values, int capacity) const;

  std::shared_ptr<Model> model_;
  std::shared_ptr<Adapter> adapter_;
  Precision precision_;
  std::atomic<int> length_{0};
  bool narrow_;
  int capacity_ = 0;   // a multiple of kFirstCapacity
  size_t stride_ = 0;  // fp32: floats per kv head, capacity * head_dim
  std::vector<int> tokens_;
  std::vector<AlignedBuffer> keys_, values_;  // one a layer
};

}  // namespace tackroom
