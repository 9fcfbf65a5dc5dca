#include <set>

#include "error.h"
#include "sources.h"

namespace tackroom {
namespace {

Json parse_file(const std::string& path) {
  const MappedFile file(path, "MODEL_NOT_FOUND");
  try {
    return Json::parse({file.data(), file.size()});
  } catch (const std::runtime_error& error) {
    fail("MODEL_CORRUPT", "%s is not readable (%s).", path.c_str(), error.what());
  }
}

}  // namespace

FolderSource::FolderSource(const std::string& dir) {
  origin_ = dir;
  config_ = parse_file(dir + "/config.json");
  if (!config_.is(Json::Type::Object)) fail("MODEL_CORRUPT", "%s/config.json is not a JSON object.", dir.c_str());
  open_weights();
  for (const auto& file : files_)
    for (const auto& [name, tensor] : file->tensors()) add(*file, name, tensor);
}

/** Opens the one weight file, or every shard the index names. */
void FolderSource::open_weights() {
  const auto open = [&](const std::string& name) {
    files_.push_back(std::make_unique<SafetensorsFile>(origin_ + "/" + name, "MODEL_NOT_FOUND", "MODEL_CORRUPT"));
  };
  const std::string index_path = origin_ + "/model.safetensors.index.json";
  if (file_exists(origin_ + "/model.safetensors") || !file_exists(index_path)) return open("model.safetensors");
  const Json index = parse_file(index_path);
  const Json* map = index.find("weight_map");
  if (map == nullptr || map->members().empty()) fail("MODEL_CORRUPT", "%s has no \"weight_map\".", index_path.c_str());
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->members()) names.insert(file.string());
  for (const std::string& name : names) {
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      fail("MODEL_CORRUPT", "%s names a weight file outside its folder.", index_path.c_str());
    open(name);
  }
}

void FolderSource::add(const SafetensorsFile& file, const std::string& name, const SafetensorsFile::Tensor& tensor) {
  if (name.find("rotary_emb.inv_freq") != std::string::npos) return;  // older files carry it; it follows from the config
  TensorView view;
  view.type = file.type_of(name, tensor);
  view.shape = tensor.shape;
  view.data = file.data(tensor);
  view.bytes = tensor.end - tensor.begin;
  const auto stem = [&](const char* end) { return name.substr(0, name.size() - std::string_view(end).size()); };
  bool added;
  if (name.ends_with(".experts.gate_up_proj")) {
    const int64_t half = view.shape.size() == 3 && view.shape[1] % 2 == 0 ? view.shape[1] / 2 : 0;
    added = add_expert_slices(tensors_, view, stem(".gate_up_proj"), "w1", 0, half) && add_expert_slices(tensors_, view, stem(".gate_up_proj"), "w3", half, half);
  } else if (name.ends_with(".experts.down_proj")) {
    added = add_expert_slices(tensors_, view, stem(".down_proj"), "w2", 0, view.shape.size() == 3 ? view.shape[1] : 0);
  } else {
    if (!tensors_.emplace(name, std::move(view)).second) fail("MODEL_CORRUPT", "%s has two tensors %s.", origin_.c_str(), name.c_str());
    return;
  }
  if (!added) fail("MODEL_CORRUPT", "%s has a tensor %s that is no stack of experts.", file.path().c_str(), name.c_str());
}

}  // namespace tackroom
