/** Shape and constants of a decoder-only model, read from a Hugging Face config.json (or the same keys made from GGUF). */
#pragma once
#include <string>
#include <vector>

#include "architectures.h"
#include "json.h"

namespace tackroom {

/** Rotary embedding: base and frequency scaling of Llama 3.1 ("llama3") or a plain division of positions ("linear"). */
struct RopeConfig {
  enum class Scaling { None, Linear, Llama3 };
  double theta = 10000;
  Scaling scaling = Scaling::None;
  double factor = 1, low_freq_factor = 1, high_freq_factor = 4, original_context = 8192;
  bool operator==(const RopeConfig&) const = default;
};

/** The blocks of one layer. */
struct LayerKind {
  Mixer mixer = Mixer::Attention;
  Ffn ffn = Ffn::Dense;
  int window = 0;  // attention sees the last `window` tokens; 0: all
  int rope = 0;    // index into ModelConfig::ropes
};

struct ModelConfig {
  const Architecture* architecture = nullptr;
  int vocab = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, context = 0;
  float norm_eps = 1e-6f, norm_offset = 0, embedding_scale = 1, attention_scale = 1;
  bool tied = false;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  int conv_width = 0;  // taps of the short convolution
  int experts = 0, experts_used = 0, expert_ffn = 0;
  bool expert_bias = false, normalise_routing = true;
  float routing_scale = 1;
  std::vector<RopeConfig> ropes;
  std::vector<LayerKind> kinds;  // [layers]
  Json source;  // the document itself, kept for saving

  int q_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
  const LayerKind& kind(int layer) const { return kinds[static_cast<size_t>(layer)]; }
};

/**
 * Reads and checks a config. `origin` names the file in messages; `malformed` is the code for a missing or impossible
 * value (MODEL_CORRUPT for files, BAD_ARGUMENT for objects handed in). Unknown architectures, activations and RoPE kinds
 * throw MODEL_UNSUPPORTED and name what is unknown.
 */
ModelConfig parse_config(const Json& source, const std::string& origin, const char* malformed);

/** Inverse frequencies of a rotation, [head_dim / 2], scaled as the config says and divided by `factors` where given. */
std::vector<float> rope_frequencies(const RopeConfig& rope, int head_dim, const std::vector<float>& factors);

}  // namespace tackroom
