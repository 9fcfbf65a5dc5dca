#include "adapter_source.h"

#include <cmath>
#include <filesystem>

#include "adapter_gguf.h"
#include "error.h"
#include "file_io.h"
#include "safetensors.h"

namespace tackroom {
namespace {

constexpr int kMostRank = 1 << 16;

Json read_config(const std::string& path) {
  const MappedFile file(path, "ADAPTER_CORRUPT");
  try {
    return Json::parse({file.data(), file.size()});
  } catch (const std::runtime_error& error) {
    fail("ADAPTER_CORRUPT", "%s is not readable (%s).", path.c_str(), error.what());
  }
}

[[noreturn]] void refuse(const std::string& path, const char* key) {
  fail("ADAPTER_MISMATCH", "%s asks for \"%s\", which this engine does not support.", path.c_str(), key);
}

void refuse_unsupported(const Json& config, const std::string& path) {
  const Json* type = config.find("peft_type");
  if (type == nullptr || type->string() != "LORA") fail("ADAPTER_CORRUPT", "%s does not describe a LoRA adapter.", path.c_str());
  for (const char* key : {"use_dora", "fan_in_fan_out", "lora_bias", "use_qalora", "use_bdlora"}) {
    const Json* value = config.find(key);
    if (value != nullptr && value->boolean()) refuse(path, key);
  }
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save", "layer_replication", "alora_invocation_tokens", "use_bdlora"}) {
    const Json* value = config.find(key);
    if (value != nullptr && (!value->members().empty() || !value->items().empty())) refuse(path, key);
  }
  const Json* bias = config.find("bias");
  if (bias != nullptr && bias->string() != "none") fail("ADAPTER_MISMATCH", "%s trains biases, which this engine does not support.", path.c_str());
}

/** Stacked experts only. Every further parameter of one module wraps the ones before it, so the order decides about names. */
enum class ExpertOrder { GateUpFirst, DownFirst, GateUpOnly };

ExpertOrder expert_order(const Json& config, const std::string& path) {
  const Json* list = config.find("target_parameters");
  bool gate_up = false, down = false, down_first = false;
  if (list != nullptr)
    for (const Json& item : list->items()) {
      const bool is_down = item.string().ends_with("experts.down_proj");
      if (!is_down && !item.string().ends_with("experts.gate_up_proj")) refuse(path, "target_parameters");
      if (is_down && !gate_up) down_first = true;
      (is_down ? down : gate_up) = true;
    }
  if (gate_up && !down) return ExpertOrder::GateUpOnly;
  return gate_up && down_first ? ExpertOrder::DownFirst : ExpertOrder::GateUpFirst;
}

/** The name a tensor of stacked experts has when gate_up_proj is the inner one. */
std::string in_order(const std::string& name, ExpertOrder order) {
  constexpr std::string_view kInner = ".experts.base_layer.lora_", kOuter = ".experts.lora_";
  if (order == ExpertOrder::GateUpFirst) return name;
  const size_t inner = name.find(kInner), outer = name.find(kOuter);
  if (outer != std::string::npos) return name.substr(0, outer) + std::string(kInner) + name.substr(outer + kOuter.size());
  if (inner != std::string::npos && order == ExpertOrder::DownFirst) return name.substr(0, inner) + std::string(kOuter) + name.substr(inner + kInner.size());
  return name;
}

double positive(const Json& config, const char* key, const std::string& path) {
  const Json* value = config.find(key);
  if (value == nullptr || !(value->number() > 0)) fail("ADAPTER_CORRUPT", "%s has no positive \"%s\".", path.c_str(), key);
  return value->number();
}

AdapterSource open_folder(const std::string& dir) {
  AdapterSource source;
  const std::string config_path = dir + "/adapter_config.json";
  const Json config = read_config(config_path);
  refuse_unsupported(config, config_path);
  const ExpertOrder order = expert_order(config, config_path);
  const double rank = positive(config, "r", config_path);
  if (rank != std::floor(rank) || rank > kMostRank) fail("ADAPTER_CORRUPT", "\"r\" in %s must be a whole number.", config_path.c_str());
  source.rank = static_cast<int>(rank);
  source.alpha = positive(config, "lora_alpha", config_path);
  const Json* rslora = config.find("use_rslora");
  source.rank_stabilised = rslora != nullptr && rslora->boolean();
  const auto file = std::make_shared<SafetensorsFile>(dir + "/adapter_model.safetensors", "ADAPTER_CORRUPT", "ADAPTER_CORRUPT");
  for (const auto& [name, tensor] : file->tensors()) {
    TensorView view;
    view.type = file->type_of(name, tensor);
    view.shape = tensor.shape;
    view.data = file->data(tensor);
    view.bytes = tensor.end - tensor.begin;
    source.tensors.emplace(in_order(name, order), std::move(view));
  }
  source.keep.push_back(file);
  return source;
}

/** A half alone would silently not be applied. */
void refuse_halves(const AdapterSource& source) {
  constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight";
  if (source.tensors.empty()) fail("ADAPTER_CORRUPT", "The adapter in %s holds no tensors.", source.origin.c_str());
  for (const auto& [name, view] : source.tensors) {
    const bool a = name.ends_with(kA), b = name.ends_with(kB);
    if (!a && !b) continue;
    const std::string stem = name.substr(0, name.size() - kA.size());
    if (source.tensors.count(stem + std::string(a ? kB : kA)) == 0)
      fail("ADAPTER_CORRUPT", "The adapter in %s has only one half of the pair for %s.", source.origin.c_str(), stem.c_str());
  }
  for (const auto& [name, view] : source.tensors)
    if (!name.ends_with(kA) && !name.ends_with(kB))
      fail("ADAPTER_MISMATCH", "The adapter in %s has a tensor %s, which this engine does not know.", source.origin.c_str(), name.c_str());
}

}  // namespace

AdapterSource AdapterSource::open(const std::string& path, const AdapterBase& base) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!folder && !file_exists(path)) fail("ADAPTER_CORRUPT", "%s does not exist.", path.c_str());
  if (!folder && !path.ends_with(".gguf")) fail("ADAPTER_CORRUPT", "%s is neither an adapter folder nor a .gguf file.", path.c_str());
  AdapterSource source = folder ? open_folder(path) : open_gguf_adapter(path, base);
  source.origin = path;
  refuse_halves(source);
  return source;
}

}  // namespace tackroom
