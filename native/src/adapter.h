/**
 * A LoRA adapter (Hu et al. 2021): y = W x + scale * B (A x) on any linear layer of the blocks.
 *
 * Tensors are held as PEFT names and lays them out. An adapter of experts is one pair of stacked tensors a layer and module:
 * A [E * r, in] with row e * r + j, B [out, r * E] with column j * E + e (PEFT's target_parameters); shared by all experts of
 * a layer it is an ordinary pair [r, in], [out, r], written to files as E equal slices.
 */
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model.h"

namespace tackroom {

/** What an adapter's experts get: nothing (PEFT's all-linear), one pair for all experts of a layer, or a pair each. */
enum class ExpertAdapters { None, Shared, Each };

/** Throws BAD_ARGUMENT for a rank beyond the model's width and for expert adapters of a model without experts. */
void check_adapter(const ModelConfig& config, int rank, ExpertAdapters experts);

/** The pair of one linear layer; `present` false: this layer is not adapted. */
struct LoraSite {
  bool present = false;
  size_t a = 0, b = 0;                  // offsets in the ParamSet of A [r, in] and of B's first element
  int64_t b_row = 0, b_column = 1;      // element (o, j) of B at b + o * b_row + j * b_column
  AlignedBuffer a_panels, b_panels;     // fp32; A's hold scale * A
  struct Narrow {
    std::vector<uint16_t> a, b;
  };
  Narrow bf16, int16;                   // panels of the same in the two forms of packed.h
  std::unique_ptr<PackedMatrix> a8, b8;  // and in 8 bits, as Q8_0 rounds; only where both widths are multiples of 32

  Narrow& narrow(const Form16& form) { return form.block == 0 ? bf16 : int16; }
  const Narrow& narrow(const Form16& form) const { return form.block == 0 ? bf16 : int16; }
};

class Adapter {
 public:
  /** A fresh adapter: A kaiming uniform (a = sqrt 5), B = 0. Without experts it covers every linear layer but the head. */
  static std::shared_ptr<Adapter> create(const Model& model, int rank, double alpha, uint64_t seed, ExpertAdapters experts = ExpertAdapters::None);
  /** Reads a PEFT folder or an adapter GGUF. Throws ADAPTER_CORRUPT, or ADAPTER_MISMATCH when it belongs to another model. */
  static std::shared_ptr<Adapter> load(const Model& model, const std::string& path);

  std::shared_ptr<Adapter> clone() const;
  std::string hash() const;
  void save(const std::string& dir, const std::string& base_model_name) const;

  int rank() const { return rank_; }
  double alpha() const { return alpha_; }
  /** alpha / r, or alpha / sqrt(r) for rank-stabilised adapters. */
  float scale() const;
  size_t bytes() const;

  ParamSet& params() { return params_; }
  /** Null when the layer (index into Model::sites, or -1) is not adapted. */
  const LoraSite* site(int site) const { return site < 0 || !sites_[static_cast<size_t>(site)].present ? nullptr : &sites_[static_cast<size_t>(site)]; }
  const float* weights(size_t offset) const { return params_.at(offset); }

  /** Brings the packed copies that `precision` reads up to date; the engine thread calls it before a forward pass. */
  void refresh(Model& model, Precision precision);
  /** Marks the packed copies as stale after a change of `params`. */
  void touch() { fresh_ = {}; }
  /** Held while the weights change, and by readers on other threads (clone, hash, save). */
  std::mutex& mutex() const { return mutex_; }

 private:
  struct Shape {
    std::vector<Site> sites;  // of the model
    int experts = 0;
  };
  Adapter(std::shared_ptr<const Shape> shape, int rank, double alpha, bool rank_stabilised, ExpertAdapters experts, const std::vector<bool>& present);
  static std::shared_ptr<const Shape> shape_of(const Model& model);
  ParamSet unshared() const;
  bool same_experts() const;
  std::shared_ptr<Adapter> shared() const;
  void refresh8(Model& model);
  /** scale * A of a site. */
  std::vector<float> scaled_a(const LoraSite& site, int in) const;
  /** B of a site as [out, r] row-major, gathered where experts share a tensor. */
  const float* dense_b(const LoraSite& site, int out, std::vector<float>& scratch) const;

  std::shared_ptr<const Shape> shape_;
  int rank_;
  double alpha_;
  bool rank_stabilised_;
  ExpertAdapters experts_;
  /** Which packed copies are those of the weights. */
  struct Fresh {
    bool fp32 = false, bf16 = false, int16 = false, int8 = false;
  };
  Fresh fresh_;
  AlignedBuffer packed8_;  // what the sites' a8 and b8 stand in: one piece, because many small ones miss their pages at every token
  ParamSet params_;
  std::vector<LoraSite> sites_;  // one a site of the model
  mutable std::mutex mutex_;
};

}  // namespace tackroom
