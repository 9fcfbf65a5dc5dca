/**
 * Backward of linear layers with 16-bit operands. Three regions of products: du and dB^T of all layers, then dx as one sum over
 * layers and adapters, so that a piece of it is written once, and dA beside it.
 */
#include "rows.h"
#include "train_linear.h"

namespace tackroom {

void TrainLinear::base_terms(const LinearGrad& grad, Operands& o, int rows, float* dx, Product16& sum) {
  const Form16& form = *model_.form16(precision_);
  const int in = grad.linear->in;
  const int64_t row = form.words(grad.linear->out);
  int n = 0;
  for (const LinearPart& part : grad.linear->parts) {
    if (part.packed == nullptr) {
      gemm_parallel(model_.pool, model_.kernels,
                    {rows, in, part.out, grad.dy + part.begin, grad.stride, 1, model_.at(part.weight), in, model_.kernels.panel_width, dx, in, sum.accumulate});
      sum.accumulate = true;
      continue;
    }
    Panels16& panels = grad.keep == nullptr ? o.w_panels[n] : *grad.keep;
    if (grad.keep == nullptr || panels.empty()) transposed_panels16(model_, form, panels, part.packed->weights());
    // Where a part's rows are a piece of the layer's: all of them, or, without scales, whole paddings.
    const bool last = part.begin + part.out == grad.linear->out;
    if (part.begin % kBf16Depth == 0 && (last || part.out % kBf16Depth == 0) && (form.block == 0 || grad.linear->parts.size() == 1)) {
      sum.terms.push_back({part.out, o.dy_rows.data() + part.begin, row, panels.data()});
    } else {
      rows16(model_, form, o.part_rows[n], grad.dy + part.begin, grad.stride, 1, rows, part.out);
      sum.terms.push_back({part.out, o.part_rows[n].data(), form.words(part.out), panels.data()});
    }
    n++;
  }
}

void TrainLinear::backward16(const float* x, int rows, std::initializer_list<LinearGrad> outputs, float* dx) {
  const Form16& form = *model_.form16(precision_);
  const LinearGrad* grads = outputs.begin();
  const int in = grads->linear->in, r = rank();
  const int64_t rank_row = form.words(r), rows_row = form.words(rows);
  std::vector<Product16> first, second;
  Product16 sum{rows, in, dx, in, false, {}};
  bool any = false;
  for (size_t i = 0; i < outputs.size(); i++) {
    Operands& o = operands_[i];
    const int out = grads[i].linear->out;
    rows16(model_, form, o.dy_rows, grads[i].dy, grads[i].stride, 1, rows, out);
    if (dx != nullptr) base_terms(grads[i], o, rows, dx, sum);
    const LoraSite* site = adapter_->site(grads[i].linear->site);
    if (site == nullptr) continue;
    any = true;
    panels16(model_, form, o.dy_panels, grads[i].dy, 1, grads[i].stride, out, rows);
    rows16(model_, form, o.u_rows, grads[i].low->data(), 1, r, r, rows);
    panels16(model_, form, o.b_panels, adapter_->weights(site->b), site->b_column, site->b_row, r, out);
    first.push_back({rows, r, sized(o.du, rows, r), r, false, {{out, o.dy_rows.data(), form.words(out), o.b_panels.data()}}});
    first.push_back({r, out, sized(o.db, r, out), out, false, {{rows, o.u_rows.data(), rows_row, o.dy_panels.data()}}});
  }
  run_products16(model_, form, first);
  if (any) panels16(model_, form, x_panels_, x, 1, in, in, rows);
  for (size_t i = 0; i < outputs.size(); i++) {
    Operands& o = operands_[i];
    const LoraSite* site = adapter_->site(grads[i].linear->site);
    if (site == nullptr) continue;
    add_b_gradient(*site, o.db.data(), grads[i].linear->out);
    model_.kernels.scale(o.du.data(), adapter_->scale(), static_cast<int64_t>(rows) * r);
    rows16(model_, form, o.du_columns, o.du.data(), 1, r, r, rows);
    second.push_back({r, in, gradients_ + site->a, in, true, {{rows, o.du_columns.data(), rows_row, x_panels_.data()}}});
    if (dx == nullptr) continue;
    rows16(model_, form, o.du_rows, o.du.data(), r, 1, rows, r);
    panels16(model_, form, o.a_panels, adapter_->weights(site->a), 1, in, in, r);
    sum.terms.push_back({r, o.du_rows.data(), rank_row, o.a_panels.data()});
  }
  if (dx != nullptr && !sum.terms.empty()) second.push_back(std::move(sum));
  run_products16(model_, form, second);
}

}  // namespace tackroom
