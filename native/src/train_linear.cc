#include "train_linear.h"

#include "matmul.h"

namespace tackroom {

void linear_forward(const Model& model, const TrainTarget& target, int layer, Site site, const float* x, float* y, float* u, int rows, bool accumulate) {
  const Linear& linear = model.layers[static_cast<size_t>(layer)].linear[site];
  const Kernels& k = model.kernels;
  matmul_packed(k, x, linear.panels.data(), y, rows, linear.in, linear.out, accumulate);
  if (linear.bias != kAbsent)
    for (int r = 0; r < rows; r++) k.add(y + static_cast<int64_t>(r) * linear.out, model.at(linear.bias), linear.out);
  const LoraSite* lora = target.adapter == nullptr ? nullptr : target.adapter->site(layer, site);
  if (lora == nullptr) return;
  const int rank = target.adapter->rank();
  matmul_packed(k, x, lora->a_panels.data(), u, rows, linear.in, rank, false);
  k.scale(u, target.adapter->scale(), static_cast<int64_t>(rows) * rank);
  matmul_packed(k, u, lora->b_panels.data(), y, rows, rank, linear.out, true);
}

void linear_backward(const Model& model, const TrainTarget& target, int layer, Site site, const float* dy, const float* x, const float* u, float* dx,
                     float* du, int rows, bool accumulate) {
  const Linear& linear = model.layers[static_cast<size_t>(layer)].linear[site];
  const Kernels& k = model.kernels;
  if (dx != nullptr) matmul_nn(k, dy, model.at(linear.weight), dx, rows, linear.out, linear.in, accumulate);
  if (target.adapter == nullptr) {
    matmul_tn(k, dy, x, target.gradients + linear.weight, rows, linear.out, linear.in);
    if (linear.bias != kAbsent)
      for (int r = 0; r < rows; r++) k.add(target.gradients + linear.bias, dy + static_cast<int64_t>(r) * linear.out, linear.out);
    return;
  }
  const LoraSite* lora = target.adapter->site(layer, site);
  if (lora == nullptr) return;
  const int rank = target.adapter->rank();
  matmul_tn(k, dy, u, target.gradients + lora->b, rows, linear.out, rank);
  matmul_nn(k, dy, target.adapter->weights(lora->b), du, rows, linear.out, rank, false);
  k.scale(du, target.adapter->scale(), static_cast<int64_t>(rows) * rank);
  matmul_tn(k, du, x, target.gradients + lora->a, rows, rank, linear.in);
  if (dx != nullptr) matmul_nn(k, du, target.adapter->weights(lora->a), dx, rows, rank, linear.in, true);
}

}  // namespace tackroom
