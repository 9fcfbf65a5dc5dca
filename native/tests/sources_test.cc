/** The readers of whole files: see files_test.cc. */
#include <filesystem>
#include <tuple>
#include <vector>

#include "adapter_source.h"
#include "error.h"
#include "file_builders.h"
#include "file_io.h"
#include "files_test.h"
#include "inspect.h"
#include "sources.h"

namespace tackroom {
namespace {

using Values = std::vector<float>;

Values values_of(const TensorView& view) {
  Values values(static_cast<size_t>(view.rows() * view.columns()));
  read_rows(view, 0, view.rows(), values.data(), view.columns());
  return values;
}

void compare(const std::string& what, const std::map<std::string, TensorView>& wanted, const std::map<std::string, TensorView>& found) {
  check(wanted.size() == found.size(), "%s: %zu tensors, not %zu", what.c_str(), found.size(), wanted.size());
  for (const auto& [name, view] : wanted) {
    const auto other = found.find(name);
    if (check(other != found.end() && other->second.shape == view.shape, "%s: %s is absent or of another shape", what.c_str(), name.c_str()))
      check(values_of(view) == values_of(other->second), "%s: %s has other values", what.c_str(), name.c_str());
  }
}

AdapterBase base_of(const TensorSource& source) {
  const auto number = [&](const char* key) { return static_cast<int>(source.config().find(key)->number()); };
  return {source.config().find("model_type")->string(), number("num_hidden_layers"), number("num_attention_heads"), number("num_key_value_heads")};
}

/** Every tensor and every constant of the folder is in the GGUF file, and the other way round. */
void test_model(const std::string& golden, const std::string& model) {
  const auto folder = TensorSource::open(golden + "/" + model + "/hf"), file = TensorSource::open(golden + "/" + model + "/model.f32.gguf");
  auto found = file->tensors();
  check((found.erase("rope_freqs.weight") == 1) == (model == "llama3"), "%s: rope_freqs where none are, or none where some are", model.c_str());
  compare(model, folder->tensors(), found);
  for (const auto& [key, value] : folder->config().members()) {
    const Json* other = file->config().find(key);
    const bool absent = other == nullptr;
    for (const char* ignored : {"attention_dropout", "dtype", "initializer_range", "pretraining_tp", "transformers_version", "use_cache", "rope_parameters", "max_window_layers",
                                "use_sliding_window", "sliding_window", "block_ffn_dim_multiplier", "block_multiple_of", "full_attn_idxs", "block_auto_adjust_ff_dim"})
      if (key == ignored) other = &value;
    if (absent && (key == "layer_types" || value.is(Json::Type::Null))) continue;  // qwen writes what is the default
    if (key == "intermediate_size" && model == "lfm2") continue;                   // the file holds the rounded width
    check(other != nullptr && other->dump() == value.dump(), "%s: config has \"%s\" %s, not %s", model.c_str(), key.c_str(), other == nullptr ? "absent" : other->dump().c_str(),
          value.dump().c_str());
  }
  const double theta = folder->config().find("rope_parameters")->find("rope_theta")->number();
  check(file->config().find("rope_parameters")->find("rope_theta")->number() == theta, "%s: another rope_theta", model.c_str());
  const ModelSummary a = summarise(*folder), b = summarise(*file);
  check(a.parameters == b.parameters && a.ffn == b.ffn && a.head_dim == b.head_dim && a.experts == b.experts && a.tied == b.tied, "%s: the summaries differ", model.c_str());
  const AdapterSource peft = AdapterSource::open(golden + "/" + model + "/adapter", base_of(*folder)),
                      lora = AdapterSource::open(golden + "/" + model + "/adapter.gguf", base_of(*folder));
  compare(model + " adapter", peft.tensors, lora.tensors);
  check(peft.rank == lora.rank && peft.alpha == lora.alpha && peft.rank == 4, "%s: adapters of rank %d and %d", model.c_str(), peft.rank, lora.rank);
}

void write_file(const std::string& path, const std::string& bytes) {
  FileWriter file(path);
  file.write(bytes.data(), bytes.size());
  file.close();
}

std::string code_of(const std::string& path, const AdapterBase* base = nullptr) {
  try {
    if (base == nullptr) TensorSource::open(path);
    else AdapterSource::open(path, *base);
  } catch (const EngineError& error) {
    return error.code;
  }
  return "none";
}

std::string bytes_of(const Values& values) { return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}; }

/** PEFT's stacked experts [out, r * E] (expert fastest) as GGUF's [E, out, r], rows [first, first + count). */
std::string stack_of(const Values& b, int64_t experts, int64_t rank, int64_t first, int64_t count) {
  Values stack;
  for (int64_t e = 0; e < experts; e++)
    for (int64_t o = first; o < first + count; o++)
      for (int64_t j = 0; j < rank; j++) stack.push_back(b[static_cast<size_t>((o * rank + j) * experts + e)]);
  return bytes_of(stack);
}

/** The adapter of the golden experts, written as GGUF, is read as PEFT's; other A for gate and up give names of single experts. */
void test_expert_adapter(const std::string& golden, const std::string& scratch) {
  const auto model = TensorSource::open(golden + "/lfm2_moe/hf");
  const AdapterBase base = base_of(*model);
  const AdapterSource peft = AdapterSource::open(golden + "/lfm2_moe/adapter_experts", base);
  std::map<std::string, TensorView> wanted;
  GgufBuilder shared, apart;
  for (GgufBuilder* file : {&shared, &apart})
    file->text("general.architecture", "lfm2moe").text("general.type", "adapter").text("adapter.type", "lora").f32("adapter.lora.alpha", static_cast<float>(peft.alpha));
  const int64_t experts = 8, rank = peft.rank;
  for (int layer = 1; layer < 4; layer++) {
    const std::string module = "base_model.model.model.layers." + std::to_string(layer) + ".feed_forward.experts.", block = "blk." + std::to_string(layer) + ".ffn_";
    for (const char* half : {"base_layer.lora_A", "base_layer.lora_B", "lora_A", "lora_B"}) wanted.emplace(module + half + ".weight", peft.tensors.at(module + half + ".weight"));
    const TensorView &ga = wanted.at(module + "base_layer.lora_A.weight"), &gb = wanted.at(module + "base_layer.lora_B.weight"), &da = wanted.at(module + "lora_A.weight"),
                     &db = wanted.at(module + "lora_B.weight");
    const auto hidden = static_cast<uint64_t>(ga.columns()), ffn = static_cast<uint64_t>(da.columns()), r = static_cast<uint64_t>(rank), e = static_cast<uint64_t>(experts);
    for (GgufBuilder* file : {&shared, &apart}) {
      Values up_a = values_of(ga);
      if (file == &apart) up_a[5] += 1;
      file->tensor(block + "gate_exps.weight.lora_a", {hidden, r, e}, TensorType::F32, bytes_of(values_of(ga)));
      file->tensor(block + "up_exps.weight.lora_a", {hidden, r, e}, TensorType::F32, bytes_of(up_a));
      file->tensor(block + "down_exps.weight.lora_a", {ffn, r, e}, TensorType::F32, bytes_of(values_of(da)));
      file->tensor(block + "gate_exps.weight.lora_b", {r, ffn, e}, TensorType::F32, stack_of(values_of(gb), experts, rank, 0, static_cast<int64_t>(ffn)));
      file->tensor(block + "up_exps.weight.lora_b", {r, ffn, e}, TensorType::F32, stack_of(values_of(gb), experts, rank, static_cast<int64_t>(ffn), static_cast<int64_t>(ffn)));
      file->tensor(block + "down_exps.weight.lora_b", {r, hidden, e}, TensorType::F32, stack_of(values_of(db), experts, rank, 0, static_cast<int64_t>(hidden)));
    }
  }
  write_file(scratch + "/experts.gguf", shared.build());
  write_file(scratch + "/apart.gguf", apart.build());
  compare("stacked experts", wanted, AdapterSource::open(scratch + "/experts.gguf", base).tensors);
  const AdapterSource single = AdapterSource::open(scratch + "/apart.gguf", base);
  check(single.tensors.size() == 3 * (2 * 2 * 8 + 2), "experts apart: %zu tensors", single.tensors.size());
  const Values a = values_of(peft.tensors.at("base_model.model.model.layers.2.feed_forward.experts.base_layer.lora_A.weight"));
  const auto part = static_cast<std::ptrdiff_t>(rank * 64);
  check(values_of(single.tensors.at("base_model.model.model.layers.2.feed_forward.experts.3.w1.lora_A.weight")) == Values(a.begin() + 3 * part, a.begin() + 4 * part),
        "experts apart: A of one expert differs");
}

/** PEFT names stacked experts by the order in which they were wrapped. */
void test_expert_order(const std::string& golden, const std::string& scratch) {
  const std::string from = golden + "/lfm2_moe/adapter_experts", to = scratch + "/reordered";
  std::filesystem::create_directories(to);
  std::filesystem::copy_file(from + "/adapter_model.safetensors", to + "/adapter_model.safetensors", std::filesystem::copy_options::overwrite_existing);
  Json config = Json::parse(read_text(from + "/adapter_config.json", "IO")), order = Json::array();
  order.items().push_back("feed_forward.experts.down_proj");
  order.items().push_back("feed_forward.experts.gate_up_proj");
  config.set("target_parameters", order);
  write_file(to + "/adapter_config.json", config.dump());
  const AdapterBase base{"lfm2_moe", 4, 4, 2};
  const AdapterSource plain = AdapterSource::open(from, base), swapped = AdapterSource::open(to, base);
  const std::string module = "base_model.model.model.layers.1.feed_forward.experts.";
  check(values_of(plain.tensors.at(module + "lora_A.weight")) == values_of(swapped.tensors.at(module + "base_layer.lora_A.weight")), "down first: A of down stays outside");
  check(values_of(plain.tensors.at(module + "base_layer.lora_B.weight")) == values_of(swapped.tensors.at(module + "lora_B.weight")), "down first: B of gate_up stays inside");
  order.items().push_back("self_attn.q_proj.weight");
  config.set("target_parameters", order);
  write_file(to + "/adapter_config.json", config.dump());
  check(code_of(to, &base) == "ADAPTER_MISMATCH", "another target parameter is accepted");
}

GgufBuilder small_llama() {
  GgufBuilder file;
  file.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 8).u32("llama.embedding_length", 8);
  file.u32("llama.feed_forward_length", 8).u32("llama.attention.head_count", 2).f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  file.tensor("token_embd.weight", {8, 4}, TensorType::F32, std::string(128, '\0'));
  return file;
}

void test_refusals(const std::string& scratch) {
  const std::string path = scratch + "/small.gguf";
  const auto code = [&](const std::string& bytes) {
    write_file(path, bytes);
    return code_of(path);
  };
  const auto expect = [&](const char* what, const GgufBuilder& file, const std::string& wanted, uint32_t version = 3) {
    const std::string got = code(file.build(version));
    check(got == wanted, "%s: %s, not %s", what, got.c_str(), wanted.c_str());
  };
  expect("version 3", small_llama(), "none");
  expect("version 2", small_llama(), "none", 2);
  expect("version 1", small_llama(), "MODEL_UNSUPPORTED", 1);
  expect("version 4", small_llama(), "MODEL_UNSUPPORTED", 4);
  expect("big-endian", small_llama(), "MODEL_UNSUPPORTED", 3 << 24);
  expect("a doubled key", small_llama().u32("llama.block_count", 1), "MODEL_CORRUPT");
  expect("a doubled tensor", small_llama().tensor("token_embd.weight", {8, 4}, TensorType::F32, std::string(128, '\0')), "MODEL_CORRUPT");
  expect("another tensor", small_llama().tensor("blk.0.mystery.weight", {8}, TensorType::F32, std::string(32, '\0')), "MODEL_UNSUPPORTED");
  expect("a block too many", small_llama().tensor("blk.1.attn_norm.weight", {8}, TensorType::F32, std::string(32, '\0')), "MODEL_UNSUPPORTED");
  expect("a type not read", small_llama().tensor("output.weight", {256, 1}, static_cast<TensorType>(16), std::string(66, '\0')), "MODEL_UNSUPPORTED");
  expect("a type unheard of", small_llama().tensor("output.weight", {256, 1}, static_cast<TensorType>(900), std::string(66, '\0')), "MODEL_CORRUPT");
  expect("half a block", small_llama().tensor("output.weight", {8, 4}, TensorType::Q8_0, std::string(34, '\0')), "MODEL_CORRUPT");
  expect("bytes that are not there", small_llama().tensor("output.weight", {8, 400}, TensorType::F32, std::string(64, '\0')), "MODEL_CORRUPT");
  expect("a product that overflows", small_llama().tensor("output.weight", {1ull << 40, 1ull << 40}, TensorType::F32, ""), "MODEL_CORRUPT");
  expect("experts in llama", small_llama().u32("llama.expert_count", 4), "MODEL_UNSUPPORTED");
  expect("a part of a split", small_llama().u32("split.count", 2), "MODEL_UNSUPPORTED");
  expect("an odd alignment", small_llama().u32("general.alignment", 3), "MODEL_CORRUPT");
  expect("an adapter", GgufBuilder().text("general.type", "adapter").text("general.architecture", "llama"), "MODEL_UNSUPPORTED");
  expect("another architecture", GgufBuilder().text("general.architecture", "mamba"), "MODEL_UNSUPPORTED");
  check(code("GGML0123456789012345678901") == "MODEL_CORRUPT", "another magic is accepted");
  check(code_of(scratch + "/absent.gguf") == "MODEL_NOT_FOUND", "a file that is not there");
  write_file(scratch + "/model.bin", "x");
  check(code_of(scratch + "/model.bin") == "MODEL_UNSUPPORTED", "a file of another kind");
  const AdapterBase base{"qwen2", 2, 4, 2};
  write_file(path, GgufBuilder().text("general.architecture", "llama").text("general.type", "adapter").text("adapter.type", "lora").f32("adapter.lora.alpha", 1).build());
  check(code_of(path, &base) == "ADAPTER_MISMATCH", "an adapter of another architecture is accepted");
}

/** What gemma3 files leave out has fixed values (real-models: "Traps"). */
void test_gemma_defaults(const std::string& scratch) {
  GgufBuilder file;
  file.text("general.architecture", "gemma3").u32("gemma3.block_count", 7).u32("gemma3.context_length", 64).u32("gemma3.embedding_length", 8);
  file.u32("gemma3.feed_forward_length", 8).u32("gemma3.attention.head_count", 2).u32("gemma3.attention.key_length", 16).u32("gemma3.attention.sliding_window", 32);
  file.f32("gemma3.rope.freq_base", 1e6f).u32("tokenizer.ggml.eos_token_id", 1).u32("tokenizer.ggml.eot_token_id", 3).u32("tokenizer.ggml.bos_token_id", 0xFFFFFFFF);
  file.tensor("token_embd.weight", {8, 4}, TensorType::F32, std::string(128, '\0')).tensor("blk.6.post_ffw_norm.weight", {8}, TensorType::F32, std::string(32, '\0'));
  write_file(scratch + "/gemma.gguf", file.build());
  const auto source = TensorSource::open(scratch + "/gemma.gguf");
  const Json& config = source->config();
  std::string globals;
  for (const Json& type : config.find("layer_types")->items()) globals += type.string() == "full_attention" ? 'g' : 'l';
  check(globals == "lllllgl", "gemma3: layers %s", globals.c_str());
  check(config.find("query_pre_attn_scalar")->number() == 16 && config.find("head_dim")->number() == 16, "gemma3: another head scale");
  check(config.find("rope_parameters")->find("sliding_attention")->find("rope_theta")->number() == 10000, "gemma3: another local rope base");
  check(config.find("rope_parameters")->find("full_attention")->find("rope_theta")->number() == 1e6, "gemma3: another rope base");
  check(config.find("tackroom_norm_offset") != nullptr && config.find("tackroom_norm_offset")->number() == 0, "gemma3: norms would be added to 1 again");
  check(config.find("eos_token_id")->dump() == "[1,3]" && config.find("bos_token_id") == nullptr, "gemma3: other end tokens");
  check(source->find("model.layers.6.post_feedforward_layernorm.weight") != nullptr, "gemma3: another name of the last norm");
}

/** Stacks of transformers 5 under the names of single experts. */
void test_stacked_folder(const std::string& scratch) {
  const std::string dir = scratch + "/stacked", prefix = "model.layers.1.feed_forward.experts.";
  std::filesystem::create_directories(dir);
  Values gate_up(3 * 8 * 16), down(3 * 16 * 4);
  for (size_t i = 0; i < gate_up.size(); i++) gate_up[i] = static_cast<float>(i);
  for (size_t i = 0; i < down.size(); i++) down[i] = -static_cast<float>(i);
  write_file(dir + "/config.json", R"({"model_type":"lfm2_moe"})");
  write_file(dir + "/model.safetensors", safetensors_file({{prefix + "gate_up_proj", "F32", {3, 8, 16}, bytes_of(gate_up)}, {prefix + "down_proj", "F32", {3, 16, 4}, bytes_of(down)}}));
  const auto source = TensorSource::open(dir);
  check(source->tensors().size() == 9, "stacked: %zu tensors", source->tensors().size());
  for (int e = 0; e < 3; e++)
    for (const auto& [name, from, all, count] : {std::tuple{".w1", e * 128, &gate_up, 64}, {".w3", e * 128 + 64, &gate_up, 64}, {".w2", e * 64, &down, 64}}) {
      const TensorView* view = source->find(prefix + std::to_string(e) + name + ".weight");
      if (check(view != nullptr, "stacked: no %s of expert %d", name, e)) check(values_of(*view) == Values(all->begin() + from, all->begin() + from + count), "stacked: %s of expert %d", name, e);
    }
}

}  // namespace

void test_golden_sources(const std::string& golden) {
  for (const char* model : {"llama", "llama3", "qwen2", "qwen3", "lfm2", "lfm2_moe"}) test_model(golden, model);
}

void test_written_sources(const std::string& scratch, const std::string& golden) {
  test_refusals(scratch);
  test_gemma_defaults(scratch);
  test_stacked_folder(scratch);
  if (golden.empty()) return;
  test_expert_adapter(golden, scratch);
  test_expert_order(golden, scratch);
}

}  // namespace tackroom
