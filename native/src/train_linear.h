/**
 * A linear layer in training, with or without LoRA, on one thread.
 *
 * Forward keeps u = scale * x A^T [rows, r], all that backward needs beside x. The base weight gets a gradient only when
 * every weight is trained; a frozen base costs dX alone.
 */
#pragma once
#include "model.h"

namespace tackroom {

/** What is trained: an adapter's tensors or the model's, and where this thread adds their gradients. */
struct TrainTarget {
  Adapter* adapter;  // null: every weight of the model
  float* gradients;  // flat, laid out as the ParamSet that is trained

  float* of_model(size_t offset) const { return adapter == nullptr ? gradients + offset : nullptr; }
};

/** y[rows,out] (+)= x W^T + bias + LoRA; u [rows, r] is written when the layer is adapted. */
void linear_forward(const Model& model, const TrainTarget& target, int layer, Site site, const float* x, float* y, float* u, int rows, bool accumulate);

/** dx[rows,in] (+)= ..., unless dx is null; adds the gradients of W, bias, A, B. `du` is scratch of [rows, r]. */
void linear_backward(const Model& model, const TrainTarget& target, int layer, Site site, const float* dy, const float* x, const float* u, float* dx,
                     float* du, int rows, bool accumulate);

}  // namespace tackroom
