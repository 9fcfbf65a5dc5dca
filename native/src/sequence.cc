#include "sequence.h"

#include <algorithm>
#include <cstring>

#include "error.h"

namespace tackroom {
namespace {

constexpr int kFirstCapacity = 192;  // a multiple of every panel width and of the attention key block

}  // namespace

Sequence::Sequence(std::shared_ptr<Model> model, std::shared_ptr<Adapter> adapter, Precision precision)
    : model_(std::move(model)),
      adapter_(std::move(adapter)),
      precision_(precision),
      narrow_(precision != Precision::Fp32 && model_->packed.bf16_body != nullptr),
      keys_(model_->layers.size()),
      values_(model_->layers.size()) {}

void Sequence::truncate(int n) {
  if (n < 0 || n > length()) fail("BAD_ARGUMENT", "Cannot truncate a sequence of %d tokens to %d.", length(), n);
  tokens_.resize(static_cast<size_t>(n));
  length_.store(n, std::memory_order_relaxed);
}

std::shared_ptr<Sequence> Sequence::clone(int n) const {
  if (n < 0 || n > length()) fail("BAD_ARGUMENT", "Cannot copy %d tokens of a sequence of %d.", n, length());
  auto copy = std::make_shared<Sequence>(model_, adapter_, precision_);
  if (n == 0) return copy;
  copy->reserve(n);
  copy_layers(*this, n, copy->keys_, copy->values_, copy->capacity_);
  copy->append(tokens_.data(), n);
  return copy;
}

void Sequence::reserve(int positions) {
  if (positions <= capacity_) return;
  const int capacity = std::max((positions + kFirstCapacity - 1) / kFirstCapacity * kFirstCapacity, 2 * capacity_);
  const size_t heads = static_cast<size_t>(model_->config.kv_heads), hidden = static_cast<size_t>(model_->config.hidden);
  const int hd = model_->config.head_dim;
  std::vector<AlignedBuffer> keys(keys_.size()), values(values_.size());
  for (size_t layer = 0; layer < keys.size(); layer++) {
    if (model_->layers[layer].kind.mixer == Mixer::ShortConv) {
      values[layer].reserve(static_cast<size_t>(capacity) * hidden);
    } else if (narrow_) {
      keys[layer].reserve(heads * static_cast<size_t>(attention_key16(capacity, hd)) / 2);
      values[layer].reserve(heads * static_cast<size_t>(attention_value16(capacity, hd)) / 2);
    } else {
      keys[layer].reserve(heads * static_cast<size_t>(capacity) * static_cast<size_t>(hd));
      values[layer].reserve(heads * static_cast<size_t>(capacity) * static_cast<size_t>(hd));
    }
  }
  copy_layers(*this, length(), keys, values, capacity);
  keys_.swap(keys);
  values_.swap(values);
  capacity_ = capacity;
  stride_ = static_cast<size_t>(capacity) * static_cast<size_t>(hd);
}

void Sequence::copy_layers(const Sequence& from, int count, std::vector<AlignedBuffer>& keys, std::vector<AlignedBuffer>& values, int capacity) const {
  if (count == 0) return;
  const size_t n = static_cast<size_t>(count), hd = static_cast<size_t>(model_->config.head_dim), panel = static_cast<size_t>(model_->kernels.panel_width);
  for (size_t layer = 0; layer < keys.size(); layer++) {
    if (model_->layers[layer].kind.mixer == Mixer::ShortConv) {
      std::memcpy(values[layer].data(), from.values_[layer].data(), n * static_cast<size_t>(model_->config.hidden) * sizeof(float));
      continue;
    }
    for (int head = 0; head < model_->config.kv_heads; head++) {
      if (narrow_) {
        const int width = model_->config.head_dim, blocks = (count + kAttentionKeys - 1) / kAttentionKeys;
        std::memcpy(reinterpret_cast<uint16_t*>(keys[layer].data()) + head * attention_key16(capacity, width), from.keys16(static_cast<int>(layer), head),
                    static_cast<size_t>(attention_key16(count, width)) * 2);
        std::memcpy(reinterpret_cast<uint16_t*>(values[layer].data()) + head * attention_value16(capacity, width), from.values16(static_cast<int>(layer), head),
                    static_cast<size_t>(blocks * attention_value_block16(width)) * 2);
        continue;
      }
      const size_t to = static_cast<size_t>(head) * static_cast<size_t>(capacity) * hd, source = static_cast<size_t>(head) * from.stride_;
      std::memcpy(keys[layer].data() + to, from.keys_[layer].data() + source, (n + panel - 1) / panel * panel * hd * sizeof(float));
      std::memcpy(values[layer].data() + to, from.values_[layer].data() + source, n * hd * sizeof(float));
    }
  }
}

void Sequence::put(int layer, int position, const float* k, const float* v) {
  if (narrow_) return put16(layer, position, k, v);
  const size_t head_dim = static_cast<size_t>(model_->config.head_dim);
  const size_t panel = static_cast<size_t>(model_->kernels.panel_width), at = static_cast<size_t>(position);
  float* keys = keys_[static_cast<size_t>(layer)].data() + at / panel * panel * head_dim + at % panel;
  float* values = values_[static_cast<size_t>(layer)].data() + at * head_dim;
  for (int head = 0; head < model_->config.kv_heads; head++, k += head_dim, v += head_dim, keys += stride_, values += stride_) {
    for (size_t i = 0; i < head_dim; i++) keys[i * panel] = k[i];
    std::memcpy(values, v, head_dim * sizeof(float));
  }
}

void Sequence::put16(int layer, int position, const float* k, const float* v) {
  const int hd = model_->config.head_dim;
  uint16_t* keys = reinterpret_cast<uint16_t*>(keys_[static_cast<size_t>(layer)].data()) + position / kPanelColumns * kPanelColumns * bf16_depth(hd) + position % kPanelColumns * 2;
  uint16_t* values = reinterpret_cast<uint16_t*>(values_[static_cast<size_t>(layer)].data()) + position / kAttentionKeys * attention_value_block16(hd);
  const int in_block = position % kAttentionKeys;
  thread_local std::vector<uint16_t> row;
  row.resize(static_cast<size_t>(bf16_depth(hd)));
  for (int head = 0; head < model_->config.kv_heads; head++, k += hd, v += hd) {
    model_->packed.rows_to_bf16(k, hd, 1, 1, hd, row.data());
    for (int i = 0; i < hd; i++) keys[i / 2 * (2 * kPanelColumns) + i % 2] = row[static_cast<size_t>(i)];
    model_->packed.rows_to_bf16(v, hd, 1, 1, hd, row.data());
    for (int i = 0; i < hd; i++)
      values[i / kPanelColumns * (kAttentionKeys * kPanelColumns) + in_block / 2 * (2 * kPanelColumns) + i % kPanelColumns * 2 + in_block % 2] = row[static_cast<size_t>(i)];
    keys += attention_key16(capacity_, hd);
    values += attention_value16(capacity_, hd);
  }
}

void Sequence::append(const int* ids, int count) {
  tokens_.insert(tokens_.end(), ids, ids + count);
  length_.store(static_cast<int>(tokens_.size()), std::memory_order_relaxed);
}

size_t Sequence::bytes() const { return static_cast<size_t>(capacity_) * bytes_per_token(*model_, precision_); }

size_t Sequence::bytes_per_token(const Model& model, Precision precision) {
  const ModelConfig& c = model.config;
  const bool narrow = precision != Precision::Fp32 && model.packed.bf16_body != nullptr;
  const int64_t padded = bf16_depth(c.head_dim) + panel_count(c.head_dim) * kPanelColumns;
  size_t bytes = 0;
  for (const LayerKind& kind : c.kinds) {
    if (kind.mixer == Mixer::ShortConv) bytes += static_cast<size_t>(c.hidden) * sizeof(float);
    else bytes += static_cast<size_t>(c.kv_heads) * (narrow ? static_cast<size_t>(padded) * 2 : static_cast<size_t>(2 * c.head_dim) * sizeof(float));
  }
  return bytes;
}

}  // namespace tackroom
