/** Hugging Face model folders in and out. */
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "error.h"
#include "file_io.h"
#include "model.h"
#include "safetensors.h"

namespace tackroom {
namespace {

Json parse_file(const std::string& path, const char* missing_code) {
  const std::string text = read_text(path, missing_code);
  try {
    return Json::parse(text);
  } catch (const std::runtime_error& error) {
    fail("MODEL_CORRUPT", "%s is not readable (%s).", path.c_str(), error.what());
  }
}

/** Opens the one weight file, or every shard the index names. */
std::vector<std::unique_ptr<SafetensorsFile>> open_weights(const std::string& dir) {
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  const auto open = [&](const std::string& name) {
    files.push_back(std::make_unique<SafetensorsFile>(dir + "/" + name, "MODEL_NOT_FOUND", "MODEL_CORRUPT"));
  };
  const std::string index_path = dir + "/model.safetensors.index.json";
  if (!file_exists(dir + "/model.safetensors") && file_exists(index_path)) {
    const Json index = parse_file(index_path, "MODEL_NOT_FOUND");
    const Json* map = index.find("weight_map");
    if (map == nullptr) fail("MODEL_CORRUPT", "%s has no \"weight_map\".", index_path.c_str());
    std::map<std::string, int> names;
    for (const auto& [tensor, file] : map->members()) names[file.string()]++;
    for (const auto& [name, count] : names) {
      if (name.empty() || name.find('/') != std::string::npos) fail("MODEL_CORRUPT", "%s names a weight file outside its folder.", index_path.c_str());
      open(name);
    }
    return files;
  }
  open("model.safetensors");
  return files;
}

/** Tensors that files carry although the forward pass has no use for them. */
bool may_be_left_over(const std::string& name) {
  return name.find("rotary_emb.inv_freq") != std::string::npos || name == "lm_head.weight";
}

/** A tensor nobody reads means that config.json describes another model, with fewer layers for instance. */
void refuse_unused(const std::vector<std::unique_ptr<SafetensorsFile>>& files, const ParamSet& weights, const std::string& config_path) {
  std::set<std::string> wanted;
  for (const Param& param : weights.params()) wanted.insert(param.name);
  for (const auto& file : files)
    for (const auto& [name, tensor] : file->tensors())
      if (wanted.count(name) == 0 && !may_be_left_over(name))
        fail("MODEL_CORRUPT", "The weights hold a tensor %s that %s does not provide for.", name.c_str(), config_path.c_str());
}

/** One NaN poisons every answer without an error anywhere: better said at load. */
void refuse_non_finite(const Param& param, const float* values, const std::string& dir) {
  const size_t count = param.size;
  for (size_t i = 0; i < count; i++)
    if (!std::isfinite(values[i])) fail("MODEL_CORRUPT", "The tensor %s of %s holds values that are not numbers.", param.name.c_str(), dir.c_str());
}

}  // namespace

std::shared_ptr<Model> Model::load(const std::string& dir, int threads) {
  if (!std::filesystem::is_directory(dir)) {
    if (!std::filesystem::exists(dir)) fail("MODEL_NOT_FOUND", "%s does not exist.", dir.c_str());
    fail("MODEL_UNSUPPORTED", "%s is a file; this engine reads Hugging Face folders, not GGUF.", dir.c_str());
  }
  const std::string config_path = dir + "/config.json";
  const ModelConfig config = parse_config(parse_file(config_path, "MODEL_NOT_FOUND"), config_path, "MODEL_CORRUPT");
  const auto files = open_weights(dir);
  std::shared_ptr<Model> model(new Model(config, threads));
  // All shapes are checked before memory is taken: a wrong number in config.json must not become a huge allocation.
  std::vector<const SafetensorsFile*> holders;
  for (const Param& param : model->weights.params()) {
    holders.push_back(files[0].get());
    for (const auto& file : files)
      if (file->tensors().count(param.name) != 0) holders.back() = file.get();
    holders.back()->check(param.name, param.shape);
  }
  refuse_unused(files, model->weights, config_path);
  model->weights.allocate();
  for (size_t i = 0; i < holders.size(); i++) {
    const Param& param = model->weights.params()[i];
    float* values = model->weights.at(param.offset);
    holders[i]->read(param.name, param.shape, values);
    refuse_non_finite(param, values, dir);
  }
  model->repack();
  return model;
}

void Model::save(const std::string& dir, bool bf16) const {
  Json source = config.source;
  const char* dtype = bf16 ? "bfloat16" : "float32";
  if (source.find("torch_dtype") != nullptr) source.set("torch_dtype", dtype);
  source.set("dtype", dtype);
  if (source.find("architectures") == nullptr) {
    Json names = Json::array();
    names.items().push_back(config.architecture == "llama" ? "LlamaForCausalLM" : config.architecture == "qwen2" ? "Qwen2ForCausalLM" : "Qwen3ForCausalLM");
    source.set("architectures", names);
  }
  AtomicFolder folder(dir);
  const std::string text = source.dump(2) + "\n";
  FileWriter file(folder.path() + "/config.json");
  file.write(text.data(), text.size());
  file.close();
  write_safetensors(folder.path() + "/model.safetensors", weights, bf16 ? FileType::BF16 : FileType::F32);
  folder.commit();
}

}  // namespace tackroom
