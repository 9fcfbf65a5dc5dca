#include "adapter.h"

#include <cmath>
#include <cstring>

#include "error.h"
#include "matmul.h"
#include "random.h"
#include "sha256.h"

namespace tackroom {

std::array<LinearShape, kSiteCount> linear_shapes(const ModelConfig& c) {
  return {{{"self_attn.q_proj", c.hidden, c.q_width()},
           {"self_attn.k_proj", c.hidden, c.kv_width()},
           {"self_attn.v_proj", c.hidden, c.kv_width()},
           {"self_attn.o_proj", c.q_width(), c.hidden},
           {"mlp.gate_proj", c.hidden, c.ffn},
           {"mlp.up_proj", c.hidden, c.ffn},
           {"mlp.down_proj", c.ffn, c.hidden}}};
}

Adapter::Adapter(const ModelConfig& config, int rank, double alpha, bool rank_stabilised, const std::vector<bool>& present)
    : config_(config), rank_(rank), alpha_(alpha), rank_stabilised_(rank_stabilised), sites_(static_cast<size_t>(config.layers) * kSiteCount) {
  const auto shapes = linear_shapes(config);
  for (size_t i = 0; i < sites_.size(); i++) {
    if (!present[i]) continue;
    const LinearShape& shape = shapes[i % kSiteCount];
    const std::string prefix = "base_model.model.model.layers." + std::to_string(i / kSiteCount) + "." + shape.module;
    sites_[i].present = true;
    sites_[i].a = params_.add(prefix + ".lora_A.weight", {rank, shape.in}, ParamKind::Matrix);
    sites_[i].b = params_.add(prefix + ".lora_B.weight", {shape.out, rank}, ParamKind::Matrix);
  }
  params_.allocate();
}

std::shared_ptr<Adapter> Adapter::create(const ModelConfig& config, int rank, double alpha, uint64_t seed) {
  if (rank < 1 || rank > config.hidden) fail("BAD_ARGUMENT", "The rank of an adapter must be between 1 and %d.", config.hidden);
  if (!(alpha > 0)) fail("BAD_ARGUMENT", "The alpha of an adapter must be positive.");
  std::shared_ptr<Adapter> adapter(new Adapter(config, rank, alpha, false, std::vector<bool>(static_cast<size_t>(config.layers) * kSiteCount, true)));
  const auto shapes = linear_shapes(config);
  uint64_t draw = 0;
  for (size_t i = 0; i < adapter->sites_.size(); i++) {
    const int in = shapes[i % kSiteCount].in;
    float* a = adapter->params_.at(adapter->sites_[i].a);
    // kaiming_uniform(a = sqrt 5) draws from +-1 / sqrt(fan_in).
    for (int j = 0; j < rank * in; j++) a[j] = static_cast<float>((2 * random_uniform(seed, draw++) - 1) / std::sqrt(static_cast<double>(in)));
  }
  return adapter;
}

std::shared_ptr<Adapter> Adapter::clone() const {
  const std::lock_guard lock(mutex_);
  std::vector<bool> present;
  for (const LoraSite& site : sites_) present.push_back(site.present);
  std::shared_ptr<Adapter> copy(new Adapter(config_, rank_, alpha_, rank_stabilised_, present));
  if (params_.floats() != 0) std::memcpy(copy->params_.at(0), params_.at(0), params_.floats() * sizeof(float));
  return copy;
}

std::string Adapter::hash() const {
  const std::lock_guard lock(mutex_);
  Sha256 sha;
  for (const Param& param : params_.params()) {
    sha.update(param.name.data(), param.name.size() + 1);
    for (const int64_t extent : param.shape) sha.update(&extent, sizeof extent);
    sha.update(params_.at(param.offset), param.size * sizeof(float));
  }
  const float factor = scale();
  sha.update(&factor, sizeof factor);
  return sha.hex();
}

float Adapter::scale() const { return static_cast<float>(alpha_ / (rank_stabilised_ ? std::sqrt(static_cast<double>(rank_)) : rank_)); }

const LoraSite* Adapter::site(int layer, int which) const {
  const LoraSite& site = sites_[static_cast<size_t>(layer) * kSiteCount + static_cast<size_t>(which)];
  return site.present ? &site : nullptr;
}

void Adapter::refresh(const Kernels& kernels) {
  if (!stale_) return;
  const auto shapes = linear_shapes(config_);
  for (size_t i = 0; i < sites_.size(); i++) {
    LoraSite& site = sites_[i];
    if (!site.present) continue;
    const LinearShape& shape = shapes[i % kSiteCount];
    kernels.pack_panels(params_.at(site.a), shape.in, rank_, shape.in, site.a_panels.reserve(static_cast<size_t>(panel_floats(kernels, rank_, shape.in))));
    kernels.pack_panels(params_.at(site.b), rank_, shape.out, rank_, site.b_panels.reserve(static_cast<size_t>(panel_floats(kernels, shape.out, rank_))));
  }
  stale_ = false;
}

}  // namespace tackroom
