/**
 * One transformer block in training: forward that keeps what backward needs, and backward.
 *
 * The rows are whole sequences packed one after the other; attention is causal inside each (block-diagonal).
 */
#pragma once
#include <vector>

#include "train_linear.h"

namespace tackroom {

/** A sequence inside a micro-batch. */
struct Segment {
  int begin, count;
};

/** Activations of one block that backward reads; sizes in the comments are per micro-batch. */
struct BlockTape {
  AlignedBuffer input;                    // [rows, hidden] residual stream before the block
  AlignedBuffer normed, mid, mid_normed;  // [rows, hidden] after norm 1, after attention's residual, after norm 2
  AlignedBuffer q_raw, k_raw;             // before QK-norm; only where the model has it
  AlignedBuffer q, k, v;                  // after RoPE
  AlignedBuffer attended;                 // [rows, heads * head_dim]
  AlignedBuffer gate, up, product;        // [rows, ffn]; product = silu(gate) * up
  AlignedBuffer rstd, mid_rstd, q_rstd, k_rstd;
  AlignedBuffer lse;                      // [heads, rows]
  AlignedBuffer low_rank[kSiteCount];     // [rows, r]
};

/** Scratch of one thread, shared by all blocks. */
struct BlockScratch {
  AlignedBuffer d_mid, d_normed, dq, dk, dv, d_attended, d_gate, d_up, d_low_rank, key_panels, value_panels, attention;
};

class TrainBlock {
 public:
  TrainBlock(const Model& model, const TrainTarget& target, const std::vector<Segment>& segments, int rows, BlockScratch& scratch);

  /** Reads tape.input, fills the rest of the tape, writes the block's output [rows, hidden]. */
  void forward(int layer, BlockTape& tape, float* output);
  /** `dx` [rows, hidden] holds the gradient of the output on entry and of the input on return (not computed when `last`
   * and nothing below is trained). */
  void backward(int layer, BlockTape& tape, float* dx, bool last);

 private:
  void norm_forward(const float* x, size_t weight, float* y, float* rstd);
  void norm_backward(const float* dy, const float* x, size_t weight, const float* rstd, float* dx);
  void heads_forward(int layer, BlockTape& tape);
  void heads_backward(int layer, BlockTape& tape);
  void attention_forward(BlockTape& tape);
  void attention_backward(BlockTape& tape);

  const Model& model_;
  const ModelConfig& config_;
  const Kernels& kernels_;
  const TrainTarget& target_;
  const std::vector<Segment>& segments_;
  const int rows_;
  BlockScratch& scratch_;
};

}  // namespace tackroom
