/** AdamW and Muon over a ParamSet, with clipping by the global norm. */
#pragma once
#include "../kernels/kernels.h"
#include "../param_set.h"
#include "../thread_pool.h"

namespace tackroom {

struct OptimizerConfig {
  bool muon = false;  // for matrices; embeddings, head, norms and biases always take AdamW
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, max_grad_norm = 1;
};

class Optimizer {
 public:
  Optimizer(const OptimizerConfig& config, const ParamSet& params);

  /** One update of `params` with the flat gradients; `norm` is their global norm before clipping. */
  void update(const Kernels& kernels, ThreadPool& pool, ParamSet& params, const float* gradients, double norm, double lr);
  /** min(1, max_grad_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; 1 when clipping is off (0). */
  double clip_coefficient(double norm) const;

  const OptimizerConfig& config() const { return config_; }
  int64_t steps = 0;
  AlignedBuffer first, second;  // moments; Muon's momentum lies in `first`

 private:
  /** Muon looks at a whole matrix, AdamW at single elements. */
  bool by_matrix(const Param& param) const { return config_.muon && param.kind == ParamKind::Matrix; }

  OptimizerConfig config_;
};

}  // namespace tackroom
