/** The two kinds of TensorSource. */
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gguf.h"
#include "safetensors.h"
#include "tensor_source.h"

namespace tackroom {

struct GgufArchitecture;

/**
 * A Hugging Face folder: config.json and model.safetensors, or the shards of model.safetensors.index.json.
 *
 * The stacked experts of transformers 5 (`experts.gate_up_proj` [E, 2 * ffn, H] with the gates first, `experts.down_proj`
 * [E, H, ffn]) appear under the names of single experts, `experts.{e}.w1.weight` (gate), `w3` (up) and `w2` (down).
 */
class FolderSource : public TensorSource {
 public:
  explicit FolderSource(const std::string& dir);
  const std::vector<std::unique_ptr<SafetensorsFile>>& files() const { return files_; }

 private:
  void open_weights();
  void add(const SafetensorsFile& file, const std::string& name, const SafetensorsFile::Tensor& tensor);
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
};

/** A GGUF model of one of the architectures of gguf_names.h. */
class GgufSource : public TensorSource {
 public:
  explicit GgufSource(const std::string& path);
  const GgufFile& file() const { return file_; }

 private:
  void add(const GgufFile::Tensor& tensor, const GgufArchitecture& architecture, int layers);
  GgufFile file_;
};

/**
 * Adds the view `stack` [E, rows, columns...] as E views `prefix`.{e}.`name`.weight, rows [first, first + count) of each.
 * False when the stack is no stack: fewer than 3 dimensions, more than 4096 experts, slices of less than 64 bytes (their
 * names would take many times the memory of the file).
 */
bool add_expert_slices(std::map<std::string, TensorView>& tensors, const TensorView& stack, const std::string& prefix, const char* name, int64_t first, int64_t count);

}  // namespace tackroom
