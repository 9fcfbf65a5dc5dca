#include <algorithm>

#include "error.h"
#include "gguf_names.h"
#include "quants.h"
#include "sources.h"

namespace tackroom {
namespace {

TensorView view_of(const GgufFile::Tensor& tensor) {
  TensorView view;
  view.type = tensor.type;
  view.shape.assign(tensor.extents, tensor.extents + tensor.dims);
  view.data = tensor.data;
  view.bytes = tensor.bytes;
  return view;
}

}  // namespace

bool add_expert_slices(std::map<std::string, TensorView>& tensors, const TensorView& stack, const std::string& prefix, const char* name, int64_t first,
                       int64_t count) {
  if (stack.shape.size() != 3 || stack.shape[0] < 1 || stack.shape[0] > 4096) return false;
  const size_t expert = stack.bytes / static_cast<size_t>(stack.shape[0]);
  const size_t row = stack.shape[1] == 0 ? 0 : expert / static_cast<size_t>(stack.shape[1]);
  if (row * static_cast<size_t>(count) < 64) return false;
  TensorView slice = stack;
  slice.shape = {count, stack.shape[2]};
  slice.bytes = row * static_cast<size_t>(count);
  for (int64_t e = 0; e < stack.shape[0]; e++) {
    slice.data = stack.data + expert * static_cast<size_t>(e) + row * static_cast<size_t>(first);
    if (!tensors.emplace(prefix + "." + std::to_string(e) + "." + name + ".weight", slice).second) return false;
  }
  return true;
}

GgufSource::GgufSource(const std::string& path) : file_(path, kModelCodes) {
  gguf_ = true;
  origin_ = path;
  if (file_.text("general.type").value_or("model") == "adapter") file_.unsupported("is a LoRA adapter, not a model");
  if (file_.integer("split.count").value_or(0) > 1) file_.unsupported("is one part of a split model; join the parts first");
  const GgufArchitecture& architecture = gguf_architecture(file_);
  config_ = gguf_config(file_, architecture);
  const int layers = gguf_layers(file_, architecture);
  for (const GgufFile::Tensor& tensor : file_.tensors()) add(tensor, architecture, layers);
}

void GgufSource::add(const GgufFile::Tensor& tensor, const GgufArchitecture& architecture, int layers) {
  TensorView view = view_of(tensor);
  if (tensor.name == "rope_freqs.weight") {
    tensors_.emplace(tensor.name, std::move(view));
    return;
  }
  std::string_view base = tensor.name, suffix;
  for (const std::string_view end : {".weight", ".bias"})
    if (tensor.name.ends_with(end)) {
      base.remove_suffix(end.size());
      suffix = end;
    }
  const auto place = suffix.empty() ? std::nullopt : gguf_place(architecture, base, layers);
  if (!place) file_.unsupported("has a tensor " + printable(tensor.name) + ", which the architecture " + architecture.gguf + " does not have here");
  if (!place->expert.empty()) {
    if (suffix != ".weight" || !add_expert_slices(tensors_, view, place->module, place->expert.c_str(), 0, tensor.dims == 3 ? view.shape[1] : 0))
      file_.corrupt("has a tensor " + printable(tensor.name) + " that is no stack of experts");
    return;
  }
  if (place->kind == "shortconv.conv" && tensor.dims == 2) view.shape.insert(view.shape.begin() + 1, 1);
  if (architecture.permuted && (place->kind == "attn_q" || place->kind == "attn_k")) {
    view.permuted_heads = static_cast<int>(config_.find(place->kind == "attn_q" ? "num_attention_heads" : "num_key_value_heads")->number());
    if (view.rows() % (2 * int64_t{view.permuted_heads}) != 0) file_.corrupt("has a tensor " + printable(tensor.name) + " whose rows do not divide into heads");
  }
  const std::string name = place->kind == "exp_probs_b" ? place->module : place->module + std::string(suffix);
  if (!tensors_.emplace(name, std::move(view)).second) file_.corrupt("has two tensors for " + name);
}

}  // namespace tackroom
