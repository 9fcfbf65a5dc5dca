#include "sequence.h"

#include <algorithm>
#include <cstring>

#include "error.h"

namespace tackroom {
namespace {

constexpr int kFirstCapacity = 192;  // a multiple of every panel width and of the attention key block

}  // namespace

Sequence::Sequence(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter)
    : model_(std::move(model)), adapter_(std::move(adapter)), keys_(model_->layers.size()), values_(model_->layers.size()) {}

void Sequence::truncate(int n) {
  if (n < 0 || n > length()) fail("BAD_ARGUMENT", "Cannot truncate a sequence of %d tokens to %d.", length(), n);
  tokens_.resize(static_cast<size_t>(n));
  length_.store(n, std::memory_order_relaxed);
}

std::shared_ptr<Sequence> Sequence::clone(int n) const {
  if (n < 0 || n > length()) fail("BAD_ARGUMENT", "Cannot copy %d tokens of a sequence of %d.", n, length());
  auto copy = std::make_shared<Sequence>(model_, adapter_);
  if (n == 0) return copy;
  copy->reserve(n);
  const size_t head_dim = static_cast<size_t>(model_->config.head_dim);
  const size_t panel = static_cast<size_t>(model_->kernels.panel_width);
  const size_t key_floats = (static_cast<size_t>(n) + panel - 1) / panel * panel * head_dim, value_floats = static_cast<size_t>(n) * head_dim;
  for (size_t layer = 0; layer < keys_.size(); layer++)
    for (size_t head = 0; head < static_cast<size_t>(model_->config.kv_heads); head++) {
      std::memcpy(copy->keys_[layer].data() + head * copy->stride_, keys_[layer].data() + head * stride_, key_floats * sizeof(float));
      std::memcpy(copy->values_[layer].data() + head * copy->stride_, values_[layer].data() + head * stride_, value_floats * sizeof(float));
    }
  copy->append(tokens_.data(), n);
  return copy;
}

void Sequence::reserve(int positions) {
  if (positions <= capacity_) return;
  const int capacity = std::max((positions + kFirstCapacity - 1) / kFirstCapacity * kFirstCapacity, 2 * capacity_);
  const size_t heads = static_cast<size_t>(model_->config.kv_heads);
  const size_t stride = static_cast<size_t>(capacity) * static_cast<size_t>(model_->config.head_dim);
  std::vector<AlignedBuffer> keys(keys_.size()), values(values_.size());
  for (size_t layer = 0; layer < keys.size(); layer++) {
    keys[layer].reserve(heads * stride);
    values[layer].reserve(heads * stride);
    for (size_t head = 0; head < heads && stride_ != 0; head++) {
      std::memcpy(keys[layer].data() + head * stride, keys_[layer].data() + head * stride_, stride_ * sizeof(float));
      std::memcpy(values[layer].data() + head * stride, values_[layer].data() + head * stride_, stride_ * sizeof(float));
    }
  }
  keys_.swap(keys);
  values_.swap(values);
  capacity_ = capacity;
  stride_ = stride;
}

void Sequence::put(int layer, int position, const float* k, const float* v) {
  const size_t head_dim = static_cast<size_t>(model_->config.head_dim);
  const size_t panel = static_cast<size_t>(model_->kernels.panel_width), at = static_cast<size_t>(position);
  float* keys = keys_[static_cast<size_t>(layer)].data() + at / panel * panel * head_dim + at % panel;
  float* values = values_[static_cast<size_t>(layer)].data() + at * head_dim;
  for (int head = 0; head < model_->config.kv_heads; head++, k += head_dim, v += head_dim, keys += stride_, values += stride_) {
    for (size_t i = 0; i < head_dim; i++) keys[i * panel] = k[i];
    std::memcpy(values, v, head_dim * sizeof(float));
  }
}

void Sequence::append(const int* ids, int count) {
  tokens_.insert(tokens_.end(), ids, ids + count);
  length_.store(static_cast<int>(tokens_.size()), std::memory_order_relaxed);
}

}  // namespace tackroom
