/** Shape and constants of a decoder-only model, read from a Hugging Face config.json. */
#pragma once
#include <string>
#include <vector>

#include "json.h"

namespace tackroom {

/** RoPE frequency scaling of Llama 3.1 (type "llama3") or a plain division of positions ("linear"). */
struct RopeScaling {
  enum class Type { None, Linear, Llama3 };
  Type type = Type::None;
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4, original_context = 8192;
};

struct ModelConfig {
  std::string architecture;  // llama, qwen2, qwen3
  int vocab = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, context = 0;
  float norm_eps = 1e-6f;
  bool tied = false;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool qk_norm = false;
  double rope_theta = 10000;
  RopeScaling rope_scaling;
  Json source;  // the document itself, kept for saving

  int q_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
};

/**
 * Reads and checks a config. `origin` names the file in messages; `malformed` is the code for a missing or impossible
 * value (MODEL_CORRUPT for files, BAD_ARGUMENT for objects handed in). Unknown architectures, activations and RoPE kinds
 * throw MODEL_UNSUPPORTED and name what is unknown.
 */
ModelConfig parse_config(const Json& source, const std::string& origin, const char* malformed);

/** Inverse frequencies of the rotation, [head_dim / 2], scaled as the config says. */
std::vector<float> rope_frequencies(const ModelConfig& config);

}  // namespace tackroom
