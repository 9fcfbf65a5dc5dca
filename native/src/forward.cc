#include "forward.h"

#include <algorithm>
#include <cstring>

#include "error.h"
#include "matmul.h"

namespace tackroom {

void Forward::begin(const std::vector<ForwardItem>& items) {
  spans_.clear();
  adapters_.clear();
  positions_.clear();
  int longest = 0;
  for (const ForwardItem& item : items) {
    const int count = static_cast<int>(item.ids.size()), start = item.sequence->length(), row = static_cast<int>(positions_.size());
    Adapter* adapter = item.sequence->adapter();
    spans_.push_back({item.sequence, row, count, start});
    if (!adapters_.empty() && adapters_.back().adapter == adapter) adapters_.back().count += count;
    else adapters_.push_back({row, count, adapter});
    for (int i = 0; i < count; i++) positions_.push_back(start + i);
    longest = std::max(longest, start + count);
    item.sequence->reserve(start + count);
    if (adapter != nullptr) adapter->refresh(model_, precision_);
  }
  rows_ = static_cast<int>(positions_.size());
  model_.reserve_rope(longest);
  float* x = sized(x_, rows_, model_.config.hidden);
  for (const ForwardItem& item : items)
    for (const int id : item.ids) {
      model_.embed(id, x);
      x += model_.config.hidden;
    }
}

const float* Forward::run(const std::vector<ForwardItem>& items, Precision precision, std::vector<std::vector<float>>* keep_hidden) {
  const ModelConfig& c = model_.config;
  precision_ = precision;
  begin(items);
  sized(h_, rows_, c.hidden);
  const auto keep = [&] {
    if (keep_hidden != nullptr) keep_hidden->emplace_back(x_.data(), x_.data() + static_cast<size_t>(rows_) * static_cast<size_t>(c.hidden));
  };
  for (int l = 0; l < c.layers; l++) {
    keep();
    const Layer& layer = model_.layers[static_cast<size_t>(l)];
    norm(x_.data(), layer.mixer_norm, h_.data(), rows_);
    if (layer.kind.mixer == Mixer::Attention) attention(l);
    else short_conv(l);
    norm(x_.data(), layer.ffn_norm, h_.data(), rows_);
    if (layer.kind.ffn == Ffn::Dense) dense_mlp(l);
    else experts(l);
  }
  keep();
  for (size_t i = 0; i < items.size(); i++) spans_[i].sequence->append(items[i].ids.data(), spans_[i].count);
  return x_.data();
}

void Forward::norm(const float* x, size_t weight, float* y, int rows) {
  const int64_t hidden = model_.config.hidden;
  parallel_rows(model_.pool, rows, rows * static_cast<double>(hidden) * 0.1, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) model_.norm(x + r * hidden, weight, y + r * hidden, model_.config.hidden);
  });
}

void Forward::add_branch(size_t post_norm) {
  const int64_t hidden = model_.config.hidden;
  if (post_norm != kAbsent) norm(branch_.data(), post_norm, branch_.data(), rows_);
  model_.kernels.add(x_.data(), branch_.data(), rows_ * hidden);
}

const float* Forward::logits(const std::vector<int>& rows) {
  const ModelConfig& c = model_.config;
  const int count = static_cast<int>(rows.size());
  float* gathered = sized(gathered_, count, c.hidden);
  for (int i = 0; i < count; i++)
    model_.norm(x_.data() + static_cast<int64_t>(rows[static_cast<size_t>(i)]) * c.hidden, model_.final_norm, gathered + static_cast<int64_t>(i) * c.hidden, c.hidden);
  input_.set(gathered, count, c.hidden);
  ops_.forward(precision_, input_, {{&model_.head, sized(logits_, count, c.vocab), c.vocab}}, {});
  return logits_.data();
}

}  // namespace tackroom
