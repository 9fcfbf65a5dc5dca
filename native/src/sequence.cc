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
      narrow_(model_->cache16(precision)) {}

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
  copy_to(copy->cache_, n);
  copy->append(tokens_.data(), n);
  return copy;
}

void Sequence::reserve(int positions) {
  if (positions <= cache_.capacity) return;
  SequenceCache larger = make_cache(std::max((positions + kFirstCapacity - 1) / kFirstCapacity * kFirstCapacity, 2 * cache_.capacity));
  copy_to(larger, length());
  cache_ = std::move(larger);
}

SequenceCache Sequence::make_cache(int capacity) const {
  const size_t heads = static_cast<size_t>(model_->config.kv_heads), hidden = static_cast<size_t>(model_->config.hidden);
  const int hd = model_->config.head_dim;
  SequenceCache cache;
  cache.capacity = capacity;
  size_t floats = 0;
  const auto place = [&](size_t count) {
    const size_t at = floats;
    floats += (count + 15) / 16 * 16;  // whole cache lines
    return at;
  };
  for (const Layer& layer : model_->layers) {
    if (layer.kind.mixer == Mixer::ShortConv) {
      cache.keys.push_back(0);
      cache.values.push_back(place(static_cast<size_t>(capacity) * hidden));
    } else if (narrow_) {
      cache.keys.push_back(place(heads * static_cast<size_t>(attention_key16(capacity, hd)) / 2));
      cache.values.push_back(place(heads * static_cast<size_t>(attention_value16(capacity, hd)) / 2));
    } else {
      cache.keys.push_back(place(heads * stride(cache)));
      cache.values.push_back(place(heads * stride(cache)));
    }
  }
  cache.memory.reserve(floats);
  return cache;
}

void Sequence::copy_to(SequenceCache& cache, int count) const {
  if (count == 0) return;
  const size_t n = static_cast<size_t>(count), hd = static_cast<size_t>(model_->config.head_dim), panel = static_cast<size_t>(model_->kernels.panel_width);
  for (int layer = 0; layer < model_->config.layers; layer++) {
    if (model_->config.kind(layer).mixer == Mixer::ShortConv) {
      std::memcpy(cache.values_of(layer), cache_.values_of(layer), n * static_cast<size_t>(model_->config.hidden) * sizeof(float));
      continue;
    }
    for (int head = 0; head < model_->config.kv_heads; head++) {
      if (narrow_) {
        const int width = model_->config.head_dim, blocks = (count + kAttentionKeys - 1) / kAttentionKeys;
        std::memcpy(narrow(cache.keys_of(layer)) + head * attention_key16(cache.capacity, width), keys16(layer, head),
                    static_cast<size_t>(attention_key16(count, width)) * 2);
        std::memcpy(narrow(cache.values_of(layer)) + head * attention_value16(cache.capacity, width), values16(layer, head),
                    static_cast<size_t>(blocks * attention_value_block16(width)) * 2);
        continue;
      }
      const size_t to = static_cast<size_t>(head) * stride(cache);
      std::memcpy(cache.keys_of(layer) + to, key_panels(layer, head), (n + panel - 1) / panel * panel * hd * sizeof(float));
      std::memcpy(cache.values_of(layer) + to, values(layer, head), n * hd * sizeof(float));
    }
  }
}

void Sequence::put(int layer, int position, const float* k, const float* v) {
  if (narrow_) return put16(layer, position, k, v);
  const size_t head_dim = static_cast<size_t>(model_->config.head_dim), stride = this->stride(cache_);
  const size_t panel = static_cast<size_t>(model_->kernels.panel_width), at = static_cast<size_t>(position);
  float* keys = cache_.keys_of(layer) + at / panel * panel * head_dim + at % panel;
  float* values = cache_.values_of(layer) + at * head_dim;
  for (int head = 0; head < model_->config.kv_heads; head++, k += head_dim, v += head_dim, keys += stride, values += stride) {
    for (size_t i = 0; i < head_dim; i++) keys[i * panel] = k[i];
    std::memcpy(values, v, head_dim * sizeof(float));
  }
}

void Sequence::fetch(int layer, int position) {
  if (!narrow_) return;
  const int hd = model_->config.head_dim;
  constexpr int kPair = 2 * kPanelColumns;  // bf16 numbers of a cache line
  for (int head = 0; head < model_->config.kv_heads; head++) {
    const uint16_t* keys = keys16(layer, head) + position / kPanelColumns * kPanelColumns * bf16_depth(hd);
    const uint16_t* values = values16(layer, head) + position / kAttentionKeys * attention_value_block16(hd) + position % kAttentionKeys / 2 * kPair;
    for (int i = 0; i < hd / 2; i++) __builtin_prefetch(keys + i * kPair);
    for (int i = 0; i < hd; i += kPanelColumns) __builtin_prefetch(values + i * kAttentionKeys);
  }
}

void Sequence::put16(int layer, int position, const float* k, const float* v) {
  const int hd = model_->config.head_dim;
  uint16_t* keys = narrow(cache_.keys_of(layer)) + position / kPanelColumns * kPanelColumns * bf16_depth(hd) + position % kPanelColumns * 2;
  uint16_t* values = narrow(cache_.values_of(layer)) + position / kAttentionKeys * attention_value_block16(hd);
  const int in_block = position % kAttentionKeys;
  thread_local std::vector<uint16_t> row;
  row.resize(static_cast<size_t>(bf16_depth(hd)));
  for (int head = 0; head < model_->config.kv_heads; head++, k += hd, v += hd) {
    model_->packed.bf16.rows(k, hd, 1, 1, hd, row.data());
    for (int i = 0; i < hd; i++) keys[i / 2 * (2 * kPanelColumns) + i % 2] = row[static_cast<size_t>(i)];
    model_->packed.bf16.rows(v, hd, 1, 1, hd, row.data());
    for (int i = 0; i < hd; i++)
      values[i / kPanelColumns * (kAttentionKeys * kPanelColumns) + in_block / 2 * (2 * kPanelColumns) + i % kPanelColumns * 2 + in_block % 2] = row[static_cast<size_t>(i)];
    keys += attention_key16(cache_.capacity, hd);
    values += attention_value16(cache_.capacity, hd);
  }
}

void Sequence::append(const int* ids, int count) {
  tokens_.insert(tokens_.end(), ids, ids + count);
  length_.store(static_cast<int>(tokens_.size()), std::memory_order_relaxed);
}

size_t Sequence::bytes() const { return static_cast<size_t>(cache_.capacity) * bytes_per_token(*model_, precision_); }

size_t Sequence::bytes_per_token(const Model& model, Precision precision) {
  const ModelConfig& c = model.config;
  const bool narrow = model.cache16(precision);
  const int64_t padded = bf16_depth(c.head_dim) + panel_count(c.head_dim) * kPanelColumns;
  size_t bytes = 0;
  for (const LayerKind& kind : c.kinds) {
    if (kind.mixer == Mixer::ShortConv) bytes += static_cast<size_t>(c.hidden) * sizeof(float);
    else bytes += static_cast<size_t>(c.kv_heads) * (narrow ? static_cast<size_t>(padded) * 2 : static_cast<size_t>(2 * c.head_dim) * sizeof(float));
  }
  return bytes;
}

}  // namespace tackroom
