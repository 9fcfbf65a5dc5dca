/** What a model folder or GGUF file holds, told from its tables alone: no weight is read. */
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace tackroom {

struct TypeShare {
  int64_t tensors = 0, bytes = 0;
};

struct ModelSummary {
  std::string format;        // "safetensors" or "gguf"
  std::string architecture;  // model_type
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, context = 0;
  int64_t experts = 0, experts_per_token = 0;  // 0: not a mixture of experts
  int64_t parameters = 0;                      // elements of all tensors
  int64_t file_bytes = 0;                      // of the weight files
  bool tied = false;
  std::map<std::string, TypeShare> types;  // by name of the element type, as the files store tensors
};

/** Throws as TensorSource::open does. A folder of an architecture that the engine does not run is described all the same. */
ModelSummary inspect_model(const std::string& path);
ModelSummary summarise(const class TensorSource& source);

}  // namespace tackroom
