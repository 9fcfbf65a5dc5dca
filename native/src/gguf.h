/**
 * The GGUF file format, versions 2 and 3 (ggml-org/ggml, docs/gguf.md): header, metadata, tensor table, tensor bytes.
 *
 * The table is checked in full when the file is opened: every length against the bytes that remain, every product for
 * overflow, names for duplicates, tensors for overlap. Values and names stay views into the mapped file, so that opening
 * takes less memory than the file.
 */
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file_io.h"
#include "tensor_source.h"

namespace tackroom {

/** Codes of what can go wrong: those of a model or those of an adapter. */
struct FileCodes {
  const char *missing, *corrupt, *unsupported;
};
inline constexpr FileCodes kModelCodes{"MODEL_NOT_FOUND", "MODEL_CORRUPT", "MODEL_UNSUPPORTED"};
inline constexpr FileCodes kAdapterCodes{"ADAPTER_CORRUPT", "ADAPTER_CORRUPT", "ADAPTER_MISMATCH"};

class GgufFile {
 public:
  struct Value {
    std::string_view key;
    uint32_t type, element;  // element: type of the items of an array
    uint64_t count;          // items of an array, 1 otherwise
    const uint8_t* data;
  };
  struct Tensor {
    std::string_view name;
    TensorType type;
    int dims;
    int64_t extents[4];  // outermost first
    const uint8_t* data;
    size_t bytes;
  };

  GgufFile(const std::string& path, const FileCodes& codes);

  const std::string& path() const { return path_; }
  const FileCodes& codes() const { return codes_; }
  size_t size() const { return file_.size(); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Value>& values() const { return values_; }

  const Value* find(std::string_view key) const;
  const Tensor* tensor(std::string_view name) const;
  /** Scalars; absent keys are nullopt, a value of another kind throws the corrupt code. */
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  /** Items of an array of whole numbers or bools; throws when there are more than `most`. */
  std::optional<std::vector<int64_t>> integers(std::string_view key, size_t most) const;

  [[noreturn]] void corrupt(const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& what) const;

 private:
  class Cursor;
  void read_values(Cursor& cursor, uint64_t count);
  void read_tensors(Cursor& cursor, uint64_t count);
  void place_tensors(size_t data_start, uint64_t alignment);

  std::string path_;
  FileCodes codes_;
  MappedFile file_;
  std::vector<Value> values_;    // in the order of their keys
  std::vector<Tensor> tensors_;  // in the order of their names
};

/** A name of a file as text of a message: what cannot be printed becomes "?", and it ends after 80 bytes. */
std::string printable(std::string_view name);

}  // namespace tackroom
