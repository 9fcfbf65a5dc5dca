/**
 * One token sequence with its key/value cache.
 *
 * Keys are stored as attention reads them: per layer and kv head in panels [capacity / panel][head_dim][panel], so that a
 * decode step needs no transposition; values as rows [capacity][head_dim]. The cache grows by doubling.
 */
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "model.h"

namespace tackroom {

class Sequence {
 public:
  Sequence(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter);

  int length() const { return length_.load(std::memory_order_relaxed); }
  void truncate(int n);
  std::shared_ptr<Sequence> clone(int n) const;

  /** Makes room for `positions` tokens. Throws OUT_OF_MEMORY; the sequence is then as before. */
  void reserve(int positions);
  /** Writes the keys and values of one position, [kv_heads * head_dim] each. */
  void put(int layer, int position, const float* k, const float* v);
  /** Makes the tokens whose keys and values were written part of the sequence. */
  void append(const int* ids, int count);

  const float* key_panels(int layer, int kv_head) const { return keys_[static_cast<size_t>(layer)].data() + static_cast<size_t>(kv_head) * stride_; }
  const float* values(int layer, int kv_head) const { return values_[static_cast<size_t>(layer)].data() + static_cast<size_t>(kv_head) * stride_; }
  const std::vector<int>& tokens() const { return tokens_; }
  Adapter* adapter() const { return adapter_.get(); }
  const Model& model() const { return *model_; }

  /** Jobs on the engine thread that use this sequence; it must not be changed meanwhile. */
  std::atomic<int> busy{0};

 private:
  std::shared_ptr<Model> model_;
  std::shared_ptr<Adapter> adapter_;
  std::atomic<int> length_{0};
  int capacity_ = 0;
  size_t stride_ = 0;  // floats per kv head: capacity * head_dim
  std::vector<int> tokens_;
  std::vector<AlignedBuffer> keys_, values_;  // one a layer
};

}  // namespace tackroom
