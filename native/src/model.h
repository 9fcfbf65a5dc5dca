/**
 * Weights of a decoder-only transformer and their place in memory.
 *
 * A matrix is either dense, fp32 in `weights` (row-major, as files, backward and optimizer want it) and again in column
 * panels for the forward products, or packed: kept in the 16, 8 or 4 bits of its file, frozen. Small tensors (norms,
 * biases, convolution kernels, routers) are always fp32 in `weights`.
 */
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config.h"
#include "kernels/kernels.h"
#include "packed_matrix.h"
#include "param_set.h"
#include "precision.h"
#include "thread_pool.h"

namespace tackroom {

constexpr size_t kAbsent = static_cast<size_t>(-1);

/** Rows [begin, begin + out) of a linear layer: one matrix of the file. */
struct LinearPart {
  std::string name;  // of the tensor, without ".weight"
  int begin = 0, out = 0;
  size_t weight = kAbsent, bias = kAbsent;  // offsets in Model::weights; weight is absent when packed
  AlignedBuffer panels;                     // dense only: [ceil(out / panel_width)][in][panel_width]
  std::unique_ptr<PackedMatrix> packed;
};

/** y[out] = W x + bias. Most layers have one part; the two matrices of an expert's gate and up are one layer of two. */
struct Linear {
  int in = 0, out = 0;
  int site = -1;  // index into Model::sites, -1: never adapted
  std::vector<LinearPart> parts;
};

/** A place for a LoRA pair. */
struct Site {
  std::string module;  // path of the module, as in "model.layers.0.self_attn.q_proj"
  int in = 0, out = 0;
  int layer = 0, expert = -1;  // expert >= 0: a slice of the stacked adapters of the layer's experts
};

struct AttentionWeights {
  Linear q, k, v, o;
  size_t q_norm = kAbsent, k_norm = kAbsent;
};

/** Gated short convolution of LFM2: in_proj gives B, C, X; kernel [hidden, conv_width], depthwise and causal. */
struct ShortConvWeights {
  Linear in, out;
  size_t kernel = kAbsent;
};

struct DenseMlpWeights {
  Linear gate, up, down;
};

struct ExpertsWeights {
  size_t router = kAbsent, bias = kAbsent;  // [experts, hidden], [experts]
  std::vector<Linear> gate_up, down;        // one an expert
};

struct Layer {
  LayerKind kind;
  size_t mixer_norm = kAbsent, mixer_post_norm = kAbsent, ffn_norm = kAbsent, ffn_post_norm = kAbsent;
  AttentionWeights attention;
  ShortConvWeights conv;
  DenseMlpWeights mlp;
  ExpertsWeights experts;
};

struct LoadOptions {
  int threads = 0;  // 0: number of cores
  /** "fp32", "bf16", "int16", "int8", or "auto": int8 for quantised files, bf16 for large 16-bit ones where that is faster. */
  std::string precision = "auto";
  /** Every weight dense in fp32, for training all of them. */
  bool trainable = false;
};

/** What a model takes and how it trains: told by a model, or by its files before anything is allocated. */
struct ModelOutline {
  ModelConfig config;
  Precision training = Precision::Fp32;
  bool dense = true;  // every weight in fp32
  size_t bytes = 0;   // of the weights
  int threads = 1;
};

class Model {
 public:
  /** Reads a Hugging Face folder or a GGUF file. */
  static std::shared_ptr<Model> load(const std::string& path, const LoadOptions& options);
  /** Throws what `load` throws of the files' tables: architecture, element types, names and shapes. Reads no weight. */
  static void check(const std::string& path);
  /** What `load` would give, from the tables of the files: no weight is read. Throws what `load` finds in them. */
  static ModelOutline outline(const std::string& path, const LoadOptions& options);
  /** Normal(0, std) weights, residual projections divided by sqrt(2 * layers), norms 1 (less the offset), biases 0. */
  static std::shared_ptr<Model> initialise(const ModelConfig& config, uint64_t seed, double std, int threads);

  /** `beside`: files to copy into the folder. Throws BAD_ARGUMENT unless all weights are dense. */
  void save(const std::string& dir, bool bf16, const std::vector<std::string>& beside = {}) const;
  /** Brings the panels of dense matrices up to date after a weight update. */
  void repack();
  /** Of the weights, the panels of dense matrices included; known from the layout on. */
  size_t bytes() const;
  /** Weights that decoding one token of one sequence reads. */
  size_t step_bytes() const;
  ModelOutline outline() const { return {config, training, dense_, bytes(), pool.size()}; }
  int64_t parameters() const { return parameters_; }
  bool dense() const { return dense_; }
  const float* at(size_t offset) const { return weights.at(offset); }
  /** Embedding of a token, scaled as the architecture wants it, [hidden]. */
  void embed(int id, float* out) const;
  /** Cosines and sines for positions < `positions`, [position][head_dim / 2] each. Engine thread only. */
  void reserve_rope(int positions);
  const float* rope_cos(int rope, int position) const { return ropes_[static_cast<size_t>(rope)].cosines.data() + static_cast<size_t>(position) * rope_half_; }
  const float* rope_sin(int rope, int position) const { return ropes_[static_cast<size_t>(rope)].sines.data() + static_cast<size_t>(position) * rope_half_; }
  /** All linear layers of the blocks, in order, and the head last. */
  std::vector<Linear*> linears();
  std::vector<const Linear*> linears() const;
  float norm(const float* x, size_t weight, float* y, int n) const { return kernels.rmsnorm(x, at(weight), y, n, config.norm_eps, config.norm_offset); }

  const ModelConfig config;
  const Kernels& kernels;
  const PackedKernels& packed;
  ThreadPool pool;
  ParamSet weights;
  std::vector<Layer> layers;
  std::vector<Site> sites;
  size_t final_norm = kAbsent;
  size_t embedding = kAbsent;  // offset of the dense embedding; absent when it stays in the file
  Linear head;                 // of a tied model: its part has the embedding's weight
  Precision serving = Precision::Fp32, training = Precision::Fp32;
  /** The form of 16-bit operands of a precision: null for fp32, and for int8 where the processor has no products in bf16. */
  const Form16* form16(Precision precision) const {
    if (precision == Precision::Int16) return &packed.int16;
    return precision == Precision::Fp32 || packed.bf16.body == nullptr ? nullptr : &packed.bf16;
  }
  /** Whether keys and values of a sequence are kept, and attended to, in bf16. */
  bool cache16(Precision precision) const { return form16(precision) == &packed.bf16; }
  /** Arithmetic of prompts where decoding is in 8 bits: with AMX bf16 is both faster for many rows and closer to the weights. */
  Precision prompts() const {
    const bool tiles = packed.bf16.body != nullptr && std::string_view(packed.bf16.body) == "amx";
    return serving == Precision::Int8 && tiles ? Precision::Bf16 : serving;
  }
  std::string quantisation;  // the most common type of the file's matrices, "F32", "Q4_K", ...

 private:
  friend class ModelLoader;
  struct RopeTable {
    std::vector<float> frequencies, cosines, sines;
  };
  Model(const ModelConfig& config, int threads);
  /** Lays out every tensor; `dense(name)` says whether a matrix goes into `weights`. */
  void lay_out(const std::function<bool(const std::string&)>& dense);
  void set_ropes(const std::vector<float>& factors);

  std::vector<RopeTable> ropes_;
  size_t rope_half_;
  int rope_positions_ = 0;
  bool dense_ = true;
  AlignedBuffer packed_;  // what the packed matrices stand in
  int64_t parameters_ = 0;
  std::unique_ptr<TensorSource> source_;      // held while a tensor is read from the file at run time
  const TensorView* embedding_rows_ = nullptr;  // packed models look tokens up in the file
};

}  // namespace tackroom
