/**
 * Linear layers in training, in fp32, bf16 or int16, with or without LoRA.
 *
 * Forward keeps u = scale * x A^T [rows, r], all that backward needs beside x. Backward of layers that read one input x is one
 * call, so that x is packed once for all of them:
 *   dx = dy W + du A, du = scale * dy B, dB = dy^T u, dA = du^T x,
 * and dW = dy^T x, dbias = sum dy where every weight is trained. In 16 bits the operands are rounded, sums and gradients are fp32;
 * a packed base is expanded into panels of W^T for dy W, one layer at a time.
 */
#pragma once
#include <initializer_list>
#include <vector>

#include "../linear.h"
#include "products16.h"

namespace tackroom {

/** One layer of a forward call. `low` receives u where the layer is adapted. */
struct LinearOut {
  const Linear* linear;
  float* y;
  int64_t stride;
  AlignedBuffer* low;
  bool accumulate = false;
};

/**
 * One layer of a backward call: gradient dy [rows, out] of its output and the u that forward kept. `keep` holds the 16-bit panels of
 * W^T from call to call, for a frozen layer of one part that is used often.
 */
struct LinearGrad {
  const Linear* linear;
  const float* dy;
  int64_t stride;
  const AlignedBuffer* low;
  Panels16* keep = nullptr;
};

class TrainLinear {
 public:
  /** `adapter` null: every weight of the model is trained, in fp32. */
  TrainLinear(Model& model, Adapter* adapter, Precision precision) : model_(model), adapter_(adapter), precision_(precision), ops_(model) {}

  /** Where gradients are added, flat, laid out as the ParamSet that is trained. */
  void begin(float* gradients) { gradients_ = gradients; }
  float* of_model(size_t offset) const { return adapter_ == nullptr && offset != kAbsent ? gradients_ + offset : nullptr; }
  int rank() const { return adapter_ == nullptr ? 0 : adapter_->rank(); }
  bool adapted(const Linear& linear) const { return adapter_ != nullptr && adapter_->site(linear.site) != nullptr; }

  /** x [rows, in]; at most 4 layers. */
  void forward(const float* x, int rows, std::initializer_list<LinearOut> outputs);
  /** dx [rows, in] is overwritten, or null when nobody needs it. */
  void backward(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx);
  Model& model() { return model_; }
  /** Bytes of scratch held now. */
  size_t bytes() const;

 private:
  /** 16-bit operands of one layer of a call. */
  struct Operands {
    Panels16 dy_rows, dy_panels, u_rows, du_rows, du_columns, a_panels, b_panels;
    Panels16 part_rows[2], w_panels[2];  // of the layer's parts
    AlignedBuffer du, db;
  };

  void weight_gradient(const LinearGrad& grad, const float* x, int rows);
  void base_fp32(const Linear& linear, const float* dy, int64_t stride, int rows, float* dx, bool accumulate);
  void lora_fp32(const LinearGrad& grad, const LoraSite& site, const float* x, int rows, float* dx);
  void backward_fp32(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx);
  void backward16(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx);
  /** Adds the terms of dy W to `sum`; parts that are dense are multiplied in fp32 at once. */
  void base_terms(const LinearGrad& grad, Operands& o, int rows, float* dx, Product16& sum);
  /** Adds dB^T [r, out] to the gradient of B, whose layout is the site's. */
  void add_b_gradient(const LoraSite& site, const float* transposed, int out);

  Model& model_;
  Adapter* adapter_;
  Precision precision_;
  float* gradients_ = nullptr;
  LinearOps ops_;
  Input input_;
  AlignedBuffer b_dense_, expanded_;
  Operands operands_[4];
  Panels16 x_panels_;
};

}  // namespace tackroom
