/** Writers of small weight files for the tests: own code, so that the readers are not checked against themselves. */
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tensor_source.h"

namespace tackroom {

/** A length, count, type or offset in a file: what a hostile file would lie about. */
struct LengthField {
  size_t at;
  int width;
};

/** GGUF, version 2 or 3. */
class GgufBuilder {
 public:
  GgufBuilder& text(const std::string& key, const std::string& value);
  GgufBuilder& u32(const std::string& key, uint32_t value);
  GgufBuilder& f32(const std::string& key, float value);
  GgufBuilder& flag(const std::string& key, bool value);
  GgufBuilder& u32s(const std::string& key, const std::vector<uint32_t>& values);
  GgufBuilder& texts(const std::string& key, const std::vector<std::string>& values);
  /** `ne` fastest extent first, as GGUF has it; `bytes` as stored. */
  GgufBuilder& tensor(const std::string& name, const std::vector<uint64_t>& ne, TensorType type, std::string bytes);

  std::string build(uint32_t version = 3, uint32_t alignment = 32) const;
  /** The fields of the file that build() gives. */
  std::vector<LengthField> fields() const;

 private:
  struct Tensor {
    std::string name;
    std::vector<uint64_t> ne;
    TensorType type;
    std::string bytes;
  };
  void key(const std::string& name, uint32_t type);
  void length(std::string& out, std::vector<LengthField>* fields, uint64_t value, int width) const;
  std::string header(uint32_t version, uint32_t alignment, std::vector<LengthField>* fields) const;

  std::string values_;
  std::vector<LengthField> value_fields_;
  uint64_t value_count_ = 0;
  std::vector<Tensor> tensors_;
};

struct SafeTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

/** A safetensors file; `header` replaces the JSON text when it is not empty. */
std::string safetensors_file(const std::vector<SafeTensor>& tensors, const std::string& header = "");
std::string safetensors_header(const std::vector<SafeTensor>& tensors);

}  // namespace tackroom
