#include "train_linear.h"

#include <algorithm>

#include "../matmul.h"
#include "rows.h"

namespace tackroom {
namespace {

/** Rows of a packed W that are expanded to fp32 at a time: a multiple of the kernels' depth block, so that sums are those of a dense W. */
constexpr int kDepthBlock = 384;
constexpr size_t kExpandedFloats = 4 << 20;

}  // namespace

void TrainLinear::forward(const float* x, int rows, std::initializer_list<LinearOut> outputs) {
  const LinearOut* o = outputs.begin();
  input_.set(x, rows, o->linear->in);
  float* lows[4] = {};
  for (size_t i = 0; i < outputs.size(); i++)
    if (adapted(*o[i].linear)) lows[i] = sized(*o[i].low, rows, rank());
  const std::vector<AdapterSpan> spans{{0, rows, adapter_}};
  const auto output = [&](size_t i) { return Output{o[i].linear, o[i].y, o[i].stride, o[i].accumulate}; };
  switch (outputs.size()) {
    case 1: return ops_.forward(precision_, input_, {output(0)}, spans, lows);
    case 2: return ops_.forward(precision_, input_, {output(0), output(1)}, spans, lows);
    default: return ops_.forward(precision_, input_, {output(0), output(1), output(2)}, spans, lows);
  }
}

void TrainLinear::backward(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx) {
  if (precision_ == Precision::Fp32) backward_fp32(x, rows, outputs, dx);
  else backward16(x, rows, outputs, dx);
}

void TrainLinear::backward_fp32(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx) {
  bool accumulate = false;
  for (const LinearGrad& grad : outputs) {
    if (dx != nullptr) base_fp32(*grad.linear, grad.dy, grad.stride, rows, dx, accumulate);
    accumulate = true;
    if (adapter_ == nullptr) weight_gradient(grad, x, rows);
    else if (const LoraSite* site = adapter_->site(grad.linear->site)) lora_fp32(grad, *site, x, rows, dx);
  }
}

void TrainLinear::base_fp32(const Linear& linear, const float* dy, int64_t stride, int rows, float* dx, bool accumulate) {
  const int width = model_.kernels.panel_width, in = linear.in;
  for (const LinearPart& part : linear.parts) {
    const float* d = dy + part.begin;
    if (part.packed == nullptr) {
      gemm_parallel(model_.pool, model_.kernels, {rows, in, part.out, d, stride, 1, model_.at(part.weight), in, width, dx, in, accumulate});
      accumulate = true;
      continue;
    }
    const PackedWeights& w = part.packed->weights();
    const int block = std::max(1, static_cast<int>(kExpandedFloats / static_cast<size_t>(in) / kDepthBlock)) * kDepthBlock;
    for (int begin = 0; begin < part.out; begin += block) {
      const int count = std::min(block, part.out - begin), panels = static_cast<int>(panel_count(count));
      float* expanded = sized(expanded_, static_cast<int64_t>(panels) * kPanelColumns, in);
      parallel_rows(model_.pool, panels, static_cast<double>(count) * in * 0.3, [&](int first, int last) {
        for (int64_t p = first; p < last; p++) model_.packed.expand_rows(w, begin / kPanelColumns + static_cast<int>(p), expanded + p * kPanelColumns * in, in);
      });
      gemm_parallel(model_.pool, model_.kernels, {rows, in, count, d + begin, stride, 1, expanded, in, width, dx, in, accumulate});
      accumulate = true;
    }
  }
}

void TrainLinear::weight_gradient(const LinearGrad& grad, const float* x, int rows) {
  const int in = grad.linear->in;
  for (const LinearPart& part : grad.linear->parts) {
    const float* dy = grad.dy + part.begin;
    gemm_parallel(model_.pool, model_.kernels,
                  {part.out, in, rows, dy, 1, grad.stride, x, in, model_.kernels.panel_width, gradients_ + part.weight, in, true});
    if (part.bias != kAbsent) add_column_sums(model_, dy, grad.stride, gradients_ + part.bias, rows, part.out);
  }
}

void TrainLinear::lora_fp32(const LinearGrad& grad, const LoraSite& site, const float* x, int rows, float* dx) {
  const int in = grad.linear->in, out = grad.linear->out, r = rank(), width = model_.kernels.panel_width;
  const float* b = adapter_->weights(site.b);
  if (site.b_column != 1) {
    float* dense = sized(b_dense_, out, r);
    for (int64_t o = 0; o < out; o++)
      for (int j = 0; j < r; j++) dense[o * r + j] = b[o * site.b_row + j * site.b_column];
    b = dense;
  }
  float* db = sized(operands_[0].db, r, out);
  gemm_parallel(model_.pool, model_.kernels, {r, out, rows, grad.low->data(), 1, r, grad.dy, grad.stride, width, db, out, false});
  add_b_gradient(site, db, out);
  float* du = sized(operands_[0].du, rows, r);
  gemm_parallel(model_.pool, model_.kernels, {rows, r, out, grad.dy, grad.stride, 1, b, site.b_column != 1 ? r : site.b_row, width, du, r, false});
  model_.kernels.scale(du, adapter_->scale(), static_cast<int64_t>(rows) * r);
  gemm_parallel(model_.pool, model_.kernels, {r, in, rows, du, 1, r, x, in, width, gradients_ + site.a, in, true});
  if (dx != nullptr) gemm_parallel(model_.pool, model_.kernels, {rows, in, r, du, r, 1, adapter_->weights(site.a), in, width, dx, in, true});
}

void TrainLinear::add_b_gradient(const LoraSite& site, const float* transposed, int out) {
  const int r = rank();
  float* gradient = gradients_ + site.b;
  parallel_rows(model_.pool, out, static_cast<double>(out) * r, [&](int begin, int end) {
    for (int64_t o = begin; o < end; o++)
      for (int j = 0; j < r; j++) gradient[o * site.b_row + j * site.b_column] += transposed[static_cast<int64_t>(j) * out + o];
  });
}

size_t TrainLinear::bytes() const {
  size_t total = (b_dense_.capacity() + expanded_.capacity()) * sizeof(float) + x_panels_.bytes();
  for (const Operands& o : operands_) {
    total += (o.du.capacity() + o.db.capacity()) * sizeof(float);
    for (const Panels16* panels : {&o.dy_rows, &o.dy_panels, &o.u_rows, &o.du_rows, &o.du_columns, &o.a_panels, &o.b_panels, &o.part_rows[0], &o.part_rows[1],
                                   &o.w_panels[0], &o.w_panels[1]})
      total += panels->bytes();
  }
  return total;
}

}  // namespace tackroom
