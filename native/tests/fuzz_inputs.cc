#include "fuzz_inputs.h"

#include "quants.h"

namespace tackroom {
namespace {

/** Repeatable bytes that are finite in every float type: exponents stay small. */
std::string filler(size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; i++) out[i] = static_cast<char>((i * 37 + 11) % 64);
  return out;
}

SafeTensor safe(const std::string& name, std::vector<int64_t> shape, const char* dtype = "F32") {
  size_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
  return {name, dtype, std::move(shape), filler(elements * (std::string(dtype) == "F32" ? 4 : 2))};
}

void add(GgufBuilder& file, const std::string& name, std::vector<uint64_t> ne, TensorType type = TensorType::F32) {
  const QuantFormat& format = *quant_format(type);
  size_t elements = 1;
  for (const uint64_t extent : ne) elements *= extent;
  file.tensor(name, ne, type, filler(elements / static_cast<size_t>(format.block) * static_cast<size_t>(format.bytes)));
}

constexpr const char* kLlamaConfig =
    R"({"model_type":"llama","vocab_size":24,"hidden_size":8,"intermediate_size":12,"num_hidden_layers":1,"num_attention_heads":2,)"
    R"("num_key_value_heads":1,"max_position_embeddings":64,"rms_norm_eps":1e-5,"rope_parameters":{"rope_type":"default","rope_theta":10000.0},)"
    R"("tie_word_embeddings":true,"eos_token_id":[2,3],"name":"\u00e9\ud83d\ude00"})";

std::vector<SafeTensor> llama_tensors() {
  std::vector<SafeTensor> tensors{safe("model.embed_tokens.weight", {24, 8}, "BF16"), safe("model.norm.weight", {8})};
  const std::string layer = "model.layers.0.";
  for (const char* name : {"input_layernorm", "post_attention_layernorm"}) tensors.push_back(safe(layer + name + ".weight", {8}));
  for (const char* name : {"q_proj", "o_proj"}) tensors.push_back(safe(layer + "self_attn." + name + ".weight", {8, 8}, "F16"));
  for (const char* name : {"k_proj", "v_proj"}) tensors.push_back(safe(layer + "self_attn." + name + ".weight", {4, 8}));
  for (const char* name : {"gate_proj", "up_proj"}) tensors.push_back(safe(layer + "mlp." + name + ".weight", {12, 8}));
  tensors.push_back(safe(layer + "mlp.down_proj.weight", {8, 12}));
  return tensors;
}

std::vector<FuzzInput> folders() {
  FuzzInput one, shards, experts;
  one.files = {{"config.json", kLlamaConfig}, {"model.safetensors", safetensors_file(llama_tensors())}};
  const auto all = llama_tensors();
  const std::vector<SafeTensor> first(all.begin(), all.begin() + 5), second(all.begin() + 5, all.end());
  std::string index = R"({"metadata":{"total_size":1},"weight_map":{)";
  for (size_t i = 0; i < all.size(); i++) index += (i == 0 ? "\"" : ",\"") + all[i].name + "\":\"model-" + (i < 5 ? "1" : "2") + ".safetensors\"";
  shards.files = {{"config.json", kLlamaConfig},
                  {"model.safetensors.index.json", index + "}}"},
                  {"model-1.safetensors", safetensors_file(first)},
                  {"model-2.safetensors", safetensors_file(second)}};
  experts.files = {{"config.json", R"({"model_type":"lfm2_moe","num_experts":3,"hidden_size":8,"layer_types":["conv"],"num_hidden_layers":1})"},
                   {"model.safetensors", safetensors_file({safe("model.embed_tokens.weight", {24, 8}), safe("model.layers.0.feed_forward.experts.gate_up_proj", {3, 12, 8}),
                                                           safe("model.layers.0.feed_forward.experts.down_proj", {3, 8, 6}, "BF16"),
                                                           safe("model.layers.0.feed_forward.gate.weight", {3, 8})})}};
  return {one, shards, experts};
}

GgufBuilder metadata(const std::string& arch) {
  GgufBuilder file;
  file.text("general.architecture", arch).text("general.type", "model").u32(arch + ".block_count", 1).u32(arch + ".context_length", 64);
  file.u32(arch + ".embedding_length", 64).u32(arch + ".feed_forward_length", 256).u32(arch + ".attention.head_count", 2);
  file.f32(arch + ".attention.layer_norm_rms_epsilon", 1e-5f).f32(arch + ".rope.freq_base", 1e4f).u32(arch + ".attention.key_length", 32);
  file.texts("tokenizer.ggml.tokens", {"a", "b", "<|end|>"}).u32("tokenizer.ggml.eos_token_id", 2).flag("tokenizer.ggml.add_bos_token", false);
  file.u32("general.alignment", 32);
  return file;
}

void add_attention(GgufBuilder& file, TensorType type) {
  add(file, "blk.0.attn_q.weight", {64, 64}, type);
  add(file, "blk.0.attn_k.weight", {64, 32}, type);
  add(file, "blk.0.attn_v.weight", {64, 32}, TensorType::Q8_0);
  add(file, "blk.0.attn_output.weight", {64, 64}, TensorType::F16);
  add(file, "blk.0.attn_norm.weight", {64});
  add(file, "blk.0.ffn_norm.weight", {64});
}

FuzzInput finished(const GgufBuilder& file, const std::string& model_type = "llama") {
  FuzzInput input;
  input.files["input.gguf"] = file.build();
  input.fields["input.gguf"] = file.fields();
  input.model_type = model_type;
  return input;
}

std::vector<FuzzInput> ggufs() {
  std::vector<FuzzInput> inputs;
  for (const std::string arch : {"llama", "gemma3", "lfm2moe"}) {
    GgufBuilder file = metadata(arch);
    if (arch == "lfm2moe") {
      file.u32s(arch + ".attention.head_count_kv", {1}).u32(arch + ".shortconv.l_cache", 3).u32(arch + ".expert_count", 3);
      file.u32(arch + ".expert_used_count", 2).u32(arch + ".expert_feed_forward_length", 32).u32(arch + ".expert_gating_func", 2);
    } else file.u32(arch + ".attention.head_count_kv", 1);
    if (arch == "gemma3") file.u32(arch + ".attention.sliding_window", 16);
    add(file, "token_embd.weight", {64, 24}, TensorType::Q5_1);
    add(file, arch == "lfm2moe" ? "token_embd_norm.weight" : "output_norm.weight", {64});
    add_attention(file, arch == "llama" ? TensorType::Q4_0 : TensorType::IQ4_NL);
    if (arch == "lfm2moe") {
      add(file, "blk.0.ffn_gate_exps.weight", {64, 32, 3}, TensorType::Q4_1);
      add(file, "blk.0.ffn_up_exps.weight", {64, 32, 3}, TensorType::Q5_0);
      add(file, "blk.0.ffn_down_exps.weight", {32, 64, 3});
      add(file, "blk.0.exp_probs_b.bias", {3});
      add(file, "blk.0.shortconv.conv.weight", {3, 64});
    } else {
      add(file, "blk.0.ffn_gate.weight", {64, 256}, TensorType::BF16);
      add(file, "blk.0.ffn_down.weight", {256, 64}, arch == "llama" ? TensorType::Q4_K : TensorType::Q6_K);
      add(file, "blk.0.ffn_up.weight", {256, 2}, arch == "llama" ? TensorType::IQ4_XS : TensorType::Q3_K);
      if (arch == "llama") add(file, "rope_freqs.weight", {16});
    }
    inputs.push_back(finished(file));
  }
  return inputs;
}

constexpr const char* kAdapterConfig =
    R"({"peft_type":"LORA","r":2,"lora_alpha":4,"bias":"none","target_modules":["q_proj","up_proj"],"use_rslora":false,"rank_pattern":{},)"
    R"("alpha_pattern":{},"modules_to_save":null,"target_parameters":null,"task_type":"CAUSAL_LM"})";

std::vector<FuzzInput> peft_folders() {
  const std::string layer = "base_model.model.model.layers.0.";
  FuzzInput plain, experts;
  plain.files = {{"adapter_config.json", kAdapterConfig},
                 {"adapter_model.safetensors",
                  safetensors_file({safe(layer + "self_attn.q_proj.lora_A.weight", {2, 8}), safe(layer + "self_attn.q_proj.lora_B.weight", {8, 2}),
                                    safe(layer + "mlp.up_proj.lora_A.weight", {2, 8}, "BF16"), safe(layer + "mlp.up_proj.lora_B.weight", {12, 2}, "F16")})}};
  const std::string stack = layer + "feed_forward.experts.";
  experts.files = {{"adapter_config.json",
                    R"({"peft_type":"LORA","r":2,"lora_alpha":4,"target_parameters":["feed_forward.experts.down_proj","feed_forward.experts.gate_up_proj"]})"},
                   {"adapter_model.safetensors",
                    safetensors_file({safe(stack + "base_layer.lora_A.weight", {6, 6}), safe(stack + "base_layer.lora_B.weight", {8, 6}),
                                      safe(stack + "lora_A.weight", {6, 8}), safe(stack + "lora_B.weight", {12, 6})})}};
  return {plain, experts};
}

std::vector<FuzzInput> lora_files() {
  const auto start = [](const char* arch) {
    GgufBuilder file;
    file.text("general.architecture", arch).text("general.type", "adapter").text("adapter.type", "lora").f32("adapter.lora.alpha", 8);
    return file;
  };
  GgufBuilder llama = start("llama"), experts = start("lfm2moe");
  add(llama, "blk.0.attn_q.weight.lora_a", {64, 4});
  add(llama, "blk.0.attn_q.weight.lora_b", {4, 64}, TensorType::F16);
  add(llama, "blk.0.ffn_up.weight.lora_a", {64, 4}, TensorType::Q8_0);
  add(llama, "blk.0.ffn_up.weight.lora_b", {4, 96});
  for (const char* name : {"gate", "up", "down"}) {
    const bool down = name[0] == 'd';
    add(experts, std::string("blk.0.ffn_") + name + "_exps.weight.lora_a", {down ? 8u : 16u, 4, 3});
    add(experts, std::string("blk.0.ffn_") + name + "_exps.weight.lora_b", {4, down ? 16u : 8u, 3});
  }
  return {finished(llama), finished(experts, "lfm2_moe")};
}

}  // namespace

size_t FuzzInput::bytes() const {
  size_t sum = 0;
  for (const auto& [name, text] : files) sum += text.size();
  return sum;
}

std::vector<FuzzInput> fuzz_seeds(FuzzKind kind) {
  switch (kind) {
    case FuzzKind::Folder: return folders();
    case FuzzKind::Gguf: return ggufs();
    case FuzzKind::Peft: return peft_folders();
    default: return lora_files();
  }
}

}  // namespace tackroom
