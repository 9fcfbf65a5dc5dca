#include "model.h"

#include <cmath>

#include "error.h"
#include "matmul.h"
#include "random.h"

namespace tackroom {

Model::Model(const ModelConfig& c, int threads)
    : config(c), kernels(tackroom::kernels()), pool(threads), rope_frequencies_(rope_frequencies(c)), rope_half_(static_cast<size_t>(c.head_dim) / 2) {
  const auto shapes = linear_shapes(c);
  const bool biased[kSiteCount] = {c.qkv_bias, c.qkv_bias, c.qkv_bias, c.output_bias, c.mlp_bias, c.mlp_bias, c.mlp_bias};
  embedding = weights.add("model.embed_tokens.weight", {c.vocab, c.hidden}, ParamKind::Embedding);
  layers.resize(static_cast<size_t>(c.layers));
  for (int l = 0; l < c.layers; l++) {
    Layer& layer = layers[static_cast<size_t>(l)];
    const std::string prefix = "model.layers." + std::to_string(l) + ".";
    layer.attention_norm = weights.add(prefix + "input_layernorm.weight", {c.hidden}, ParamKind::Norm);
    layer.mlp_norm = weights.add(prefix + "post_attention_layernorm.weight", {c.hidden}, ParamKind::Norm);
    if (c.qk_norm) {
      layer.q_norm = weights.add(prefix + "self_attn.q_norm.weight", {c.head_dim}, ParamKind::Norm);
      layer.k_norm = weights.add(prefix + "self_attn.k_norm.weight", {c.head_dim}, ParamKind::Norm);
    }
    for (int s = 0; s < kSiteCount; s++) {
      const LinearShape& shape = shapes[static_cast<size_t>(s)];
      Linear& linear = layer.linear[s];
      linear.in = shape.in, linear.out = shape.out;
      linear.weight = weights.add(prefix + shape.module + ".weight", {shape.out, shape.in}, ParamKind::Matrix);
      if (biased[s]) linear.bias = weights.add(prefix + shape.module + ".bias", {shape.out}, ParamKind::Bias);
    }
  }
  final_norm = weights.add("model.norm.weight", {c.hidden}, ParamKind::Norm);
  head = c.tied ? embedding : weights.add("lm_head.weight", {c.vocab, c.hidden}, ParamKind::Head);
}

std::shared_ptr<Model> Model::initialise(const ModelConfig& config, uint64_t seed, double std, int threads) {
  if (!(std >= 0 && std < 10)) fail("BAD_ARGUMENT", "The standard deviation of random weights must be between 0 and 10.");
  std::shared_ptr<Model> model(new Model(config, threads));
  model->weights.allocate();
  const double residual = 1 / std::sqrt(2.0 * config.layers);
  uint64_t draw = 0;
  for (const Param& param : model->weights.params()) {
    float* values = model->weights.at(param.offset);
    const auto ends_with = [&](const char* tail) { return param.name.find(tail) != std::string::npos; };
    const double spread = ends_with("o_proj.weight") || ends_with("down_proj.weight") ? std * residual : std;
    for (size_t i = 0; i < param.size; i++) {
      if (param.kind == ParamKind::Norm) values[i] = 1;
      else if (param.kind == ParamKind::Bias) values[i] = 0;
      else values[i] = static_cast<float>(spread * random_normal(seed, draw++));
    }
  }
  model->repack();
  return model;
}

void Model::repack() {
  std::vector<Linear*> linears;
  for (Layer& layer : layers)
    for (Linear& linear : layer.linear) {
      linear.panels.reserve(static_cast<size_t>(panel_floats(kernels, linear.out, linear.in)));
      linears.push_back(&linear);
    }
  head_panels.reserve(static_cast<size_t>(panel_floats(kernels, config.vocab, config.hidden)));
  pool.run(static_cast<int>(linears.size()) + 1, [&](int task) {
    if (task == 0) return kernels.pack_panels(weights.at(head), config.hidden, config.vocab, config.hidden, head_panels.data());
    Linear& linear = *linears[static_cast<size_t>(task) - 1];
    kernels.pack_panels(weights.at(linear.weight), linear.in, linear.out, linear.in, linear.panels.data());
  });
}

size_t Model::bytes() const {
  size_t floats = weights.floats() + head_panels.size();
  for (const Layer& layer : layers)
    for (const Linear& linear : layer.linear) floats += linear.panels.size();
  return floats * sizeof(float);
}

void Model::reserve_rope(int positions) {
  if (positions <= rope_positions_) return;
  positions = std::max(positions, 2 * rope_positions_);
  rope_cos_.resize(static_cast<size_t>(positions) * rope_half_);
  rope_sin_.resize(rope_cos_.size());
  // The angle is a float product, as in the reference implementation.
  for (size_t p = static_cast<size_t>(rope_positions_); p < static_cast<size_t>(positions); p++)
    for (size_t i = 0; i < rope_half_; i++) {
      const float angle = static_cast<float>(p) * rope_frequencies_[i];
      rope_cos_[p * rope_half_ + i] = static_cast<float>(std::cos(static_cast<double>(angle)));
      rope_sin_[p * rope_half_ + i] = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  rope_positions_ = positions;
}

}  // namespace tackroom
