/**
 * The forward pass of inference: many sequences in one batch, whole prompts and single tokens side by side.
 *
 * All rows of all items go through each weight matrix together; only attention and LoRA look at the item. A row's result
 * does not depend on the other rows (see kernels.h), so a sampled log-probability is the one scoring gives later.
 */
#pragma once
#include <vector>

#include "sequence.h"

namespace tackroom {

struct ForwardItem {
  Sequence* sequence;
  std::vector<int> ids;
};

class Forward {
 public:
  explicit Forward(Model& model) : model_(model) {}

  /**
   * Appends each item's ids to its sequence. Returns the residual stream after the last block, [rows, hidden], the rows of
   * the items one after the other; valid until the next call. Items of one adapter should be neighbours.
   */
  const float* run(const std::vector<ForwardItem>& items);

  /** Final norm and head: logits [count, vocab] of the rows `rows` of the last `run`; valid until the next call. */
  const float* logits(const std::vector<int>& rows);

 private:
  struct Span {
    Sequence* sequence;
    int begin, count, position;
  };
  void linear(int layer, Site site, const float* x, AlignedBuffer& y, bool accumulate);
  void lora(int layer, Site site, const float* x, float* y);
  void embed(const std::vector<ForwardItem>& items);
  void project_heads(int layer);
  void attend(int layer);
  void attend_block(int layer, const Span& span, int first, int count, int head, int heads);

  Model& model_;
  std::vector<Span> spans_;
  std::vector<int> positions_;  // of every row
  int rows_ = 0;
  AlignedBuffer x_, h_, q_, k_, v_, attended_, gate_, up_, low_rank_, gathered_, logits_;
};

}  // namespace tackroom
