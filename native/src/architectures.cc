#include "architectures.h"

namespace tackroom {
namespace {

constexpr BlockNames kLlamaNames = {
    "input_layernorm", nullptr, "post_attention_layernorm", nullptr,
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm",
    nullptr, nullptr, nullptr,
    "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
    nullptr, nullptr, nullptr};

constexpr BlockNames kGemmaNames = {
    "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm",
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm",
    nullptr, nullptr, nullptr,
    "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
    nullptr, nullptr, nullptr};

constexpr BlockNames kLfmNames = {
    "operator_norm", nullptr, "ffn_norm", nullptr,
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj", "self_attn.q_layernorm", "self_attn.k_layernorm",
    "conv.in_proj", "conv.conv", "conv.out_proj",
    "feed_forward.w1", "feed_forward.w3", "feed_forward.w2",
    "feed_forward.gate", "feed_forward.expert_bias", "feed_forward.experts"};

//  model_type     class                   attention conv   dense experts qk_norm window activation            norm+ scaled final norm        names
constexpr Architecture kArchitectures[] = {
    {"llama", "LlamaForCausalLM", true, false, true, false, false, false, Activation::Silu, 0, false, "norm", kLlamaNames},
    {"qwen2", "Qwen2ForCausalLM", true, false, true, false, false, false, Activation::Silu, 0, false, "norm", kLlamaNames},
    {"qwen3", "Qwen3ForCausalLM", true, false, true, false, true, false, Activation::Silu, 0, false, "norm", kLlamaNames},
    {"lfm2", "Lfm2ForCausalLM", true, true, true, false, true, false, Activation::Silu, 0, false, "embedding_norm", kLfmNames},
    {"lfm2_moe", "Lfm2MoeForCausalLM", true, true, true, true, true, false, Activation::Silu, 0, false, "embedding_norm", kLfmNames},
    {"gemma3_text", "Gemma3ForCausalLM", true, false, true, false, true, true, Activation::GeluTanh, 1, true, "norm", kGemmaNames},
};

}  // namespace

const Architecture* find_architecture(const std::string& model_type) {
  const std::string wanted = model_type == "gemma3" ? "gemma3_text" : model_type;
  for (const Architecture& architecture : kArchitectures)
    if (wanted == architecture.model_type) return &architecture;
  return nullptr;
}

std::string architecture_names() {
  std::string text;
  for (const Architecture& architecture : kArchitectures) text += (text.empty() ? "" : ", ") + std::string(architecture.model_type);
  return text;
}

}  // namespace tackroom
