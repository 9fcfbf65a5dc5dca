/**
 * One layer in training: forward that keeps what backward needs, and backward.
 *
 * All tokens of a micro-batch are rows of one matrix; only attention and convolution look at the forest. What is cheap to
 * compute again from the tape (norms, the activated product, the gated convolution) is not kept: reading it back would cost
 * as much.
 */
#pragma once
#include <vector>

#include "forest.h"
#include "rows.h"
#include "train_linear.h"

namespace tackroom {

/** Names in the comments: H hidden, Q heads * head_dim, K kv_heads * head_dim, F width of the MLP, r rank; all [rows, ...]. */
struct AttentionTape {
  AlignedBuffer q_raw, k_raw, q_rstd, k_rstd;  // before QK-norm, only where the model has it
  AlignedBuffer q, k, v;                       // Q, K, K; after RoPE
  AlignedBuffer attended;                      // Q
  AlignedBuffer lse;                           // [heads][rows]
  AlignedBuffer low[4];                        // r of q, k, v, o
};

struct ShortConvTape {
  AlignedBuffer bcx;     // 3 H
  AlignedBuffer low[2];  // r of in and out
};

struct DenseMlpTape {
  AlignedBuffer gate, up;  // F each
  AlignedBuffer low[3];    // r of gate, up, down
};

/** Rows of an expert stand together, experts one after the other; R = rows * experts_used. */
struct ExpertsTape {
  AlignedBuffer scores;             // [rows, experts] sigmoid of the router
  std::vector<int> chosen;          // [rows, experts_used]
  std::vector<int> row, slot;       // [R] token and which of its choices
  std::vector<float> weight;        // [R] of the expert's output
  std::vector<int> first;           // [experts + 1]
  std::vector<AlignedBuffer> both;  // one an expert: [its rows, 2 F]
  std::vector<AlignedBuffer> low_gate_up, low_down;
};

struct LayerTape {
  AlignedBuffer input, mid;                    // H; the stream before the mixer and between mixer and MLP
  AlignedBuffer mixer_rstd, ffn_rstd;          // 1
  AlignedBuffer mixer_branch, ffn_branch;      // H; before a post-norm, only where the model has it
  AlignedBuffer mixer_post_rstd, ffn_post_rstd;
  AttentionTape attention;
  ShortConvTape conv;
  DenseMlpTape mlp;
  ExpertsTape experts;
  /** Bytes held now, the input left out. */
  size_t bytes() const;
};

/** Floats a token takes on the tape of a layer, its input left out. `rank` 0 without an adapter, `expert_rank` likewise. */
int64_t tape_floats(const ModelConfig& config, const LayerKind& kind, int rank, int expert_rank);
/** The same of one tape that all layers of a model use in turn: the buffers of every kind it has. */
int64_t common_tape_floats(const ModelConfig& config, int rank, int expert_rank);

/** Buffers that blocks use one after the other. */
struct TrainScratch {
  AlignedBuffer normed, d_normed, d_branch, partial;
  AlignedBuffer a, b, c, d, e, f, g;  // whatever a block needs
  size_t bytes() const;
};

/** What all layers of a pass share. */
struct TrainContext {
  TrainContext(Model& m, Adapter* adapter, Precision precision) : model(m), linear(m, adapter, precision) {}
  Model& model;
  TrainLinear linear;
  TrainScratch scratch;
  const Forest* forest = nullptr;
  int rows = 0;

  const ModelConfig& config() const { return model.config; }
};

/** Each block: y (+)= block(h), h [rows, H]; backward overwrites dh (null: not needed) and adds to the gradients of weights. */
void attention_forward(TrainContext& context, int layer, AttentionTape& tape, const float* h, float* y, bool accumulate);
void attention_backward(TrainContext& context, int layer, AttentionTape& tape, const float* dy, const float* h, float* dh);
void short_conv_forward(TrainContext& context, int layer, ShortConvTape& tape, const float* h, float* y, bool accumulate);
void short_conv_backward(TrainContext& context, int layer, ShortConvTape& tape, const float* dy, const float* h, float* dh);
void dense_mlp_forward(TrainContext& context, int layer, DenseMlpTape& tape, const float* h, float* y, bool accumulate);
void dense_mlp_backward(TrainContext& context, int layer, DenseMlpTape& tape, const float* dy, const float* h, float* dh);
void experts_forward(TrainContext& context, int layer, ExpertsTape& tape, const float* h, float* y, bool accumulate);
void experts_backward(TrainContext& context, int layer, ExpertsTape& tape, const float* dy, const float* h, float* dh);

/** out = layer(tape.input), both [rows, H]. */
void layer_forward(TrainContext& context, int layer, LayerTape& tape, const float* input, float* out);
/** `dx` holds the gradient of the output and receives that of the input; not all of it when `input_needed` is false. */
void layer_backward(TrainContext& context, int layer, LayerTape& tape, const float* input, float* dx, bool input_needed);

/** The activation of the architecture, out = act(gate) * up, rows of `width`, gate and up `stride` apart. */
void activate(const Model& model, ThreadPool& pool, const float* gate, const float* up, int64_t stride, float* out, int rows, int width);
void activate_backward(const Model& model, ThreadPool& pool, const float* dout, const float* gate, const float* up, int64_t stride, float* dgate, float* dup,
                       int64_t d_stride, int rows, int width);

}  // namespace tackroom
