/**
 * Where adapters come from: a PEFT folder (huggingface/peft) or a GGUF LoRA file (ggml-org/llama.cpp, convert_lora_to_gguf.py),
 * seen alike under PEFT's names.
 *
 * Plain layers: base_model.model.<module>.lora_A.weight [r, in] and lora_B.weight [out, r].
 * Stacked experts (PEFT target_parameters): below <module> = model.layers.N.feed_forward.experts.
 *   base_layer.lora_A / lora_B  gate_up_proj: A [E * r, hidden], B [2 * ffn, r * E], rows of B gate first
 *   lora_A / lora_B             down_proj:    A [E * r, ffn],    B [hidden, r * E]
 * Row e * r + j of A and column j * E + e of B belong to expert e (training.md, section B1).
 */
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensor_source.h"

namespace tackroom {

/** What a GGUF adapter leaves to its base model: its architecture and how many heads its Q and K rows belong to. */
struct AdapterBase {
  std::string model_type;  // of config.json: llama, qwen2, lfm2_moe, gemma3_text, ...
  int layers = 0, heads = 0, kv_heads = 0;
};

struct AdapterSource {
  std::string origin;
  int rank = 0;
  double alpha = 0;
  bool rank_stabilised = false;
  /** By PEFT name; both halves of every pair are there. read_rows gives their values, row permutations undone. */
  std::map<std::string, TensorView> tensors;

  /**
   * Opens a folder or a .gguf file. Throws ADAPTER_CORRUPT, or ADAPTER_MISMATCH for what the engine does not support and
   * for a GGUF file of another architecture. Shapes are not compared with the model's.
   */
  static AdapterSource open(const std::string& path, const AdapterBase& base);

  /** What the views point into. */
  std::vector<std::shared_ptr<const void>> keep;
};

}  // namespace tackroom
