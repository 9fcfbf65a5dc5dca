/**
 * The safetensors file format (github.com/huggingface/safetensors): u64 header length, JSON header, tensor bytes.
 *
 * Reading checks everything before a byte is used: header length, JSON, types, offsets, shapes against byte counts, overlap.
 * F32, F16 and BF16 tensors are converted to fp32.
 */
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "file_io.h"
#include "json.h"
#include "param_set.h"
#include "tensor_source.h"

namespace tackroom {

class SafetensorsFile {
 public:
  /** Throws `corrupt_code` with a sentence that names the file and what is wrong. */
  SafetensorsFile(const std::string& path, const char* missing_code, const char* corrupt_code);

  struct Tensor {
    std::string dtype;
    std::vector<int64_t> shape;
    size_t begin, end;  // byte offsets in the data section
  };
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::string& path() const { return path_; }
  size_t size() const { return file_.size(); }
  const uint8_t* data(const Tensor& tensor) const { return reinterpret_cast<const uint8_t*>(file_.data()) + data_start_ + tensor.begin; }

  /** Type of a tensor; throws for types that the engine does not read. */
  TensorType type_of(const std::string& name, const Tensor& tensor) const;
  /** Throws unless the file holds this tensor with this shape in a type the engine reads. */
  const Tensor& check(const std::string& name, const std::vector<int64_t>& shape) const;
  /** Copies a tensor into `out` [product of `shape`] as fp32; its shape in the file must be `shape`. */
  void read(const std::string& name, const std::vector<int64_t>& shape, float* out) const;

 private:
  [[noreturn]] void corrupt(const std::string& what) const;
  void parse_tensor(const std::string& name, const Json& entry, size_t data_bytes);
  void refuse_overlaps() const;

  std::string path_;
  const char* corrupt_code_;
  MappedFile file_;
  size_t data_start_ = 0;
  std::map<std::string, Tensor> tensors_;
};

enum class FileType { F32, BF16 };

/** Writes every tensor of `params`, in the order of their names, and syncs the file. */
void write_safetensors(const std::string& path, const ParamSet& params, FileType type);

}  // namespace tackroom
