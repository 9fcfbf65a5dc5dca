#include "inspect.h"

#include "sources.h"

namespace tackroom {
namespace {

int64_t whole(const Json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const Json* value = config.find(key);
    if (value != nullptr && value->number() >= 0 && value->number() < 1e15) return static_cast<int64_t>(value->number());
  }
  return 0;
}

void describe(ModelSummary& summary, const TensorSource& source) {
  const Json& config = source.config();
  const Json *type = config.find("model_type"), *tied = config.find("tie_word_embeddings");
  if (type != nullptr) summary.architecture = type->string();
  summary.layers = whole(config, {"num_hidden_layers"});
  summary.hidden = whole(config, {"hidden_size"});
  summary.heads = whole(config, {"num_attention_heads"});
  summary.kv_heads = whole(config, {"num_key_value_heads", "num_attention_heads"});
  summary.head_dim = whole(config, {"head_dim"});
  if (summary.head_dim == 0 && summary.heads != 0) summary.head_dim = summary.hidden / summary.heads;
  summary.ffn = whole(config, {"intermediate_size"});
  // lfm2 rounds the configured width: the weights know what came of it.
  for (const char* name : {"model.layers.0.feed_forward.w1.weight", "model.layers.0.mlp.gate_proj.weight"})
    if (const TensorView* view = source.find(name)) summary.ffn = view->rows();
  summary.vocab = whole(config, {"vocab_size"});
  summary.context = whole(config, {"max_position_embeddings"});
  summary.experts = whole(config, {"num_experts"});
  summary.experts_per_token = summary.experts == 0 ? 0 : whole(config, {"num_experts_per_tok"});
  summary.tied = tied != nullptr ? tied->boolean() : source.find("lm_head.weight") == nullptr;
}

void count(ModelSummary& summary, const char* type, size_t bytes, int64_t elements) {
  TypeShare& share = summary.types[type];
  share.tensors++;
  share.bytes += static_cast<int64_t>(bytes);
  summary.parameters += elements;
}

int64_t product(const int64_t* extents, size_t n) {
  int64_t elements = 1;
  for (size_t i = 0; i < n; i++) elements *= extents[i];
  return elements;
}

}  // namespace

ModelSummary inspect_model(const std::string& path) { return summarise(*TensorSource::open(path)); }

ModelSummary summarise(const TensorSource& source) {
  ModelSummary summary;
  describe(summary, source);
  if (const auto* gguf = dynamic_cast<const GgufSource*>(&source)) {
    summary.format = "gguf";
    summary.file_bytes = static_cast<int64_t>(gguf->file().size());
    for (const auto& tensor : gguf->file().tensors())
      count(summary, type_name(tensor.type), tensor.bytes, tensor.name == "rope_freqs.weight" ? 0 : product(tensor.extents, static_cast<size_t>(tensor.dims)));
  } else if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    summary.format = "safetensors";
    for (const auto& file : folder->files()) {
      summary.file_bytes += static_cast<int64_t>(file->size());
      for (const auto& [name, tensor] : file->tensors())
        count(summary, tensor.dtype.c_str(), tensor.end - tensor.begin, product(tensor.shape.data(), tensor.shape.size()));
    }
  }
  return summary;
}

}  // namespace tackroom
