/** Gated MLP in inference: down(act(gate h) * up h). */
#include "../forward.h"
#include "../matmul.h"

namespace tackroom {

void Forward::activate(const float* gate, const float* up, int64_t stride, float* out, int rows, int width) {
  const auto product = model_.config.architecture->activation == Activation::Silu ? model_.kernels.swiglu : model_.kernels.geglu;
  parallel_rows(model_.pool, rows, rows * static_cast<double>(width) * 0.5, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++) product(gate + r * stride, up + r * stride, out + r * width, width);
  });
}

void Forward::dense_mlp(int l) {
  const ModelConfig& c = model_.config;
  const Layer& layer = model_.layers[static_cast<size_t>(l)];
  input_.set(h_.data(), rows_, c.hidden);
  ops_.forward(precision_, input_, {{&layer.mlp.gate, sized(gate_, rows_, c.ffn), c.ffn}, {&layer.mlp.up, sized(up_, rows_, c.ffn), c.ffn}}, adapters_);
  activate(gate_.data(), up_.data(), c.ffn, gate_.data(), rows_, c.ffn);
  input_.set(gate_.data(), rows_, c.ffn);
  if (has_post_norm(layer.ffn_post_norm)) {
    ops_.forward(precision_, input_, {{&layer.mlp.down, sized(branch_, rows_, c.hidden), c.hidden, false, true}}, adapters_);
    return add_branch(layer.ffn_post_norm);
  }
  ops_.forward(precision_, input_, {{&layer.mlp.down, x_.data(), c.hidden, true, true}}, adapters_);
}

}  // namespace tackroom
