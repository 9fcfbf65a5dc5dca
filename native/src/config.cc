#include "config.h"

#include <cmath>

#include "error.h"
#include "kernels/kernels.h"

namespace tackroom {
namespace {

constexpr int kMostQueries = kAttentionRows;  // of a token and a key-value head: one block of attention

/** Typed access to one JSON object with the file's name in every message. */
class Reader {
 public:
  Reader(const Json& object, const std::string& origin, const char* malformed) : object_(object), origin_(origin), malformed_(malformed) {}

  int integer(const char* key, int fallback = 0) const {
    const Json* value = object_.find(key);
    const bool absent = value == nullptr || value->is(Json::Type::Null);
    if (absent && fallback > 0) return fallback;
    if (absent) fail(malformed_, "%s has no \"%s\".", origin_.c_str(), key);
    const double number = value->is(Json::Type::Number) ? value->number() : -1;
    if (!(number >= 1 && number <= 1 << 28) || number != std::floor(number))
      fail(malformed_, "\"%s\" in %s must be a positive whole number.", key, origin_.c_str());
    return static_cast<int>(number);
  }
  double real(const char* key, double fallback) const {
    const Json* value = object_.find(key);
    if (value == nullptr || value->is(Json::Type::Null)) return fallback;
    if (!value->is(Json::Type::Number) || !(value->number() > 0)) fail(malformed_, "\"%s\" in %s must be a positive number.", key, origin_.c_str());
    return value->number();
  }
  double real_or_zero(const char* key, double fallback) const {
    const Json* value = object_.find(key);
    return value != nullptr && value->is(Json::Type::Number) && value->number() == 0 ? 0 : real(key, fallback);
  }
  int integer_or_zero(const char* key) const {
    const Json* value = object_.find(key);
    return value == nullptr || (value->is(Json::Type::Number) && value->number() == 0) ? 0 : integer(key);
  }
  bool flag(const char* key, bool fallback) const {
    const Json* value = object_.find(key);
    if (value == nullptr || value->is(Json::Type::Null)) return fallback;
    if (!value->is(Json::Type::Bool)) fail(malformed_, "\"%s\" in %s must be true or false.", key, origin_.c_str());
    return value->boolean();
  }
  std::string text(const char* key, const char* fallback) const {
    const Json* value = object_.find(key);
    return value != nullptr && value->is(Json::Type::String) ? value->string() : fallback;
  }
  const Json* object(const char* key) const {
    const Json* value = object_.find(key);
    return value != nullptr && value->is(Json::Type::Object) ? value : nullptr;
  }
  bool present(const char* key) const {
    const Json* value = object_.find(key);
    return value != nullptr && !value->is(Json::Type::Null);
  }
  [[noreturn]] void malformed(const char* what) const { fail(malformed_, "%s %s.", origin_.c_str(), what); }

 private:
  const Json& object_;
  const std::string& origin_;
  const char* malformed_;
};

RopeConfig parse_rope(const Json& source, double theta, const std::string& origin, const char* malformed) {
  const Reader reader(source, origin, malformed);
  RopeConfig rope;
  rope.theta = reader.real("rope_theta", theta);
  const std::string type = reader.text("rope_type", reader.text("type", "default").c_str());
  if (type == "default") return rope;
  if (type != "llama3" && type != "linear")
    fail("MODEL_UNSUPPORTED", "%s uses the RoPE type \"%s\"; this engine knows default, linear and llama3.", origin.c_str(), type.c_str());
  rope.scaling = type == "linear" ? RopeConfig::Scaling::Linear : RopeConfig::Scaling::Llama3;
  rope.factor = reader.real("factor", 1);
  rope.low_freq_factor = reader.real("low_freq_factor", 1);
  rope.high_freq_factor = reader.real("high_freq_factor", 4);
  rope.original_context = reader.real("original_max_position_embeddings", 8192);
  return rope;
}

/** transformers 5 nests everything in rope_parameters, by layer type for gemma3; earlier files have rope_theta beside rope_scaling. */
void parse_ropes(ModelConfig& config, const Json& source, const std::string& origin, const char* malformed) {
  const Reader reader(source, origin, malformed);
  const bool local = config.architecture->sliding_window;
  const double theta = reader.real("rope_theta", local ? 1e6 : config.architecture->short_conv ? 1e6 : 10000);
  const Json* rope = reader.object("rope_parameters");
  if (rope != nullptr && rope->find("full_attention") != nullptr) {
    config.ropes = {parse_rope(*rope->find("full_attention"), theta, origin, malformed)};
    const Json* sliding = rope->find("sliding_attention");
    if (sliding != nullptr) config.ropes.push_back(parse_rope(*sliding, 10000, origin, malformed));
  } else {
    if (rope == nullptr) rope = reader.object("rope_scaling");
    config.ropes = {parse_rope(rope == nullptr ? Json::object() : *rope, theta, origin, malformed)};
  }
  if (local && config.ropes.size() == 1) {
    RopeConfig sliding;
    sliding.theta = reader.real("rope_local_base_freq", 10000);
    config.ropes.push_back(sliding);
  }
}

/** Kinds by layer_types where the file has them, else by the older keys (full_attn_idxs, sliding_window_pattern). */
void parse_layers(ModelConfig& config, const Json& source, const std::string& origin, const char* malformed) {
  const Reader reader(source, origin, malformed);
  const Architecture& arch = *config.architecture;
  const Json *types = source.find("layer_types"), *full = source.find("full_attn_idxs");
  const bool typed = types != nullptr && types->is(Json::Type::Array);
  if (typed && types->items().size() != static_cast<size_t>(config.layers)) reader.malformed("has another number of layer_types than layers");
  const int window = arch.sliding_window ? reader.integer("sliding_window", 4096) : 0;
  const int pattern = arch.sliding_window ? reader.integer("sliding_window_pattern", reader.integer("_sliding_window_pattern", 6)) : 0;
  const int dense = arch.experts ? reader.integer_or_zero("num_dense_layers") : 0;
  for (int l = 0; l < config.layers; l++) {
    LayerKind kind;
    std::string type = "full_attention";
    if (typed) {
      const Json& entry = types->items()[static_cast<size_t>(l)];
      if (!entry.is(Json::Type::String)) reader.malformed("has layer_types that are not names");
      type = entry.string();
    } else if (arch.short_conv) {
      type = "conv";
      if (full == nullptr || !full->is(Json::Type::Array)) reader.malformed("has neither layer_types nor full_attn_idxs");
      for (const Json& index : full->items())
        if (index.is(Json::Type::Number) && index.number() == l) type = "full_attention";
    } else if (arch.sliding_window && (l + 1) % pattern != 0) {
      type = "sliding_attention";
    }
    if (type == "conv" && arch.short_conv) kind.mixer = Mixer::ShortConv;
    else if (type == "sliding_attention" && arch.sliding_window) kind.window = window, kind.rope = 1;
    else if (type != "full_attention") fail("MODEL_UNSUPPORTED", "%s has layers of the type \"%s\", which %s does not have here.", origin.c_str(), type.c_str(), arch.model_type);
    if (arch.experts && l >= dense) kind.ffn = Ffn::Experts;
    config.kinds.push_back(kind);
  }
}

/** The lfm2 configs give a nominal width that the model rounds (transformers, Lfm2MLP). */
int lfm2_width(const Reader& reader, int width) {
  if (!reader.flag("block_auto_adjust_ff_dim", true)) return width;
  const int multiple = reader.integer("block_multiple_of", 256);
  const double scaled = reader.real("block_ffn_dim_multiplier", 1) * (2 * width / 3);
  return (static_cast<int>(scaled) + multiple - 1) / multiple * multiple;
}

void refuse_unsupported(const ModelConfig& config, const Reader& reader) {
  const std::string activation = reader.text("hidden_act", reader.text("hidden_activation", config.architecture->activation == Activation::Silu ? "silu" : "gelu_pytorch_tanh").c_str());
  const bool fits = config.architecture->activation == Activation::Silu ? activation == "silu" : activation == "gelu_pytorch_tanh";
  if (!fits) fail("MODEL_UNSUPPORTED", "The activation \"%s\" is not supported for %s.", activation.c_str(), config.architecture->model_type);
  if (!config.architecture->sliding_window && reader.flag("use_sliding_window", false)) fail("MODEL_UNSUPPORTED", "Sliding-window attention is not supported for %s.", config.architecture->model_type);
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"})
    if (reader.present(key)) fail("MODEL_UNSUPPORTED", "The config asks for \"%s\", which this engine does not have.", key);
  if (reader.flag("use_bidirectional_attention", false)) fail("MODEL_UNSUPPORTED", "Bidirectional attention is not supported.");
  if (reader.flag("conv_bias", false)) fail("MODEL_UNSUPPORTED", "Short convolutions with a bias are not supported.");
}

void parse_experts(ModelConfig& config, const Reader& reader) {
  config.experts = reader.integer("num_experts");
  config.experts_used = reader.integer("num_experts_per_tok");
  config.expert_ffn = reader.integer("moe_intermediate_size");
  config.expert_bias = reader.flag("use_expert_bias", true);
  config.normalise_routing = reader.flag("norm_topk_prob", true);
  config.routing_scale = static_cast<float>(reader.real("routed_scaling_factor", 1));
  if (config.experts > 4096 || config.experts_used > config.experts) reader.malformed("has an impossible number of experts");
}

}  // namespace

ModelConfig parse_config(const Json& source, const std::string& origin, const char* malformed) {
  if (!source.is(Json::Type::Object)) fail(malformed, "%s is not a JSON object.", origin.c_str());
  const Reader reader(source, origin, malformed);
  const std::string type = reader.text("model_type", "");
  if (type.empty()) fail(malformed, "%s has no \"model_type\".", origin.c_str());
  ModelConfig config;
  config.source = source;
  config.architecture = find_architecture(type);
  if (config.architecture == nullptr)
    fail("MODEL_UNSUPPORTED", "The architecture \"%s\" is not supported; this engine runs %s.", type.c_str(), architecture_names().c_str());
  const Architecture& arch = *config.architecture;
  const bool llama = type == "llama", qwen2 = type == "qwen2";
  refuse_unsupported(config, reader);

  config.vocab = reader.integer("vocab_size");
  config.hidden = reader.integer("hidden_size");
  config.layers = reader.integer("num_hidden_layers");
  config.heads = reader.integer("num_attention_heads");
  config.kv_heads = reader.integer("num_key_value_heads", config.heads);
  config.ffn = reader.integer("intermediate_size", reader.present("block_ff_dim") ? reader.integer("block_ff_dim") : 0);
  if (type == "lfm2") config.ffn = lfm2_width(reader, config.ffn);
  if (config.layers > 4096) reader.malformed("has an impossible \"num_hidden_layers\"");
  config.context = reader.integer("max_position_embeddings", 2048);
  if (!reader.present("head_dim") && config.hidden % config.heads != 0) reader.malformed("has a hidden_size that is no multiple of num_attention_heads");
  config.head_dim = reader.present("head_dim") ? reader.integer("head_dim") : arch.sliding_window ? 256 : config.hidden / config.heads;
  if (config.heads % config.kv_heads != 0) reader.malformed("has a num_attention_heads that is no multiple of num_key_value_heads");
  if (config.heads / config.kv_heads > kMostQueries) reader.malformed("has more than 96 attention heads for each of its key-value heads");
  if (config.head_dim % 2 != 0) reader.malformed("has an odd head dimension");
  config.norm_eps = static_cast<float>(reader.real("rms_norm_eps", reader.real("norm_eps", arch.short_conv ? 1e-5 : 1e-6)));
  config.norm_offset = static_cast<float>(reader.real_or_zero("tackroom_norm_offset", arch.norm_offset));
  if (arch.scaled_embedding) config.embedding_scale = std::sqrt(static_cast<float>(config.hidden));
  const double query_scalar = arch.sliding_window ? reader.real("query_pre_attn_scalar", 256) : config.head_dim;
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(query_scalar));
  config.tied = reader.flag("tie_word_embeddings", reader.flag("tie_embedding", arch.scaled_embedding || arch.short_conv));
  const bool attention_bias = !qwen2 && reader.flag("attention_bias", false);
  config.qkv_bias = qwen2 || attention_bias;
  config.output_bias = attention_bias;
  config.mlp_bias = llama && reader.flag("mlp_bias", false);
  if (arch.short_conv) config.conv_width = reader.integer("conv_L_cache", 3);
  if (config.conv_width > 64) reader.malformed("has an impossible conv_L_cache");
  if (arch.experts) parse_experts(config, reader);
  parse_layers(config, source, origin, malformed);
  parse_ropes(config, source, origin, malformed);
  return config;
}

std::vector<float> rope_frequencies(const RopeConfig& rope, int head_dim, const std::vector<float>& factors) {
  std::vector<float> frequencies;
  for (int i = 0; i < head_dim / 2; i++) {
    double f = std::pow(rope.theta, -2.0 * i / head_dim);
    if (rope.scaling == RopeConfig::Scaling::Linear) f /= rope.factor;
    if (rope.scaling == RopeConfig::Scaling::Llama3) {
      // transformers modeling_rope_utils, "llama3": long waves divided by the factor, a linear blend in between.
      const double turns = rope.original_context * f / (2 * M_PI);
      if (turns < rope.low_freq_factor) f /= rope.factor;
      else if (turns <= rope.high_freq_factor) {
        const double blend = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
        f = (1 - blend) * f / rope.factor + blend * f;
      }
    }
    if (!factors.empty()) f /= factors[static_cast<size_t>(i)];
    frequencies.push_back(static_cast<float>(f));
  }
  return frequencies;
}

}  // namespace tackroom
