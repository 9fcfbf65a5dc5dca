#include "gguf.h"

#include <algorithm>
#include <cstring>

#include "error.h"
#include "quants.h"

namespace tackroom {
namespace {

enum Kind : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64, kKinds };
constexpr uint64_t kKindBytes[kKinds] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// Far above every model there is; they bound the two tables. A value takes at least 14 bytes of the file, a tensor 33.
constexpr uint64_t kMostValues = 1 << 16, kMostTensors = 1 << 18;
constexpr uint64_t kMostExtent = uint64_t{1} << 48;
constexpr uint64_t kMostAlignment = 1 << 20;

int64_t load_integer(uint32_t kind, const uint8_t* at) {
  const auto as = [&]<class Number>(Number number) {
    std::memcpy(&number, at, sizeof number);
    return static_cast<int64_t>(number);
  };
  switch (kind) {
    case kU8: case kBool: return as(uint8_t{});
    case kI8: return as(int8_t{});
    case kU16: return as(uint16_t{});
    case kI16: return as(int16_t{});
    case kU32: return as(uint32_t{});
    case kI32: return as(int32_t{});
    default: return as(int64_t{});
  }
}

bool is_integer(uint32_t kind) { return kind <= kI32 || kind == kU64 || kind == kI64; }

}  // namespace

std::string printable(std::string_view name) {
  std::string text(name.substr(0, 80));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return name.size() > 80 ? text + "..." : text;
}

/** Reads forward and never past the end. */
class GgufFile::Cursor {
 public:
  Cursor(const GgufFile& file, size_t at) : file_(file), at_(at) {}

  size_t at() const { return at_; }
  uint64_t left() const { return file_.size() - at_; }
  const uint8_t* here() const { return reinterpret_cast<const uint8_t*>(file_.file_.data()) + at_; }
  void skip(uint64_t bytes) {
    if (bytes > left()) file_.corrupt("is truncated: it ends inside its header");
    at_ += bytes;
  }
  template <class Number>
  Number number() {
    const uint8_t* data = here();
    skip(sizeof(Number));
    Number value;
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  std::string_view string() {
    const auto length = number<uint64_t>();
    const uint8_t* data = here();
    skip(length);
    return {reinterpret_cast<const char*>(data), static_cast<size_t>(length)};
  }

 private:
  const GgufFile& file_;
  size_t at_;
};

GgufFile::GgufFile(const std::string& path, const FileCodes& codes) : path_(path), codes_(codes), file_(path, codes.missing) {
  if (file_.size() < 24 || std::memcmp(file_.data(), "GGUF", 4) != 0) corrupt("is not a GGUF file");
  Cursor cursor(*this, 4);
  const auto version = cursor.number<uint32_t>();
  if (version == 1 || (version & 0xFFFF) == 0) unsupported("is a GGUF file of version 1 or of a big-endian machine; this engine reads versions 2 and 3");
  if (version != 2 && version != 3) unsupported("is a GGUF file of version " + std::to_string(version) + "; this engine reads versions 2 and 3");
  const auto tensor_count = cursor.number<uint64_t>(), value_count = cursor.number<uint64_t>();
  if (tensor_count > kMostTensors || tensor_count > cursor.left() / 33) corrupt("claims " + std::to_string(tensor_count) + " tensors");
  if (value_count > kMostValues || value_count > cursor.left() / 14) corrupt("claims " + std::to_string(value_count) + " metadata values");
  read_values(cursor, value_count);
  read_tensors(cursor, tensor_count);
  const int64_t alignment = integer("general.alignment").value_or(32);
  if (alignment < 1 || alignment > static_cast<int64_t>(kMostAlignment) || (alignment & (alignment - 1)) != 0)
    corrupt("asks for an alignment of " + std::to_string(alignment));
  const auto step = static_cast<uint64_t>(alignment);
  place_tensors((cursor.at() + step - 1) / step * step, step);
}

void GgufFile::corrupt(const std::string& what) const { fail(codes_.corrupt, "%s %s.", path_.c_str(), what.c_str()); }
void GgufFile::unsupported(const std::string& what) const { fail(codes_.unsupported, "%s %s.", path_.c_str(), what.c_str()); }

void GgufFile::read_values(Cursor& cursor, uint64_t count) {
  values_.reserve(count);
  for (uint64_t i = 0; i < count; i++) {
    Value value{cursor.string(), 0, 0, 1, nullptr};
    value.type = cursor.number<uint32_t>();
    const bool array = value.type == kArray;
    value.element = array ? cursor.number<uint32_t>() : value.type;
    if (array) value.count = cursor.number<uint64_t>();
    value.data = cursor.here();
    if (value.element >= kKinds || value.element == kArray) corrupt("has metadata " + printable(value.key) + " of an unknown type");
    if (value.element == kString) {
      if (value.count > cursor.left() / 8) corrupt("is truncated: it ends inside its header");
      for (uint64_t n = 0; n < value.count; n++) cursor.string();
    } else {
      if (value.count > cursor.left() / kKindBytes[value.element]) corrupt("is truncated: it ends inside its header");
      cursor.skip(value.count * kKindBytes[value.element]);
    }
    values_.push_back(value);
  }
  std::sort(values_.begin(), values_.end(), [](const Value& a, const Value& b) { return a.key < b.key; });
  const auto twice = std::adjacent_find(values_.begin(), values_.end(), [](const Value& a, const Value& b) { return a.key == b.key; });
  if (twice != values_.end()) corrupt("has metadata " + printable(twice->key) + " twice");
}

void GgufFile::read_tensors(Cursor& cursor, uint64_t count) {
  tensors_.reserve(count);
  for (uint64_t i = 0; i < count; i++) {
    Tensor tensor{cursor.string(), TensorType::F32, 0, {1, 1, 1, 1}, nullptr, 0};
    const auto dims = cursor.number<uint32_t>();
    if (dims < 1 || dims > 4) corrupt("has a tensor " + printable(tensor.name) + " of " + std::to_string(dims) + " dimensions");
    tensor.dims = static_cast<int>(dims);
    uint64_t elements = 1;
    for (int d = tensor.dims - 1; d >= 0; d--) {
      const auto extent = cursor.number<uint64_t>();
      if (extent == 0 || extent > kMostExtent || __builtin_mul_overflow(elements, extent, &elements))
        corrupt("gives the tensor " + printable(tensor.name) + " an impossible shape");
      tensor.extents[d] = static_cast<int64_t>(extent);
    }
    const auto type = cursor.number<uint32_t>();
    tensor.type = static_cast<TensorType>(type);
    const QuantFormat* format = quant_format(tensor.type);
    if (format == nullptr) {
      const char* name = ggml_type_name(type);
      if (name == nullptr) corrupt("has a tensor " + printable(tensor.name) + " of the unknown type " + std::to_string(type));
      unsupported("stores the tensor " + printable(tensor.name) + " as " + name + ", which this engine does not read");
    }
    const auto block = static_cast<uint64_t>(format->block);
    if (static_cast<uint64_t>(tensor.extents[tensor.dims - 1]) % block != 0)
      corrupt("has a tensor " + printable(tensor.name) + " whose rows are no multiple of a block of " + format->name);
    if (block != 1 && tensor.dims == 1) unsupported("stores the vector " + printable(tensor.name) + " as " + format->name + "; this engine reads vectors of F32, F16 and BF16");
    if (__builtin_mul_overflow(elements / block, static_cast<uint64_t>(format->bytes), &tensor.bytes))
      corrupt("gives the tensor " + printable(tensor.name) + " an impossible shape");
    const auto offset = cursor.number<uint64_t>();
    // The place in the file is only known after the last name: the offset waits in the pointer.
    if (offset > file_.size()) corrupt("is truncated: the tensor " + printable(tensor.name) + " begins past its end");
    tensor.data = reinterpret_cast<const uint8_t*>(file_.data()) + offset;
    tensors_.push_back(tensor);
  }
}

void GgufFile::place_tensors(size_t data_start, uint64_t alignment) {
  if (tensors_.empty()) return;
  if (data_start > file_.size()) corrupt("is truncated: it ends before its tensors");
  const size_t data_bytes = file_.size() - data_start;
  const auto* base = reinterpret_cast<const uint8_t*>(file_.data());
  std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) { return a.data < b.data; });
  size_t end = 0;
  for (Tensor& tensor : tensors_) {
    const auto offset = static_cast<size_t>(tensor.data - base);
    if (offset % alignment != 0) corrupt("places the tensor " + printable(tensor.name) + " off its alignment");
    if (offset < end) corrupt("has a tensor " + printable(tensor.name) + " that overlaps another");
    if (offset > data_bytes || tensor.bytes > data_bytes - offset)
      corrupt("is truncated: the tensor " + printable(tensor.name) + " needs " + std::to_string(tensor.bytes) + " bytes at " + std::to_string(offset) +
              " and only " + std::to_string(data_bytes) + " data bytes are there");
    end = offset + tensor.bytes;
    tensor.data = base + data_start + offset;
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) { return a.name == b.name; });
  if (twice != tensors_.end()) corrupt("has a tensor " + printable(twice->name) + " twice");
}

const GgufFile::Value* GgufFile::find(std::string_view key) const {
  const auto at = std::lower_bound(values_.begin(), values_.end(), key, [](const Value& value, std::string_view wanted) { return value.key < wanted; });
  return at != values_.end() && at->key == key ? &*at : nullptr;
}

const GgufFile::Tensor* GgufFile::tensor(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name, [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

std::optional<int64_t> GgufFile::integer(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!is_integer(value->type)) corrupt("has metadata " + printable(key) + " that is no whole number");
  return load_integer(value->type, value->data);
}

std::optional<double> GgufFile::real(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (is_integer(value->type)) return static_cast<double>(load_integer(value->type, value->data));
  double number;
  float narrow;
  if (value->type == kF64) std::memcpy(&number, value->data, 8);
  else if (value->type == kF32) {
    std::memcpy(&narrow, value->data, 4);
    // As a person would write it: 1e-5 is stored as the nearest fp32 and must not come out as 9.99999974e-06.
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", static_cast<double>(narrow));
    number = std::strtod(text, nullptr);
    if (static_cast<float>(number) != narrow) number = narrow;
  } else corrupt("has metadata " + printable(key) + " that is no number");
  return number;
}

std::optional<std::string> GgufFile::text(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != kString) corrupt("has metadata " + printable(key) + " that is no text");
  uint64_t length;
  std::memcpy(&length, value->data, 8);
  return std::string(reinterpret_cast<const char*>(value->data) + 8, length);
}

std::optional<bool> GgufFile::flag(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != kBool) corrupt("has metadata " + printable(key) + " that is neither true nor false");
  return *value->data != 0;
}

std::optional<std::vector<int64_t>> GgufFile::integers(std::string_view key, size_t most) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != kArray || !(is_integer(value->element) || value->element == kBool) || value->count > most)
    corrupt("has metadata " + printable(key) + " that is no list of at most " + std::to_string(most) + " whole numbers");
  std::vector<int64_t> items;
  for (uint64_t i = 0; i < value->count; i++) items.push_back(load_integer(value->element, value->data + i * kKindBytes[value->element]));
  return items;
}

}  // namespace tackroom
