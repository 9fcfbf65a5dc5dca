/** GGUF LoRA files (training.md, section B2). */
#pragma once
#include <string>

#include "adapter_source.h"

namespace tackroom {

/**
 * Tensors <base tensor>.lora_a [r, in] and .lora_b [out, r]; llama's Q and K rows of B lie in GGUF order, which the views
 * undo. Experts are stacks [E, r, in] and [E, out, r]: they become PEFT's stacked form when gate and up share A, and
 * experts.{e}.w1|w2|w3.lora_A.weight otherwise. An alpha of 0 means a scale of 1.
 */
AdapterSource open_gguf_adapter(const std::string& path, const AdapterBase& base);

}  // namespace tackroom
