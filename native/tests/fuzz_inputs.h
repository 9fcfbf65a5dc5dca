/** Small valid inputs that the fuzzer starts from, and the files of one input. */
#pragma once
#include <map>
#include <string>
#include <vector>

#include "file_builders.h"

namespace tackroom {

enum class FuzzKind { Folder, Gguf, Peft, Lora };
constexpr const char* kKindNames[] = {"folder", "gguf", "peft", "lora"};

struct FuzzInput {
  std::map<std::string, std::string> files;                  // by name inside the folder
  std::map<std::string, std::vector<LengthField>> fields;    // of the untouched files
  std::string model_type = "llama";                          // of the base model, for adapters
  size_t bytes() const;
};

/** Llama and lfm2_moe folders (one file, shards, stacked experts), GGUFs of every architecture, adapters of both forms. */
std::vector<FuzzInput> fuzz_seeds(FuzzKind kind);

}  // namespace tackroom
