#include "adapter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "error.h"
#include "matmul.h"
#include "quants.h"
#include "random.h"
#include "sha256.h"

namespace tackroom {

std::shared_ptr<const Adapter::Shape> Adapter::shape_of(const Model& model) {
  return std::make_shared<const Shape>(Shape{model.sites, model.config.experts});
}

Adapter::Adapter(std::shared_ptr<const Shape> shape, int rank, double alpha, bool rank_stabilised, ExpertAdapters experts, const std::vector<bool>& present)
    : shape_(std::move(shape)), rank_(rank), alpha_(alpha), rank_stabilised_(rank_stabilised), experts_(experts), sites_(shape_->sites.size()) {
  const int stacked = experts == ExpertAdapters::Each ? shape_->experts : 1;
  struct Pair {
    size_t a, b;
  };
  std::map<std::string, Pair> stacks;  // of the experts of a layer, by module
  for (size_t i = 0; i < sites_.size(); i++) {
    if (!present[i]) continue;
    const Site& site = shape_->sites[i];
    LoraSite& lora = sites_[i];
    const std::string prefix = "base_model.model." + site.module;
    lora.present = true;
    if (site.expert < 0) {
      lora.a = params_.add(prefix + ".lora_A.weight", {rank, site.in}, ParamKind::Matrix);
      lora.b = params_.add(prefix + ".lora_B.weight", {site.out, rank}, ParamKind::Matrix);
      lora.b_row = rank, lora.b_column = 1;
      continue;
    }
    auto found = stacks.find(site.module);
    if (found == stacks.end()) {
      const size_t a = params_.add(prefix + ".lora_A.weight", {static_cast<int64_t>(stacked) * rank, site.in}, ParamKind::Matrix);
      const size_t b = params_.add(prefix + ".lora_B.weight", {site.out, static_cast<int64_t>(stacked) * rank}, ParamKind::Matrix);
      found = stacks.emplace(site.module, Pair{a, b}).first;
    }
    const size_t e = stacked == 1 ? 0 : static_cast<size_t>(site.expert);
    lora.a = found->second.a + e * static_cast<size_t>(rank) * static_cast<size_t>(site.in);
    lora.b = found->second.b + e;
    lora.b_row = static_cast<int64_t>(stacked) * rank, lora.b_column = stacked;
  }
  params_.allocate();
}

void check_adapter(const ModelConfig& config, int rank, ExpertAdapters experts) {
  if (rank < 1 || rank > config.hidden) fail("BAD_ARGUMENT", "The rank of an adapter must be between 1 and %d.", config.hidden);
  if (experts != ExpertAdapters::None && config.experts == 0) fail("BAD_ARGUMENT", "This model has no experts to adapt.");
}

std::shared_ptr<Adapter> Adapter::create(const Model& model, int rank, double alpha, uint64_t seed, ExpertAdapters experts) {
  check_adapter(model.config, rank, experts);
  if (!(alpha > 0)) fail("BAD_ARGUMENT", "The alpha of an adapter must be positive.");
  std::vector<bool> present;
  for (const Site& site : model.sites) present.push_back(site.expert < 0 || experts != ExpertAdapters::None);
  std::shared_ptr<Adapter> adapter(new Adapter(shape_of(model), rank, alpha, false, experts, present));
  uint64_t draw = 0;
  for (const Param& param : adapter->params_.params()) {
    if (param.name.find(".lora_A.") == std::string::npos) continue;
    const double in = static_cast<double>(param.shape[1]);
    float* a = adapter->params_.at(param.offset);
    // kaiming_uniform(a = sqrt 5) draws from +-1 / sqrt(fan_in).
    for (size_t j = 0; j < param.size; j++) a[j] = static_cast<float>((2 * random_uniform(seed, draw++) - 1) / std::sqrt(in));
  }
  return adapter;
}

std::shared_ptr<Adapter> Adapter::clone() const {
  const std::lock_guard lock(mutex_);
  std::vector<bool> present;
  for (const LoraSite& site : sites_) present.push_back(site.present);
  std::shared_ptr<Adapter> copy(new Adapter(shape_, rank_, alpha_, rank_stabilised_, experts_, present));
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

size_t Adapter::bytes() const {
  size_t total = params_.floats() * sizeof(float);
  for (const LoraSite& site : sites_) total += (site.a_panels.size() + site.b_panels.size()) * sizeof(float) + (site.bf16.a.size() + site.bf16.b.size() + site.int16.a.size() + site.int16.b.size()) * 2 + (site.a8 == nullptr ? 0 : site.a8->bytes() + site.b8->bytes());
  return total;
}

const float* Adapter::dense_b(const LoraSite& site, int out, std::vector<float>& scratch) const {
  const float* b = params_.at(site.b);
  if (site.b_column == 1 && site.b_row == rank_) return b;
  scratch.resize(static_cast<size_t>(out) * static_cast<size_t>(rank_));
  for (int o = 0; o < out; o++)
    for (int j = 0; j < rank_; j++) scratch[static_cast<size_t>(o) * static_cast<size_t>(rank_) + static_cast<size_t>(j)] = b[o * site.b_row + j * site.b_column];
  return scratch.data();
}

namespace {

constexpr int kBlockBytes = 2 + kInt8Group;  // of Q8_0: a scale in f16 and the integers

TensorView q8_view(int rows, int columns, const std::vector<uint8_t>& blocks) {
  TensorView view;
  view.type = TensorType::Q8_0, view.shape = {rows, columns}, view.data = blocks.data(), view.bytes = blocks.size();
  return view;
}

/** Fills a matrix with values in the blocks of Q8_0 (training.md, section B5): what decoding in 8 bits streams. */
void fill_q8(PackedMatrix& matrix, const float* values, ThreadPool& pool, uint8_t* memory) {
  const int rows = matrix.weights().out, columns = matrix.weights().in;
  std::vector<uint8_t> blocks(static_cast<size_t>(rows) * static_cast<size_t>(columns / kInt8Group) * kBlockBytes);
  uint8_t* out = blocks.data();
  for (const float* x = values; x != values + static_cast<int64_t>(rows) * columns; x += kInt8Group, out += kBlockBytes) {
    float largest = 0;
    for (int i = 0; i < kInt8Group; i++) largest = std::max(largest, std::fabs(x[i]));
    const uint16_t half = float_to_half(largest / 127);
    const float scale = half_to_float(half), inverse = scale == 0 ? 0 : 1 / scale;
    std::memcpy(out, &half, 2);
    for (int i = 0; i < kInt8Group; i++) out[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(std::clamp(std::nearbyint(x[i] * inverse), -127.0f, 127.0f)));
  }
  matrix.fill(q8_view(rows, columns, blocks), pool, memory);
}

}  // namespace

void Adapter::refresh(Model& model, Precision precision) {
  const Form16* form = model.form16(precision);
  bool& fresh = form == nullptr ? fresh_.fp32 : form->block == 0 ? fresh_.bf16 : fresh_.int16;
  if (precision == Precision::Int8 && !fresh_.int8) refresh8(model);
  if (fresh) return;
  std::vector<float> gathered;
  for (size_t i = 0; i < sites_.size(); i++) {
    LoraSite& site = sites_[i];
    if (!site.present) continue;
    const int in = shape_->sites[i].in, out = shape_->sites[i].out;
    const std::vector<float> scaled = scaled_a(site, in);
    const float* b = dense_b(site, out, gathered);
    if (form != nullptr) {
      LoraSite::Narrow& panels = site.narrow(*form);
      panels.a.resize(static_cast<size_t>(form->panels(rank_, in)));
      panels.b.resize(static_cast<size_t>(form->panels(out, rank_)));
      form->pack(scaled.data(), in, 1, rank_, in, panels.a.data());
      form->pack(b, rank_, 1, out, rank_, panels.b.data());
    } else {
      model.kernels.pack_panels(scaled.data(), in, rank_, in, site.a_panels.reserve(static_cast<size_t>(panel_floats(model.kernels, rank_, in))));
      model.kernels.pack_panels(b, rank_, out, rank_, site.b_panels.reserve(static_cast<size_t>(panel_floats(model.kernels, out, rank_))));
    }
  }
  fresh = true;
}

std::vector<float> Adapter::scaled_a(const LoraSite& site, int in) const {
  const float factor = scale();
  std::vector<float> scaled(params_.at(site.a), params_.at(site.a) + static_cast<size_t>(rank_) * static_cast<size_t>(in));
  for (float& value : scaled) value *= factor;
  return scaled;
}

void Adapter::refresh8(Model& model) {
  size_t bytes = 0;
  for (size_t i = 0; i < sites_.size(); i++) {
    LoraSite& site = sites_[i];
    const int in = shape_->sites[i].in, out = shape_->sites[i].out;
    if (!site.present || in % kInt8Group != 0 || rank_ % kInt8Group != 0) continue;
    site.a8 = PackedMatrix::describe(q8_view(rank_, in, {}));
    site.b8 = PackedMatrix::describe(q8_view(out, rank_, {}));
    bytes += site.a8->bytes() + site.b8->bytes();
  }
  auto* memory = reinterpret_cast<uint8_t*>(packed8_.reserve(bytes / sizeof(float)));
  std::vector<float> gathered;
  for (size_t i = 0; i < sites_.size(); i++) {
    LoraSite& site = sites_[i];
    if (site.a8 == nullptr) continue;
    fill_q8(*site.a8, scaled_a(site, shape_->sites[i].in).data(), model.pool, memory);
    memory += site.a8->bytes();
    fill_q8(*site.b8, dense_b(site, shape_->sites[i].out, gathered), model.pool, memory);
    memory += site.b8->bytes();
  }
  fresh_.int8 = true;
}

}  // namespace tackroom
