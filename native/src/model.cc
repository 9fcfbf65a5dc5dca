#include "model.h"

#include <cmath>
#include <cstring>

#include "error.h"
#include "matmul.h"
#include "random.h"

namespace tackroom {

Model::Model(const ModelConfig& c, int threads)
    : config(c), kernels(tackroom::kernels()), packed(packed_kernels()), pool(threads), rope_half_(static_cast<size_t>(c.head_dim) / 2) {}

namespace {

/** Adds tensors and sites of one model in the order of the file names. */
class Layout {
 public:
  Layout(Model& model, const std::function<bool(const std::string&)>& dense) : model_(model), c_(model.config), names_(c_.architecture->names), dense_(dense) {}

  void layer(int l) {
    Layer& layer = model_.layers[static_cast<size_t>(l)];
    layer.kind = c_.kind(l);
    l_ = l;
    prefix_ = "model.layers." + std::to_string(l) + ".";
    layer.mixer_norm = norm(names_.mixer_norm, c_.hidden);
    if (names_.mixer_post_norm != nullptr) layer.mixer_post_norm = norm(names_.mixer_post_norm, c_.hidden);
    layer.ffn_norm = norm(names_.ffn_norm, c_.hidden);
    if (names_.ffn_post_norm != nullptr) layer.ffn_post_norm = norm(names_.ffn_post_norm, c_.hidden);
    if (layer.kind.mixer == Mixer::Attention) attention(layer.attention);
    else convolution(layer.conv);
    if (layer.kind.ffn == Ffn::Dense) {
      linear(layer.mlp.gate, names_.gate, c_.hidden, c_.ffn, c_.mlp_bias);
      linear(layer.mlp.up, names_.up, c_.hidden, c_.ffn, c_.mlp_bias);
      linear(layer.mlp.down, names_.down, c_.ffn, c_.hidden, c_.mlp_bias);
    } else {
      experts(layer.experts);
    }
  }

  void part(Linear& linear, const std::string& name, int out, bool bias) {
    LinearPart& part = linear.parts.emplace_back();
    part.name = name, part.begin = linear.out, part.out = out;
    linear.out += out;
    if (dense_(name + ".weight")) part.weight = model_.weights.add(name + ".weight", {out, linear.in}, ParamKind::Matrix);
    if (bias) part.bias = model_.weights.add(name + ".bias", {out}, ParamKind::Bias);
  }

 private:
  size_t norm(const char* name, int width) { return model_.weights.add(prefix_ + name + ".weight", {width}, ParamKind::Norm); }

  void linear(Linear& linear, const char* module, int in, int out, bool bias) {
    linear.in = in;
    part(linear, prefix_ + module, out, bias);
    linear.site = static_cast<int>(model_.sites.size());
    model_.sites.push_back({prefix_ + module, in, out, l_, -1});
  }

  void attention(AttentionWeights& a) {
    if (c_.architecture->qk_norm) {
      a.q_norm = norm(names_.q_norm, c_.head_dim);
      a.k_norm = norm(names_.k_norm, c_.head_dim);
    }
    linear(a.q, names_.q, c_.hidden, c_.q_width(), c_.qkv_bias);
    linear(a.k, names_.k, c_.hidden, c_.kv_width(), c_.qkv_bias);
    linear(a.v, names_.v, c_.hidden, c_.kv_width(), c_.qkv_bias);
    linear(a.o, names_.o, c_.q_width(), c_.hidden, c_.output_bias);
  }

  void convolution(ShortConvWeights& conv) {
    linear(conv.in, names_.conv_in, c_.hidden, 3 * c_.hidden, false);
    conv.kernel = model_.weights.add(prefix_ + names_.conv_kernel + ".weight", {c_.hidden, 1, c_.conv_width}, ParamKind::Kernel);
    linear(conv.out, names_.conv_out, c_.hidden, c_.hidden, false);
  }

  void experts(ExpertsWeights& e) {
    e.router = model_.weights.add(prefix_ + names_.router + ".weight", {c_.experts, c_.hidden}, ParamKind::Matrix);
    if (c_.expert_bias) e.bias = model_.weights.add(prefix_ + names_.expert_bias, {c_.experts}, ParamKind::Buffer);
    const std::string stem = prefix_ + names_.experts;
    e.gate_up.resize(static_cast<size_t>(c_.experts));
    e.down.resize(static_cast<size_t>(c_.experts));
    for (int i = 0; i < c_.experts; i++) {
      const std::string name = stem + "." + std::to_string(i);
      Linear &gate_up = e.gate_up[static_cast<size_t>(i)], &down = e.down[static_cast<size_t>(i)];
      gate_up.in = c_.hidden, down.in = c_.expert_ffn;
      part(gate_up, name + ".w1", c_.expert_ffn, false);
      part(gate_up, name + ".w3", c_.expert_ffn, false);
      part(down, name + ".w2", c_.hidden, false);
      gate_up.site = static_cast<int>(model_.sites.size());
      model_.sites.push_back({stem + ".base_layer", gate_up.in, gate_up.out, l_, i});
      down.site = static_cast<int>(model_.sites.size());
      model_.sites.push_back({stem, down.in, down.out, l_, i});
    }
  }

  Model& model_;
  const ModelConfig& c_;
  const BlockNames& names_;
  const std::function<bool(const std::string&)>& dense_;
  int l_ = 0;
  std::string prefix_;
};

}  // namespace

void Model::lay_out(const std::function<bool(const std::string&)>& dense) {
  constexpr const char *kEmbedding = "model.embed_tokens.weight", *kHead = "lm_head";
  if (dense(kEmbedding)) embedding = weights.add(kEmbedding, {config.vocab, config.hidden}, ParamKind::Embedding);
  layers.resize(static_cast<size_t>(config.layers));
  Layout layout(*this, dense);
  for (int l = 0; l < config.layers; l++) layout.layer(l);
  final_norm = weights.add(std::string("model.") + config.architecture->final_norm + ".weight", {config.hidden}, ParamKind::Norm);
  head.in = config.hidden;
  if (!config.tied) {
    layout.part(head, kHead, config.vocab, false);
  } else {
    head.out = config.vocab;
    head.parts.emplace_back();
    head.parts[0].name = "model.embed_tokens", head.parts[0].out = config.vocab, head.parts[0].weight = embedding;
  }
}

std::shared_ptr<Model> Model::initialise(const ModelConfig& config, uint64_t seed, double std, int threads) {
  if (!(std >= 0 && std < 10)) fail("BAD_ARGUMENT", "The standard deviation of random weights must be between 0 and 10.");
  std::shared_ptr<Model> model(new Model(config, threads));
  model->lay_out([](const std::string&) { return true; });
  model->set_ropes({});
  model->weights.allocate();
  const double residual = 1 / std::sqrt(2.0 * config.layers);
  const BlockNames& names = config.architecture->names;
  uint64_t draw = 0;
  for (const Param& param : model->weights.params()) {
    float* values = model->weights.at(param.offset);
    const auto is = [&](const char* module) { return module != nullptr && param.name.find(std::string(module) + ".weight") != std::string::npos; };
    const bool into_residual = is(names.o) || is(names.down) || is(names.conv_out) || param.name.find(".w2.weight") != std::string::npos;
    const double spread = into_residual ? std * residual : std;
    for (size_t i = 0; i < param.size; i++) {
      if (param.kind == ParamKind::Norm) values[i] = 1 - config.norm_offset;
      else if (param.kind == ParamKind::Bias || param.kind == ParamKind::Buffer) values[i] = 0;
      else values[i] = static_cast<float>(spread * random_normal(seed, draw++));
    }
  }
  model->parameters_ = static_cast<int64_t>(model->weights.elements());
  model->quantisation = "F32";
  model->repack();
  return model;
}

std::vector<Linear*> Model::linears() {
  std::vector<Linear*> all;
  for (Layer& layer : layers) {
    if (layer.kind.mixer == Mixer::Attention) all.insert(all.end(), {&layer.attention.q, &layer.attention.k, &layer.attention.v, &layer.attention.o});
    else all.insert(all.end(), {&layer.conv.in, &layer.conv.out});
    if (layer.kind.ffn == Ffn::Dense) all.insert(all.end(), {&layer.mlp.gate, &layer.mlp.up, &layer.mlp.down});
    for (size_t e = 0; e < layer.experts.down.size(); e++) all.insert(all.end(), {&layer.experts.gate_up[e], &layer.experts.down[e]});
  }
  all.push_back(&head);
  return all;
}

std::vector<const Linear*> Model::linears() const {
  std::vector<const Linear*> all;
  for (const Linear* linear : const_cast<Model*>(this)->linears()) all.push_back(linear);
  return all;
}

void Model::repack() {
  struct Task {
    LinearPart* part;
    int in;
  };
  std::vector<Task> tasks;
  for (Linear* linear : linears())
    for (LinearPart& part : linear->parts) {
      if (part.weight == kAbsent) continue;
      part.panels.reserve(static_cast<size_t>(panel_floats(kernels, part.out, linear->in)));
      tasks.push_back({&part, linear->in});
    }
  // The head is by far the largest: first, so that it does not end alone.
  pool.run(static_cast<int>(tasks.size()), [&](int i) {
    const Task& task = tasks[tasks.size() - 1 - static_cast<size_t>(i)];
    kernels.pack_panels(weights.at(task.part->weight), task.in, task.part->out, task.in, task.part->panels.data());
  });
}

namespace {

/** What the forward products of a linear layer read; known from the layout on. */
size_t product_bytes(const Kernels& kernels, const Linear& linear) {
  size_t total = 0;
  for (const LinearPart& part : linear.parts)
    total += part.packed != nullptr ? part.packed->bytes() : static_cast<size_t>(panel_floats(kernels, part.out, linear.in)) * sizeof(float);
  return total;
}

}  // namespace

size_t Model::bytes() const {
  size_t total = weights.floats() * sizeof(float);
  for (const Linear* linear : linears()) total += product_bytes(kernels, *linear);
  return total;
}

size_t Model::step_bytes() const {
  size_t total = 0, of_experts = 0;
  for (const Linear* linear : linears()) total += product_bytes(kernels, *linear);
  for (const Layer& layer : layers)
    for (size_t e = 0; e < layer.experts.down.size(); e++) of_experts += product_bytes(kernels, layer.experts.gate_up[e]) + product_bytes(kernels, layer.experts.down[e]);
  return of_experts == 0 ? total : total - of_experts + of_experts * static_cast<size_t>(config.experts_used) / static_cast<size_t>(config.experts);
}

void Model::embed(int id, float* out) const {
  const size_t hidden = static_cast<size_t>(config.hidden);
  if (embedding != kAbsent) std::memcpy(out, at(embedding) + static_cast<size_t>(id) * hidden, hidden * sizeof(float));
  else read_rows(*embedding_rows_, id, 1, out, config.hidden);
  if (config.embedding_scale != 1) kernels.scale(out, config.embedding_scale, config.hidden);
}

void Model::set_ropes(const std::vector<float>& factors) {
  for (const RopeConfig& rope : config.ropes) ropes_.push_back({rope_frequencies(rope, config.head_dim, factors), {}, {}});
}

void Model::reserve_rope(int positions) {
  if (positions <= rope_positions_) return;
  positions = std::max(positions, 2 * rope_positions_);
  for (RopeTable& table : ropes_) {
    table.cosines.resize(static_cast<size_t>(positions) * rope_half_);
    table.sines.resize(table.cosines.size());
    // The angle is a float product, as in the reference implementation.
    for (size_t p = static_cast<size_t>(rope_positions_); p < static_cast<size_t>(positions); p++)
      for (size_t i = 0; i < rope_half_; i++) {
        const float angle = static_cast<float>(p) * table.frequencies[i];
        table.cosines[p * rope_half_ + i] = static_cast<float>(std::cos(static_cast<double>(angle)));
        table.sines[p * rope_half_ + i] = static_cast<float>(std::sin(static_cast<double>(angle)));
      }
  }
  rope_positions_ = positions;
}

}  // namespace tackroom
