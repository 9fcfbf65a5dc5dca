#include "gguf_names.h"

#include <cstring>

namespace tackroom {
namespace {

#define COMMON_ATTENTION {"attn_q", "self_attn.q_proj"}, {"attn_k", "self_attn.k_proj"}, {"attn_v", "self_attn.v_proj"}
#define COMMON_MLP {"ffn_gate", "mlp.gate_proj"}, {"ffn_up", "mlp.up_proj"}, {"ffn_down", "mlp.down_proj"}
#define QK_NORM {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"}
#define LFM2_BLOCK                                                                                                                        \
  COMMON_ATTENTION, {"attn_output", "self_attn.out_proj"}, {"attn_q_norm", "self_attn.q_layernorm"}, {"attn_k_norm", "self_attn.k_layernorm"}, \
      {"attn_norm", "operator_norm"}, {"ffn_norm", "ffn_norm"}, {"shortconv.conv", "conv.conv"}, {"shortconv.in_proj", "conv.in_proj"},      \
      {"shortconv.out_proj", "conv.out_proj"}, {"ffn_gate", "feed_forward.w1"}, {"ffn_up", "feed_forward.w3"}, {"ffn_down", "feed_forward.w2"}

constexpr GgufNamePair kLlama[] = {COMMON_ATTENTION,
                                   COMMON_MLP,
                                   {"attn_output", "self_attn.o_proj"},
                                   {"attn_norm", "input_layernorm"},
                                   {"ffn_norm", "post_attention_layernorm"},
                                   {nullptr, nullptr}};
constexpr GgufNamePair kQwen3[] = {COMMON_ATTENTION,
                                   COMMON_MLP,
                                   QK_NORM,
                                   {"attn_output", "self_attn.o_proj"},
                                   {"attn_norm", "input_layernorm"},
                                   {"ffn_norm", "post_attention_layernorm"},
                                   {nullptr, nullptr}};
constexpr GgufNamePair kGemma3[] = {COMMON_ATTENTION,
                                    COMMON_MLP,
                                    QK_NORM,
                                    {"attn_output", "self_attn.o_proj"},
                                    {"attn_norm", "input_layernorm"},
                                    {"post_attention_norm", "post_attention_layernorm"},
                                    {"ffn_norm", "pre_feedforward_layernorm"},
                                    {"post_ffw_norm", "post_feedforward_layernorm"},
                                    {nullptr, nullptr}};
constexpr GgufNamePair kLfm2[] = {LFM2_BLOCK, {nullptr, nullptr}};
constexpr GgufNamePair kLfm2Moe[] = {LFM2_BLOCK,
                                     {"ffn_gate_inp", "feed_forward.gate"},
                                     {"exp_probs_b", "feed_forward.expert_bias"},
                                     {"ffn_gate_exps", "feed_forward.experts:w1"},
                                     {"ffn_up_exps", "feed_forward.experts:w3"},
                                     {"ffn_down_exps", "feed_forward.experts:w2"},
                                     {nullptr, nullptr}};

#undef COMMON_ATTENTION
#undef COMMON_MLP
#undef QK_NORM
#undef LFM2_BLOCK

constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "LlamaForCausalLM", kLlama, "output_norm", "model.norm", true},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", kLlama, "output_norm", "model.norm", false},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", kQwen3, "output_norm", "model.norm", false},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", kGemma3, "output_norm", "model.norm", false},
    {"lfm2", "lfm2", "Lfm2ForCausalLM", kLfm2, "token_embd_norm", "model.embedding_norm", false},
    {"lfm2moe", "lfm2_moe", "Lfm2MoeForCausalLM", kLfm2Moe, "token_embd_norm", "model.embedding_norm", false},
};

/** "12.attn_q" -> 12 and "attn_q"; numbers with leading zeros are not names. -1: no number. */
int split_block(std::string_view rest, std::string_view& kind) {
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot > 4 || (dot > 1 && rest[0] == '0')) return -1;
  int number = 0;
  for (const char c : rest.substr(0, dot)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  kind = rest.substr(dot + 1);
  return number;
}

}  // namespace

const GgufArchitecture& gguf_architecture(const GgufFile& file) {
  const auto name = file.text("general.architecture");
  if (!name) file.corrupt("names no architecture");
  for (const GgufArchitecture& architecture : kArchitectures)
    if (*name == architecture.gguf) return architecture;
  file.unsupported("holds a model of the architecture " + printable(*name) + "; this engine runs llama, qwen2, qwen3, gemma3, lfm2 and lfm2moe");
}

std::optional<GgufPlace> gguf_place(const GgufArchitecture& architecture, std::string_view name, int layers) {
  if (name == "token_embd") return GgufPlace{"model.embed_tokens", "", name};
  if (name == "output") return GgufPlace{"lm_head", "", name};
  if (name == architecture.final_norm_gguf || name == "output_norm") return GgufPlace{architecture.final_norm, "", name};
  if (!name.starts_with("blk.")) return std::nullopt;
  std::string_view kind;
  const int block = split_block(name.substr(4), kind);
  if (block < 0 || block >= layers) return std::nullopt;
  for (const GgufNamePair* pair = architecture.block; pair->gguf != nullptr; pair++) {
    if (kind != pair->gguf) continue;
    const char* colon = std::strchr(pair->hf, ':');
    const std::string module = colon == nullptr ? pair->hf : std::string(pair->hf, colon);
    return GgufPlace{"model.layers." + std::to_string(block) + "." + module, colon == nullptr ? "" : colon + 1, kind};
  }
  return std::nullopt;
}

}  // namespace tackroom
