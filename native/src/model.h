/**
 * Weights of a decoder-only transformer and their place in memory.
 *
 * Every matrix exists twice: row-major [out, in] as in the file (embedding look-up, backward, saving) and transposed in
 * column panels for the forward products. `repack` brings the second up to date after a weight update.
 */
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "adapter.h"
#include "config.h"
#include "kernels/kernels.h"
#include "param_set.h"
#include "thread_pool.h"

namespace tackroom {

constexpr size_t kAbsent = static_cast<size_t>(-1);

struct Linear {
  int in = 0, out = 0;
  size_t weight = kAbsent, bias = kAbsent;  // offsets in Model::weights
  AlignedBuffer panels;
};

struct Layer {
  size_t attention_norm = kAbsent, mlp_norm = kAbsent, q_norm = kAbsent, k_norm = kAbsent;
  Linear linear[kSiteCount];
};

class Model {
 public:
  /** Reads config.json and model.safetensors (or the shards of model.safetensors.index.json) of `dir`. */
  static std::shared_ptr<Model> load(const std::string& dir, int threads);
  /** Normal(0, std) weights, residual projections divided by sqrt(2 * layers), norms 1, biases 0. */
  static std::shared_ptr<Model> initialise(const ModelConfig& config, uint64_t seed, double std, int threads);

  void save(const std::string& dir, bool bf16) const;
  void repack();
  size_t bytes() const;
  const float* at(size_t offset) const { return weights.at(offset); }
  /** Cosines and sines for positions < `positions`, [position][head_dim / 2] each. Engine thread only. */
  void reserve_rope(int positions);
  const float* rope_cos(int position) const { return rope_cos_.data() + static_cast<size_t>(position) * rope_half_; }
  const float* rope_sin(int position) const { return rope_sin_.data() + static_cast<size_t>(position) * rope_half_; }

  const ModelConfig config;
  const Kernels& kernels;
  ThreadPool pool;
  ParamSet weights;
  std::vector<Layer> layers;
  size_t embedding = kAbsent, final_norm = kAbsent, head = kAbsent;  // head == embedding when tied
  AlignedBuffer head_panels;

 private:
  Model(const ModelConfig& config, int threads);

  std::vector<float> rope_frequencies_;
  std::vector<float> rope_cos_, rope_sin_;
  size_t rope_half_;
  int rope_positions_ = 0;
};

}  // namespace tackroom
