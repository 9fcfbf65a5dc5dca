/**
 * The forward pass of inference: many sequences in one batch, whole prompts and single tokens side by side.
 *
 * All rows of all items go through each weight matrix together; only attention, convolution and LoRA look at the item. A
 * row's result does not depend on the other rows (see kernels.h), so a sampled log-probability is the one scoring gives later.
 * One file per block under blocks/.
 */
#pragma once
#include <vector>

#include "linear.h"
#include "sequence.h"

namespace tackroom {

struct ForwardItem {
  Sequence* sequence;
  std::vector<int> ids;
};

/** The rows of one item in a batch. */
struct Span {
  Sequence* sequence;
  int begin, count, position;
};

class Forward {
 public:
  explicit Forward(Model& model) : model_(model), ops_(model) {}

  /**
   * Appends each item's ids to its sequence, computed in `precision`. Returns the residual stream after the last block,
   * [rows, hidden], the rows of the items one after the other; valid until the next call. Items of one adapter should be
   * neighbours. `keep_hidden` (tests) receives the stream before each layer and after the last, [layers + 1][rows, hidden].
   */
  const float* run(const std::vector<ForwardItem>& items, Precision precision, std::vector<std::vector<float>>* keep_hidden = nullptr);

  /** Final norm and head: logits [count, vocab] of the rows `rows` of the last `run`; valid until the next call. */
  const float* logits(const std::vector<int>& rows);

 private:
  void begin(const std::vector<ForwardItem>& items);
  void norm(const float* x, size_t weight, float* y, int rows);
  /** Adds `branch` [rows, hidden] to the stream, through the post-norm of the architecture. */
  void add_branch(size_t post_norm);
  bool has_post_norm(size_t post_norm) const { return post_norm != kAbsent; }

  void attention(int layer);
  void project_heads(int layer);
  void attend(int layer);
  AttentionForwardArgs block_args(int layer, const Span& span, int first, int count, int head, int heads);
  void attend_block(int layer, const Span& span, int first, int count, int head, int heads, int chunk, float* state);
  void short_conv(int layer);
  void dense_mlp(int layer);
  void experts(int layer);
  /** gate (+ up beside it, `stride` apart) becomes the activated product, rows of `width`. */
  void activate(const float* gate, const float* up, int64_t stride, float* out, int rows, int width);

  float* sized(AlignedBuffer& buffer, int rows, int width) { return buffer.reserve(static_cast<size_t>(rows) * static_cast<size_t>(width)); }

  Model& model_;
  LinearOps ops_;
  Precision precision_ = Precision::Fp32;
  std::vector<Span> spans_;
  std::vector<AdapterSpan> adapters_;  // neighbours of one adapter joined
  std::vector<int> positions_;         // of every row
  int rows_ = 0;
  Input input_;
  AlignedBuffer x_, h_, branch_, q_, k_, v_, attended_, gate_, up_, gathered_, logits_, states_;
  AlignedBuffer router_, expert_in_, expert_mid_, expert_act_, expert_out_;
};

}  // namespace tackroom
