/** PEFT folders in and out (format: huggingface/peft, src/peft/tuners/lora/config.py). */
#include <algorithm>
#include <cmath>
#include <set>

#include "adapter.h"
#include "adapter_source.h"
#include "error.h"
#include "file_io.h"
#include "safetensors.h"

namespace tackroom {
namespace {

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFile = "adapter_model.safetensors";

/** The defaults of peft 0.21 for everything this engine does not use. */
Json peft_config(int rank, double alpha, bool rank_stabilised, const std::string& base, const std::set<std::string>& modules,
                 const std::set<std::string>& parameters) {
  Json config = Json::object();
  for (const char* key : {"alora_invocation_tokens", "arrow_config", "auto_mapping"}) config.set(key, Json());
  config.set("alpha_pattern", Json::object());
  config.set("base_model_name_or_path", base);
  config.set("bias", "none");
  config.set("fan_in_fan_out", false);
  config.set("inference_mode", true);
  config.set("init_lora_weights", true);
  for (const char* key : {"corda_config", "eva_config", "exclude_modules", "layer_replication", "layers_pattern", "layers_to_transform", "megatron_config",
                          "modules_to_save", "revision", "trainable_token_indices"})
    config.set(key, Json());
  config.set("target_parameters", Json());
  if (!parameters.empty()) {
    Json names = Json::array();
    // The order says which of the two PEFT wraps first: down_proj outside, gate_up_proj as its base layer.
    for (auto name = parameters.rbegin(); name != parameters.rend(); ++name) names.items().push_back(*name);
    config.set("target_parameters", names);
  }
  config.set("loftq_config", Json::object());
  config.set("lora_alpha", alpha);
  config.set("lora_bias", false);
  config.set("lora_dropout", 0.0);
  config.set("megatron_core", "megatron.core");
  config.set("peft_type", "LORA");
  config.set("r", rank);
  config.set("rank_pattern", Json::object());
  Json targets = Json::array();
  for (const std::string& module : modules) targets.items().push_back(module);
  config.set("target_modules", targets);
  config.set("task_type", "CAUSAL_LM");
  config.set("use_dora", false);
  config.set("use_qalora", false);
  config.set("use_rslora", rank_stabilised);
  return config;
}

}  // namespace

std::shared_ptr<Adapter> Adapter::load(const Model& model, const std::string& path) {
  const ModelConfig& c = model.config;
  const AdapterSource source = AdapterSource::open(path, {c.architecture->model_type, c.layers, c.heads, c.kv_heads});
  constexpr double kMostAlpha = 1e6;
  if (!(source.alpha <= kMostAlpha)) fail("ADAPTER_CORRUPT", "The adapter in %s has an alpha of %g, which no training gives.", path.c_str(), source.alpha);
  bool stacked = false;
  std::vector<bool> present;
  std::set<std::string> known;
  for (const Site& site : model.sites) {
    const std::string prefix = "base_model.model." + site.module;
    const auto a = source.tensors.find(prefix + ".lora_A.weight"), b = source.tensors.find(prefix + ".lora_B.weight");
    present.push_back(a != source.tensors.end());
    if (!present.back()) continue;
    const int64_t stack = site.expert < 0 ? 1 : c.experts;
    const std::vector<int64_t> a_shape{stack * source.rank, site.in}, b_shape{site.out, stack * source.rank};
    if (b == source.tensors.end() || a->second.shape != a_shape || b->second.shape != b_shape)
      fail("ADAPTER_MISMATCH", "The adapter in %s does not fit this model: %s has other dimensions.", path.c_str(), prefix.c_str());
    known.insert({a->first, b->first});
    stacked = stacked || site.expert >= 0;
  }
  // A tensor that no layer takes would silently not be applied.
  for (const auto& [name, tensor] : source.tensors)
    if (known.count(name) == 0) fail("ADAPTER_MISMATCH", "The adapter in %s has a tensor for %s, which this model does not have.", path.c_str(), name.c_str());
  if (known.empty()) fail("ADAPTER_CORRUPT", "The adapter in %s holds no tensors.", path.c_str());

  std::shared_ptr<Adapter> adapter(new Adapter(shape_of(model), source.rank, source.alpha, source.rank_stabilised,
                                               stacked ? ExpertAdapters::Each : ExpertAdapters::None, present));
  for (const Param& param : adapter->params_.params()) {
    const TensorView& tensor = source.tensors.at(param.name);
    float* values = adapter->params_.at(param.offset);
    read_rows(tensor, 0, tensor.rows(), values, tensor.columns());
    for (size_t i = 0; i < param.size; i++)
      if (!std::isfinite(values[i])) fail("ADAPTER_CORRUPT", "The tensor %s of the adapter in %s holds values that are not numbers.", param.name.c_str(), path.c_str());
  }
  return stacked && adapter->same_experts() ? adapter->shared() : adapter;
}

void Adapter::save(const std::string& dir, const std::string& base_model_name) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> modules, parameters;
  for (size_t i = 0; i < sites_.size(); i++) {
    if (!sites_[i].present) continue;
    const Site& site = shape_->sites[i];
    if (site.expert < 0) modules.insert(site.module.substr(site.module.rfind('.') + 1));
    else parameters.insert({"feed_forward.experts.down_proj", "feed_forward.experts.gate_up_proj"});
  }
  AtomicFolder folder(dir);
  const std::string text = peft_config(rank_, alpha_, rank_stabilised_, base_model_name, modules, parameters).dump(2) + "\n";
  FileWriter config(folder.path() + "/" + kConfigFile);
  config.write(text.data(), text.size());
  config.close();
  const std::string path = folder.path() + "/" + kTensorFile;
  if (experts_ == ExpertAdapters::Shared) write_safetensors(path, unshared(), FileType::F32);
  else write_safetensors(path, params_, FileType::F32);
  folder.commit();
}

bool Adapter::same_experts() const {
  const int64_t experts = shape_->experts;
  for (const Param& param : params_.params()) {
    if (param.name.find(".experts.") == std::string::npos) continue;
    const float* values = params_.at(param.offset);
    const size_t slice = param.size / static_cast<size_t>(experts);
    const bool a = param.name.find(".lora_A.") != std::string::npos;
    for (size_t i = 0; i < param.size; i++)
      if (values[i] != (a ? values[i % slice] : values[i / static_cast<size_t>(experts) * static_cast<size_t>(experts)])) return false;
  }
  return true;
}

/** The adapter with one pair for all experts of a layer; all slices must be equal. */
std::shared_ptr<Adapter> Adapter::shared() const {
  std::vector<bool> present;
  for (const LoraSite& site : sites_) present.push_back(site.present);
  std::shared_ptr<Adapter> one(new Adapter(shape_, rank_, alpha_, rank_stabilised_, ExpertAdapters::Shared, present));
  const size_t experts = static_cast<size_t>(shape_->experts);
  for (const Param& param : one->params_.params()) {
    const Param& stacked = *params_.find(param.name);
    const float* from = params_.at(stacked.offset);
    float* to = one->params_.at(param.offset);
    const bool every = stacked.size == param.size || param.name.find(".lora_A.") != std::string::npos;
    for (size_t i = 0; i < param.size; i++) to[i] = from[every ? i : i * experts];
  }
  return one;
}

/** The tensors with the pairs that a layer's experts share repeated for each of them, as PEFT lays stacked experts out. */
ParamSet Adapter::unshared() const {
  const int64_t experts = shape_->experts;
  const auto stacked = [](const Param& param) { return param.name.find(".experts.") != std::string::npos; };
  ParamSet all;
  for (const Param& param : params_.params()) {
    std::vector<int64_t> shape = param.shape;
    if (stacked(param)) shape[param.name.find(".lora_A.") != std::string::npos ? 0 : 1] *= experts;
    all.add(param.name, shape, param.kind);
  }
  all.allocate();
  for (const Param& param : params_.params()) {
    const float* from = params_.at(param.offset);
    float* to = all.at(all.find(param.name)->offset);
    if (!stacked(param)) std::copy(from, from + param.size, to);
    else if (param.name.find(".lora_A.") != std::string::npos)
      for (int64_t e = 0; e < experts; e++) to = std::copy(from, from + param.size, to);
    else
      for (size_t i = 0; i < param.size; i++) to = std::fill_n(to, experts, from[i]);
  }
  return all;
}

}  // namespace tackroom
