/** PEFT folders in and out (format: huggingface/peft, src/peft/tuners/lora/config.py). */
#include <algorithm>
#include <set>

#include "adapter.h"
#include "error.h"
#include "file_io.h"
#include "safetensors.h"

namespace tackroom {
namespace {

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFile = "adapter_model.safetensors";

void refuse_unsupported(const Json& config, const std::string& path) {
  const Json* type = config.find("peft_type");
  if (type == nullptr || type->string() != "LORA") fail("ADAPTER_CORRUPT", "%s does not describe a LoRA adapter.", path.c_str());
  for (const char* key : {"use_dora", "fan_in_fan_out", "lora_bias", "use_qalora"}) {
    const Json* value = config.find(key);
    if (value != nullptr && value->boolean()) fail("ADAPTER_MISMATCH", "%s asks for \"%s\", which this engine does not support.", path.c_str(), key);
  }
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save", "target_parameters", "layer_replication"}) {
    const Json* value = config.find(key);
    if (value != nullptr && (!value->members().empty() || !value->items().empty()))
      fail("ADAPTER_MISMATCH", "%s asks for \"%s\", which this engine does not support.", path.c_str(), key);
  }
  const Json* bias = config.find("bias");
  if (bias != nullptr && bias->string() != "none") fail("ADAPTER_MISMATCH", "%s trains biases, which this engine does not support.", path.c_str());
}

double positive(const Json& config, const char* key, const std::string& path) {
  const Json* value = config.find(key);
  if (value == nullptr || !(value->number() > 0)) fail("ADAPTER_CORRUPT", "%s has no positive \"%s\".", path.c_str(), key);
  return value->number();
}

/** The defaults of peft 0.21 for everything this engine does not use. */
Json peft_config(int rank, double alpha, bool rank_stabilised, const std::string& base, const std::set<std::string>& modules) {
  Json config = Json::object();
  for (const char* key : {"alora_invocation_tokens", "arrow_config", "auto_mapping"}) config.set(key, Json());
  config.set("alpha_pattern", Json::object());
  config.set("base_model_name_or_path", base);
  config.set("bias", "none");
  config.set("fan_in_fan_out", false);
  config.set("inference_mode", true);
  config.set("init_lora_weights", true);
  for (const char* key : {"corda_config", "eva_config", "exclude_modules", "layer_replication", "layers_pattern", "layers_to_transform", "megatron_config",
                          "modules_to_save", "revision", "target_parameters", "trainable_token_indices"})
    config.set(key, Json());
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

std::shared_ptr<Adapter> Adapter::load(const ModelConfig& model, const std::string& dir) {
  const std::string config_path = dir + "/" + kConfigFile;
  Json config;
  try {
    config = Json::parse(read_text(config_path, "ADAPTER_CORRUPT"));
  } catch (const EngineError&) {
    throw;
  } catch (const std::runtime_error& error) {
    fail("ADAPTER_CORRUPT", "%s is not readable (%s).", config_path.c_str(), error.what());
  }
  refuse_unsupported(config, config_path);
  const int rank = static_cast<int>(positive(config, "r", config_path));
  const Json* rslora = config.find("use_rslora");
  const SafetensorsFile file(dir + "/" + kTensorFile, "ADAPTER_CORRUPT", "ADAPTER_CORRUPT");

  const auto shapes = linear_shapes(model);
  std::vector<bool> present(static_cast<size_t>(model.layers) * kSiteCount, false);
  std::set<std::string> known;
  for (size_t i = 0; i < present.size(); i++) {
    const LinearShape& shape = shapes[i % kSiteCount];
    const std::string prefix = "base_model.model.model.layers." + std::to_string(i / kSiteCount) + "." + shape.module;
    const auto a = file.tensors().find(prefix + ".lora_A.weight"), b = file.tensors().find(prefix + ".lora_B.weight");
    if (a == file.tensors().end() && b == file.tensors().end()) continue;
    if (a == file.tensors().end() || b == file.tensors().end())
      fail("ADAPTER_CORRUPT", "%s has only one half of the pair for %s.", file.path().c_str(), prefix.c_str());
    const std::vector<int64_t> a_shape{rank, shape.in}, b_shape{shape.out, rank};
    if (a->second.shape != a_shape || b->second.shape != b_shape)
      fail("ADAPTER_MISMATCH", "The adapter in %s does not fit this model: %s has other dimensions.", dir.c_str(), prefix.c_str());
    present[i] = true;
    known.insert({a->first, b->first});
  }
  // A tensor that no layer takes would silently not be applied.
  for (const auto& [name, tensor] : file.tensors())
    if (known.count(name) == 0) fail("ADAPTER_MISMATCH", "The adapter in %s has a tensor for %s, which this model does not have.", dir.c_str(), name.c_str());
  if (known.empty()) fail("ADAPTER_CORRUPT", "The adapter in %s holds no tensors.", dir.c_str());

  std::shared_ptr<Adapter> adapter(new Adapter(model, rank, positive(config, "lora_alpha", config_path), rslora != nullptr && rslora->boolean(), present));
  for (const Param& param : adapter->params_.params()) file.read(param.name, param.shape, adapter->params_.at(param.offset));
  return adapter;
}

void Adapter::save(const std::string& dir, const std::string& base_model_name) const {
  const std::lock_guard lock(mutex_);
  const auto shapes = linear_shapes(config_);
  std::set<std::string> modules;
  for (size_t i = 0; i < sites_.size(); i++) {
    const std::string module = shapes[i % kSiteCount].module;
    if (sites_[i].present) modules.insert(module.substr(module.rfind('.') + 1));
  }
  AtomicFolder folder(dir);
  const std::string text = peft_config(rank_, alpha_, rank_stabilised_, base_model_name, modules).dump(2) + "\n";
  FileWriter config(folder.path() + "/" + kConfigFile);
  config.write(text.data(), text.size());
  config.close();
  write_safetensors(folder.path() + "/" + kTensorFile, params_, FileType::F32);
  folder.commit();
}

}  // namespace tackroom
