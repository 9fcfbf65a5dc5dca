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

/** The keys and values of every layer, in one piece of memory. */
struct SequenceCache {
  AlignedBuffer memory;
  std::vector<size_t> keys, values;  // where a layer's begin, in floats
  int capacity = 0;                  // tokens; a multiple of the first capacity

  float* keys_of(int layer) { return memory.data() + keys[static_cast<size_t>(layer)]; }
  float* values_of(int layer) { return memory.data() + values[static_cast<size_t>(layer)]; }
  const float* keys_of(int layer) const { return memory.data() + keys[static_cast<size_t>(layer)]; }
  const float* values_of(int layer) const { return memory.data() + values[static_cast<size_t>(layer)]; }
};

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
  /** Brings what `put` will write for a position closer, while other work is done; a no-op in fp32. */
  void fetch(int layer, int position);
  /** Makes the tokens whose keys and values were written part of the sequence. */
  void append(const int* ids, int count);

  /** Keys and values are in bf16. */
  bool narrow() const { return narrow_; }
  const uint16_t* keys16(int layer, int kv_head) const { return narrow(cache_.keys_of(layer)) + kv_head * attention_key16(cache_.capacity, model_->config.head_dim); }
  const uint16_t* values16(int layer, int kv_head) const { return narrow(cache_.values_of(layer)) + kv_head * attention_value16(cache_.capacity, model_->config.head_dim); }
  const float* key_panels(int layer, int kv_head) const { return cache_.keys_of(layer) + static_cast<size_t>(kv_head) * stride(cache_); }
  const float* values(int layer, int kv_head) const { return cache_.values_of(layer) + static_cast<size_t>(kv_head) * stride(cache_); }
  /** Inputs of a convolution layer, [capacity][hidden]. */
  float* convolved(int layer) { return cache_.values_of(layer); }
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
  static const uint16_t* narrow(const float* memory) { return reinterpret_cast<const uint16_t*>(memory); }
  static uint16_t* narrow(float* memory) { return reinterpret_cast<uint16_t*>(memory); }
  /** fp32: floats per kv head. */
  size_t stride(const SequenceCache& cache) const { return static_cast<size_t>(cache.capacity) * static_cast<size_t>(model_->config.head_dim); }
  void put16(int layer, int position, const float* k, const float* v);
  SequenceCache make_cache(int capacity) const;
  /** Copies the first `count` positions of this sequence into a cache of a larger or equal capacity. */
  void copy_to(SequenceCache& cache, int count) const;

  std::shared_ptr<Model> model_;
  std::shared_ptr<Adapter> adapter_;
  Precision precision_;
  std::atomic<int> length_{0};
  bool narrow_;
  SequenceCache cache_;
  std::vector<int> tokens_;
};

}  // namespace tackroom
