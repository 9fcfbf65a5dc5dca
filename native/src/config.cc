#include "config.h"

#include <cmath>

#include "error.h"

namespace tackroom {
namespace {

/** Typed access to one JSON object with the file's name in every message. */
class Reader {
 public:
  Reader(const Json& object, const std::string& origin, const char* malformed) : object_(object), origin_(origin), malformed_(malformed) {}

  int integer(const char* key, int fallback = 0) const {
    const Json* value = object_.find(key);
    if (value == nullptr && fallback > 0) return fallback;
    if (value == nullptr) fail(malformed_, "%s has no \"%s\".", origin_.c_str(), key);
    const double number = value->is(Json::Type::Number) ? value->number() : -1;
    if (!(number >= 1 && number <= 1 << 28) || number != std::floor(number))
      fail(malformed_, "\"%s\" in %s must be a positive whole number.", key, origin_.c_str());
    return static_cast<int>(number);
  }
  double real(const char* key, double fallback) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return fallback;
    if (!value->is(Json::Type::Number) || !(value->number() > 0)) fail(malformed_, "\"%s\" in %s must be a positive number.", key, origin_.c_str());
    return value->number();
  }
  bool flag(const char* key, bool fallback) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return fallback;
    if (!value->is(Json::Type::Bool)) fail(malformed_, "\"%s\" in %s must be true or false.", key, origin_.c_str());
    return value->boolean();
  }
  std::string text(const char* key, const char* fallback) const {
    const Json* value = object_.find(key);
    return value != nullptr && value->is(Json::Type::String) ? value->string() : fallback;
  }

 private:
  const Json& object_;
  const std::string& origin_;
  const char* malformed_;
};

void parse_rope(ModelConfig& config, const Json& source, const std::string& origin, const char* malformed) {
  // transformers 5 nests everything in rope_parameters; earlier files have rope_theta beside rope_scaling.
  config.rope_theta = Reader(source, origin, malformed).real("rope_theta", 10000);
  const Json* rope = source.find("rope_parameters");
  if (rope == nullptr) rope = source.find("rope_scaling");
  if (rope == nullptr) return;
  const Reader reader(*rope, origin, malformed);
  config.rope_theta = reader.real("rope_theta", config.rope_theta);
  const std::string type = reader.text("rope_type", reader.text("type", "default").c_str());
  RopeScaling& scaling = config.rope_scaling;
  if (type == "default") return;
  if (type != "llama3" && type != "linear")
    fail("MODEL_UNSUPPORTED", "%s uses the RoPE type \"%s\"; this engine knows default, linear and llama3.", origin.c_str(), type.c_str());
  scaling.type = type == "linear" ? RopeScaling::Type::Linear : RopeScaling::Type::Llama3;
  scaling.factor = reader.real("factor", 1);
  scaling.low_freq_factor = reader.real("low_freq_factor", 1);
  scaling.high_freq_factor = reader.real("high_freq_factor", 4);
  scaling.original_context = reader.real("original_max_position_embeddings", 8192);
}

}  // namespace

ModelConfig parse_config(const Json& source, const std::string& origin, const char* malformed) {
  if (!source.is(Json::Type::Object)) fail(malformed, "%s is not a JSON object.", origin.c_str());
  const Reader reader(source, origin, malformed);
  ModelConfig config;
  config.source = source;
  config.architecture = reader.text("model_type", "");
  const bool llama = config.architecture == "llama", qwen2 = config.architecture == "qwen2", qwen3 = config.architecture == "qwen3";
  if (config.architecture.empty()) fail(malformed, "%s has no \"model_type\".", origin.c_str());
  if (!llama && !qwen2 && !qwen3)
    fail("MODEL_UNSUPPORTED", "The architecture \"%s\" is not supported; this engine runs llama, qwen2 and qwen3.", config.architecture.c_str());
  const std::string activation = reader.text("hidden_act", "silu");
  if (activation != "silu") fail("MODEL_UNSUPPORTED", "The activation \"%s\" is not supported; this engine runs silu.", activation.c_str());
  if (reader.flag("use_sliding_window", false)) fail("MODEL_UNSUPPORTED", "Sliding-window attention is not supported.");

  config.vocab = reader.integer("vocab_size");
  config.hidden = reader.integer("hidden_size");
  config.layers = reader.integer("num_hidden_layers");
  config.heads = reader.integer("num_attention_heads");
  config.kv_heads = reader.integer("num_key_value_heads", config.heads);
  config.ffn = reader.integer("intermediate_size");
  if (config.layers > 4096) fail(malformed, "\"num_hidden_layers\" in %s is impossible.", origin.c_str());
  config.context = reader.integer("max_position_embeddings", 2048);
  const Json* head_dim = source.find("head_dim");
  if (head_dim == nullptr && config.hidden % config.heads != 0)
    fail(malformed, "hidden_size in %s is no multiple of num_attention_heads.", origin.c_str());
  config.head_dim = head_dim != nullptr ? reader.integer("head_dim") : config.hidden / config.heads;
  if (config.heads % config.kv_heads != 0) fail(malformed, "num_attention_heads in %s is no multiple of num_key_value_heads.", origin.c_str());
  if (config.head_dim % 2 != 0) fail(malformed, "The head dimension in %s must be even.", origin.c_str());
  config.norm_eps = static_cast<float>(reader.real("rms_norm_eps", 1e-6));
  config.tied = reader.flag("tie_word_embeddings", false);
  const bool attention_bias = !qwen2 && reader.flag("attention_bias", false);
  config.qkv_bias = qwen2 || attention_bias;
  config.output_bias = attention_bias;
  config.mlp_bias = llama && reader.flag("mlp_bias", false);
  config.qk_norm = qwen3;
  parse_rope(config, source, origin, malformed);
  return config;
}

std::vector<float> rope_frequencies(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  std::vector<float> frequencies;
  for (int i = 0; i < config.head_dim / 2; i++) {
    double f = std::pow(config.rope_theta, -2.0 * i / config.head_dim);
    if (scaling.type == RopeScaling::Type::Linear) f /= scaling.factor;
    if (scaling.type == RopeScaling::Type::Llama3) {
      // transformers modeling_rope_utils, "llama3": long waves divided by the factor, a linear blend in between.
      const double turns = scaling.original_context * f / (2 * M_PI);
      if (turns < scaling.low_freq_factor) f /= scaling.factor;
      else if (turns <= scaling.high_freq_factor) {
        const double blend = (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
        f = (1 - blend) * f / scaling.factor + blend * f;
      }
    }
    frequencies.push_back(static_cast<float>(f));
  }
  return frequencies;
}

}  // namespace tackroom
