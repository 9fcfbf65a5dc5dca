/** Hugging Face configuration from GGUF metadata (keys: training.md, section B3; names of config.json: transformers 5). */
#include <algorithm>
#include <string>

#include "gguf_names.h"
#include "json.h"

namespace tackroom {
namespace {

constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMost = 1 << 28;

/** The keys below "{architecture}.". */
class Keys {
 public:
  Keys(const GgufFile& file, const GgufArchitecture& architecture) : file_(file), prefix_(std::string(architecture.gguf) + ".") {}

  std::string name(const char* key) const { return prefix_ + key; }
  bool has(const char* key) const { return file_.find(name(key)) != nullptr; }
  int64_t whole(const char* key, int64_t most = kMost) const { return check(key, file_.integer(name(key)), most); }
  int64_t whole_or(const char* key, int64_t fallback) const { return has(key) ? whole(key) : fallback; }
  double real_or(const char* key, double fallback) const {
    const double value = file_.real(name(key)).value_or(fallback);
    if (!(value > 0 && value < 1e12)) file_.corrupt("has an impossible " + name(key));
    return value;
  }
  /** A number, or a list of one number a layer whose entries other than 0 agree. */
  int64_t common(const char* key, std::vector<int64_t>* list = nullptr) const {
    const GgufFile::Value* value = file_.find(name(key));
    if (value == nullptr || value->type != 9) return whole(key);
    std::vector<int64_t> items = *file_.integers(name(key), kMostLayers);
    int64_t agreed = 0;
    for (const int64_t item : items) {
      if (item != 0 && agreed != 0 && item != agreed) file_.unsupported("has layers that differ in " + name(key));
      if (item != 0) agreed = item;
    }
    if (list != nullptr) *list = items;
    else if (std::count(items.begin(), items.end(), 0) != 0) file_.unsupported("has layers that differ in " + name(key));
    return check(key, agreed, kMost);
  }

 private:
  int64_t check(const char* key, std::optional<int64_t> value, int64_t most) const {
    if (!value) file_.corrupt("has no " + name(key));
    if (*value < 1 || *value > most) file_.corrupt("has an impossible " + name(key) + " of " + std::to_string(*value));
    return *value;
  }
  const GgufFile& file_;
  std::string prefix_;
};

Json rope_of(const GgufFile& file, const Keys& keys) {
  Json rope = Json::object();
  const std::string type = file.text(keys.name("rope.scaling.type")).value_or("none");
  rope.set("rope_type", type == "none" ? "default" : type.substr(0, 40));
  rope.set("rope_theta", keys.real_or("rope.freq_base", 10000));
  if (type != "none") {
    rope.set("factor", keys.real_or("rope.scaling.factor", 1));
    if (keys.has("rope.scaling.original_context_length"))
      rope.set("original_max_position_embeddings", keys.whole("rope.scaling.original_context_length"));
  }
  return rope;
}

void set_token(Json& config, const char* key, const std::vector<int64_t>& ids) {
  if (ids.size() == 1) config.set(key, ids[0]);
  if (ids.size() < 2) return;
  Json list = Json::array();
  for (const int64_t id : ids) list.items().push_back(id);
  config.set(key, list);
}

/** Ids of special tokens; files of models without one hold -1 or leave the key out. */
void set_tokens(Json& config, const GgufFile& file, int64_t vocab) {
  const auto ids = [&](std::initializer_list<const char*> names) {
    std::vector<int64_t> found;
    for (const char* name : names) {
      const int64_t id = file.integer(std::string("tokenizer.ggml.") + name).value_or(-1);
      if (id >= 0 && id < vocab && std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
    }
    return found;
  };
  set_token(config, "bos_token_id", ids({"bos_token_id"}));
  set_token(config, "eos_token_id", ids({"eos_token_id", "eot_token_id", "eom_token_id"}));
  set_token(config, "pad_token_id", ids({"padding_token_id"}));
}

void set_lfm2(Json& config, const GgufFile& file, const Keys& keys, const std::vector<int64_t>& kv_heads, int64_t layers, bool experts) {
  Json types = Json::array();
  for (int64_t i = 0; i < layers; i++) {
    const bool conv = kv_heads.empty() ? file.tensor("blk." + std::to_string(i) + ".shortconv.conv.weight") != nullptr : kv_heads[static_cast<size_t>(i)] == 0;
    types.items().push_back(conv ? "conv" : "full_attention");
  }
  config.set("layer_types", types);
  config.set("conv_L_cache", keys.whole("shortconv.l_cache", 64));
  config.set("conv_bias", file.tensor("blk.0.shortconv.conv.bias") != nullptr);
  config.set("norm_eps", *config.find("rms_norm_eps"));
  if (!experts) return config.set("block_auto_adjust_ff_dim", false);
  const int64_t dense = file.integer(keys.name("leading_dense_block_count")).value_or(0);
  if (dense < 0 || dense > layers) file.corrupt("has an impossible " + keys.name("leading_dense_block_count"));
  if (file.integer(keys.name("expert_gating_func")).value_or(2) != 2) file.unsupported("chooses its experts by another function than the sigmoid");
  config.set("num_dense_layers", dense);
  config.set("num_experts", keys.whole("expert_count", 4096));
  config.set("num_experts_per_tok", keys.whole("expert_used_count", 4096));
  config.set("moe_intermediate_size", keys.whole("expert_feed_forward_length"));
  config.set("norm_topk_prob", file.flag(keys.name("expert_weights_norm")).value_or(true));
  config.set("routed_scaling_factor", keys.real_or("expert_weights_scale", 1));
  config.set("use_expert_bias", file.tensor("blk." + std::to_string(dense) + ".exp_probs_b.bias") != nullptr);
}

/** Layers of gemma3: every n-th one sees everything, or a list of which do not. */
Json gemma_layer_types(const GgufFile& file, const Keys& keys, int64_t layers) {
  Json types = Json::array();
  const std::string key = keys.name("attention.sliding_window_pattern");
  const GgufFile::Value* pattern = file.find(key);
  std::vector<int64_t> list;
  int64_t every = 6;
  if (pattern != nullptr && pattern->type == 9) list = *file.integers(key, kMostLayers);
  else if (pattern != nullptr) every = keys.whole("attention.sliding_window_pattern", kMostLayers);
  if (pattern != nullptr && pattern->type == 9 && static_cast<int64_t>(list.size()) != layers) file.corrupt("has an entry of " + key + " for other layers than it has");
  for (int64_t i = 0; i < layers; i++) {
    const bool sliding = list.empty() ? (i + 1) % every != 0 : list[static_cast<size_t>(i)] != 0;
    types.items().push_back(sliding ? "sliding_attention" : "full_attention");
  }
  return types;
}

void set_gemma3(Json& config, const GgufFile& file, const Keys& keys, int64_t layers, int64_t head_dim) {
  // The largest model of the family scales by hidden / heads; it is the one with 62 layers.
  const double scalar = layers == 62 ? config.find("hidden_size")->number() / config.find("num_attention_heads")->number() : static_cast<double>(head_dim);
  Json rope = Json::object(), local = Json::object();
  local.set("rope_type", "default");
  local.set("rope_theta", keys.real_or("rope.freq_base_swa", 10000));
  rope.set("full_attention", *config.find("rope_parameters"));
  rope.set("sliding_attention", local);
  config.set("rope_parameters", rope);
  config.set("query_pre_attn_scalar", scalar);
  config.set("sliding_window", keys.whole("attention.sliding_window"));
  config.set("layer_types", gemma_layer_types(file, keys, layers));
  config.set("hidden_activation", "gelu_pytorch_tanh");
  if (keys.has("final_logit_softcapping")) config.set("final_logit_softcapping", keys.real_or("final_logit_softcapping", 0));
  config.set("tackroom_norm_offset", 0);  // the file's norm weights hold the 1 + w of the formula already
}

}  // namespace

int gguf_layers(const GgufFile& file, const GgufArchitecture& architecture) {
  return static_cast<int>(Keys(file, architecture).whole("block_count", kMostLayers));
}

Json gguf_config(const GgufFile& file, const GgufArchitecture& architecture) {
  const Keys keys(file, architecture);
  const std::string type = architecture.model_type;
  const bool lfm2 = type == "lfm2" || type == "lfm2_moe", gemma3 = type == "gemma3_text";
  const GgufFile::Tensor* embedding = file.tensor("token_embd.weight");
  if (embedding == nullptr || embedding->dims != 2) file.corrupt("has no tensor token_embd.weight, a matrix");
  if (file.integer(keys.name("expert_count")).value_or(0) > 0 && type != "lfm2_moe") file.unsupported("is a mixture of experts of the architecture " + type);
  const int64_t layers = gguf_layers(file, architecture), hidden = keys.whole("embedding_length"), heads = keys.whole("attention.head_count");
  std::vector<int64_t> kv_heads_by_layer;
  const int64_t kv_heads = keys.has("attention.head_count_kv") ? keys.common("attention.head_count_kv", lfm2 ? &kv_heads_by_layer : nullptr) : heads;
  if (!kv_heads_by_layer.empty() && static_cast<int64_t>(kv_heads_by_layer.size()) != layers)
    file.corrupt("has an entry of " + keys.name("attention.head_count_kv") + " for other layers than it has");
  const int64_t head_dim = keys.has("attention.key_length") ? keys.whole("attention.key_length") : std::max<int64_t>(hidden / heads, 1);
  if (keys.whole_or("attention.value_length", head_dim) != head_dim) file.unsupported("has values of another width than its keys");
  if (keys.whole_or("rope.dimension_count", head_dim) != head_dim) file.unsupported("rotates a part of each head only");

  Json config = Json::object(), classes = Json::array();
  classes.items().push_back(architecture.class_name);
  config.set("architectures", classes);
  config.set("model_type", architecture.model_type);
  config.set("vocab_size", embedding->extents[0]);
  config.set("hidden_size", hidden);
  config.set("intermediate_size", keys.common("feed_forward_length"));
  config.set("num_hidden_layers", layers);
  config.set("num_attention_heads", heads);
  config.set("num_key_value_heads", kv_heads);
  config.set("head_dim", head_dim);
  config.set("max_position_embeddings", keys.whole("context_length"));
  config.set("rms_norm_eps", keys.real_or("attention.layer_norm_rms_epsilon", 1e-6));
  config.set("tie_word_embeddings", file.tensor("output.weight") == nullptr);
  config.set("rope_parameters", rope_of(file, keys));
  if (!lfm2 && !gemma3) config.set("hidden_act", "silu");
  if (type == "llama" || type == "qwen3" || gemma3) config.set("attention_bias", file.tensor("blk.0.attn_q.bias") != nullptr);
  if (type == "llama") config.set("mlp_bias", file.tensor("blk.0.ffn_gate.bias") != nullptr);
  set_tokens(config, file, embedding->extents[0]);
  if (lfm2) set_lfm2(config, file, keys, kv_heads_by_layer, layers, type == "lfm2_moe");
  if (gemma3) set_gemma3(config, file, keys, layers, head_dim);
  return config;
}

}  // namespace tackroom
