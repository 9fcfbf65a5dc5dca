/**
 * A LoRA adapter (Hu et al. 2021): y = W x + scale * B (A x) on any linear layer of the blocks.
 *
 * File format and names are PEFT's: adapter_config.json and adapter_model.safetensors with
 * base_model.model.model.layers.N.<module>.lora_A.weight [r, in] and lora_B.weight [out, r].
 */
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config.h"
#include "kernels/kernels.h"
#include "param_set.h"

namespace tackroom {

/** The linear layers of one block, in the order of LinearShape tables. */
enum Site { kQ, kK, kV, kO, kGate, kUp, kDown, kSiteCount };

struct LinearShape {
  const char* module;  // path below model.layers.N.
  int in, out;
};

std::array<LinearShape, kSiteCount> linear_shapes(const ModelConfig& config);

/** Where the pair of one linear layer lies in the adapter's ParamSet; `present` false: this layer is not adapted. */
struct LoraSite {
  bool present = false;
  size_t a = 0, b = 0;  // offsets of A [r, in] and B [out, r]
  AlignedBuffer a_panels, b_panels;
};

class Adapter {
 public:
  /** A fresh adapter on every linear layer: A kaiming uniform (a = sqrt 5), B = 0. */
  static std::shared_ptr<Adapter> create(const ModelConfig& config, int rank, double alpha, uint64_t seed);
  /** Reads a PEFT folder. Throws ADAPTER_CORRUPT, or ADAPTER_MISMATCH when it belongs to another model. */
  static std::shared_ptr<Adapter> load(const ModelConfig& config, const std::string& dir);

  std::shared_ptr<Adapter> clone() const;
  std::string hash() const;
  void save(const std::string& dir, const std::string& base_model_name) const;

  int rank() const { return rank_; }
  double alpha() const { return alpha_; }
  /** alpha / r, or alpha / sqrt(r) for rank-stabilised adapters. */
  float scale() const;

  ParamSet& params() { return params_; }
  const LoraSite* site(int layer, int which) const;
  const float* weights(size_t offset) const { return params_.at(offset); }

  /** Brings the packed copies up to date; the engine thread calls it before a forward pass. */
  void refresh(const Kernels& kernels);
  /** Marks the packed copies as stale after a change of `params`. */
  void touch() { stale_ = true; }
  /** Held while the weights change, and by readers on other threads (clone, hash, save). */
  std::mutex& mutex() const { return mutex_; }

 private:
  Adapter(const ModelConfig& config, int rank, double alpha, bool rank_stabilised, const std::vector<bool>& present);

  ModelConfig config_;
  int rank_;
  double alpha_;
  bool rank_stabilised_;
  bool stale_ = true;
  ParamSet params_;
  std::vector<LoraSite> sites_;  // [layers * kSiteCount]
  mutable std::mutex mutex_;
};

}  // namespace tackroom
