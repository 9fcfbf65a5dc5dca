#include "adapter_gguf.h"

#include <cmath>
#include <cstring>

#include "error.h"
#include "gguf_names.h"
#include "quants.h"

namespace tackroom {
namespace {

constexpr const char* kPrefix = "base_model.model.";

/** The stacks of one block: by w1, w2, w3 and half. */
struct ExpertStacks {
  std::map<std::string, TensorView> a, b;
};

class Reader {
 public:
  Reader(const std::string& path, const AdapterBase& base)
      : file_(std::make_shared<GgufFile>(path, kAdapterCodes)), architecture_(gguf_architecture(*file_)), base_(base) {}

  AdapterSource read() {
    const GgufFile& file = *file_;
    source_.origin = file.path();
    source_.keep.push_back(file_);
    if (file.text("general.type").value_or("") != "adapter" || file.text("adapter.type").value_or("") != "lora") file.corrupt("is no LoRA adapter");
    if (base_.model_type != architecture_.model_type)
      file.unsupported("adapts a model of the architecture " + std::string(architecture_.gguf) + ", not " + base_.model_type);
    if (file.find("adapter.alora.invocation_tokens") != nullptr) file.unsupported("is only active after certain tokens, which this engine does not support");
    const auto alpha = file.real("adapter.lora.alpha");
    if (!alpha || !(*alpha >= 0) || !std::isfinite(*alpha)) file.corrupt("has no adapter.lora.alpha");
    for (const GgufFile::Tensor& tensor : file.tensors()) add(tensor);
    for (const auto& [module, stacks] : experts_) add_experts(module, stacks);
    source_.alpha = *alpha == 0 ? source_.rank : *alpha;
    return std::move(source_);
  }

 private:
  [[noreturn]] void corrupt(const GgufFile::Tensor& tensor, const char* what) const { file_->corrupt("has a tensor " + printable(tensor.name) + what); }

  void add(const GgufFile::Tensor& tensor) {
    std::string_view name = tensor.name;
    const bool a = name.ends_with(".weight.lora_a"), b = name.ends_with(".weight.lora_b");
    if (!a && !b) file_->unsupported("has a tensor " + printable(name) + ", which belongs to no pair");
    name.remove_suffix(std::strlen(".weight.lora_a"));
    const auto place = gguf_place(architecture_, name, base_.layers);
    if (!place || place->kind == "token_embd" || place->kind == "exp_probs_b")
      file_->unsupported("has a tensor for " + printable(name) + ", which this model does not have or this engine does not adapt");
    if (tensor.type != TensorType::F32 && tensor.type != TensorType::F16 && tensor.type != TensorType::BF16 && tensor.type != TensorType::Q8_0)
      file_->unsupported("stores the tensor " + printable(tensor.name) + " as " + type_name(tensor.type) + "; adapters are F32, F16, BF16 or Q8_0");
    TensorView view;
    view.type = tensor.type;
    view.shape.assign(tensor.extents, tensor.extents + tensor.dims);
    view.data = tensor.data;
    view.bytes = tensor.bytes;
    const bool stack = !place->expert.empty();
    if (tensor.dims != (stack ? 3 : 2)) corrupt(tensor, " of another number of dimensions");
    take_rank(tensor, view.shape[view.shape.size() - (a ? 2 : 1)]);
    if (stack) {
      auto& stacks = experts_[place->module];
      (a ? stacks.a : stacks.b).emplace(place->expert, view);
      return;
    }
    if (b && architecture_.permuted && (place->kind == "attn_q" || place->kind == "attn_k")) {
      view.permuted_heads = place->kind == "attn_q" ? base_.heads : base_.kv_heads;
      if (view.rows() % (2 * int64_t{view.permuted_heads}) != 0) file_->unsupported("has a tensor " + printable(tensor.name) + " that does not fit this model's heads");
    }
    put(place->module, a ? "A" : "B", std::move(view));
  }

  void take_rank(const GgufFile::Tensor& tensor, int64_t rank) {
    if (rank > 1 << 16) corrupt(tensor, " of an impossible rank");
    if (source_.rank != 0 && source_.rank != rank) file_->unsupported("has layers of different ranks");
    source_.rank = static_cast<int>(rank);
  }

  void put(const std::string& module, const char* half, TensorView view) {
    const std::string name = kPrefix + module + ".lora_" + half + ".weight";
    if (!source_.tensors.emplace(name, std::move(view)).second) file_->corrupt("has two tensors for " + name);
  }

  void add_experts(const std::string& module, const ExpertStacks& stacks) {
    for (const auto* halves : {&stacks.a, &stacks.b})
      for (const auto& [expert, view] : *halves)
        if (stacks.a.count(expert) == 0 || stacks.b.count(expert) == 0) file_->corrupt("has only one half of the pair for the experts of " + module);
    for (const auto& [expert, a] : stacks.a) {
      const TensorView& b = stacks.b.at(expert);
      if (a.shape[0] != b.shape[0] || a.shape[0] > 4096) file_->corrupt("has pairs of different numbers of experts in " + module);
    }
    const auto gate = stacks.a.find("w1"), up = stacks.a.find("w3"), down = stacks.a.find("w2");
    const auto end = stacks.a.end();
    if (down != end) put_stacked(module, {&stacks.b.at("w2")}, down->second);
    if (gate == end && up == end) return;
    const bool shared = gate != end && up != end && gate->second.type == up->second.type && gate->second.shape == up->second.shape &&
                        std::memcmp(gate->second.data, up->second.data, gate->second.bytes) == 0;
    if (shared) return put_stacked(module + ".base_layer", {&stacks.b.at("w1"), &stacks.b.at("w3")}, gate->second);
    for (const auto& side : {gate, up})
      if (side != end) put_single(module, side->first, side->second, stacks.b.at(side->first));
  }

  /** PEFT's layout: A as it lies, B with the experts of one rank side by side; the rows of several B under each other. */
  void put_stacked(const std::string& module, const std::vector<const TensorView*>& bs, const TensorView& a) {
    const int64_t experts = a.shape[0], rank = source_.rank;
    TensorView flat = a;
    flat.shape = {experts * rank, a.shape[2]};
    int64_t out = 0;
    for (const TensorView* b : bs) out += b->shape[1];
    auto values = std::make_shared<std::vector<float>>(static_cast<size_t>(out * rank * experts));
    std::vector<float> row(static_cast<size_t>(rank));
    float* rows = values->data();
    for (const TensorView* b : bs) {
      TensorView slices = *b;
      slices.shape = {experts * b->shape[1], rank};
      for (int64_t e = 0; e < experts; e++)
        for (int64_t o = 0; o < b->shape[1]; o++) {
          read_rows(slices, e * b->shape[1] + o, 1, row.data(), rank);
          for (int64_t j = 0; j < rank; j++) rows[(o * rank + j) * experts + e] = row[static_cast<size_t>(j)];
        }
      rows += b->shape[1] * rank * experts;
    }
    TensorView stacked;
    stacked.shape = {out, rank * experts};
    stacked.data = reinterpret_cast<const uint8_t*>(values->data());
    stacked.bytes = values->size() * sizeof(float);
    source_.keep.push_back(values);
    put(module, "A", std::move(flat));
    put(module, "B", std::move(stacked));
  }

  void put_single(const std::string& module, const std::string& expert, const TensorView& a, const TensorView& b) {
    for (const auto& [stack, half] : {std::pair{&a, "A"}, std::pair{&b, "B"}}) {
      const size_t bytes = stack->bytes / static_cast<size_t>(stack->shape[0]);
      if (bytes < 64) file_->corrupt("has stacks of experts that are too small to be true");
      for (int64_t e = 0; e < stack->shape[0]; e++) {
        TensorView slice = *stack;
        slice.shape = {stack->shape[1], stack->shape[2]};
        slice.data += bytes * static_cast<size_t>(e);
        slice.bytes = bytes;
        put(module + "." + std::to_string(e) + "." + expert, half, std::move(slice));
      }
    }
  }

  std::shared_ptr<GgufFile> file_;
  const GgufArchitecture& architecture_;
  const AdapterBase& base_;
  AdapterSource source_;
  std::map<std::string, ExpertStacks> experts_;
};

}  // namespace

AdapterSource open_gguf_adapter(const std::string& path, const AdapterBase& base) { return Reader(path, base).read(); }

}  // namespace tackroom
