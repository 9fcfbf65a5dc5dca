/** Names of GGUF tensors and what Hugging Face calls the same weights (tables: ggml-org/llama.cpp, gguf-py tensor_mapping.py). */
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gguf.h"
#include "json.h"

namespace tackroom {

struct GgufNamePair {
  const char *gguf, *hf;
};

struct GgufArchitecture {
  const char *gguf;        // general.architecture
  const char *model_type;  // of config.json
  const char *class_name;
  const GgufNamePair* block;  // below blk.N. and model.layers.N.; ends with a null pair
  const char *final_norm_gguf, *final_norm;
  bool permuted;  // Q and K rows in the order of llama
};

/** Throws the unsupported code for an architecture that this engine does not run. */
const GgufArchitecture& gguf_architecture(const GgufFile& file);

/** A weight by its place in the model, without ".weight". */
struct GgufPlace {
  std::string module;    // "model.layers.3.self_attn.q_proj"; for stacked experts "model.layers.3.feed_forward.experts"
  std::string expert;    // "w1", "w2" or "w3" for stacked experts
  std::string_view kind;  // the name below blk.N.: "attn_q"
};

/** Nullopt for a name that the architecture does not have, or a block number of `layers` and more. */
std::optional<GgufPlace> gguf_place(const GgufArchitecture& architecture, std::string_view name, int layers);

/** config.json for a GGUF model. */
Json gguf_config(const GgufFile& file, const GgufArchitecture& architecture);
/** {arch}.block_count, 1..1024. */
int gguf_layers(const GgufFile& file, const GgufArchitecture& architecture);

}  // namespace tackroom
