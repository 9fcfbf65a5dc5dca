/** Which architecture is built of which blocks, and what it calls their tensors. */
#pragma once
#include <string>

namespace tackroom {

/** What mixes tokens in a layer, and what follows it. */
enum class Mixer { Attention, ShortConv };
enum class Ffn { Dense, Experts };
enum class Activation { Silu, GeluTanh };

/** Names below `model.layers.N.`; null where the architecture has no such tensor. */
struct BlockNames {
  const char *mixer_norm, *mixer_post_norm, *ffn_norm, *ffn_post_norm;
  const char *q, *k, *v, *o, *q_norm, *k_norm;
  const char *conv_in, *conv_kernel, *conv_out;
  const char *gate, *up, *down;
  const char *router, *expert_bias, *experts;
};

struct Architecture {
  const char* model_type;  // of config.json
  const char* auto_class;  // written where a config names none
  /** Layers may be attention, short convolutions (by layer_types), dense or mixtures of experts. */
  bool attention, short_conv, dense, experts;
  bool qk_norm, sliding_window;
  Activation activation;
  float norm_offset;      // norms multiply by offset + w
  bool scaled_embedding;  // by sqrt(hidden)
  const char* final_norm;
  BlockNames names;
};

/** Null for an architecture the engine does not know. */
const Architecture* find_architecture(const std::string& model_type);
/** "llama, qwen2, ..." for messages. */
std::string architecture_names();

}  // namespace tackroom
