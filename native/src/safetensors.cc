#include "safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "error.h"
#include "quants.h"

namespace tackroom {
namespace {

constexpr size_t kMaxHeaderBytes = 100u << 20;

size_t bytes_of(const std::string& dtype) {
  if (dtype == "F32") return 4;
  if (dtype == "F16" || dtype == "BF16") return 2;
  return 0;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path, const char* missing_code, const char* corrupt_code)
    : path_(path), corrupt_code_(corrupt_code), file_(path, missing_code) {
  if (file_.size() < 8) corrupt("is too short for a safetensors header (" + std::to_string(file_.size()) + " bytes)");
  uint64_t header_bytes;
  std::memcpy(&header_bytes, file_.data(), 8);
  if (header_bytes > kMaxHeaderBytes) corrupt("claims a header of " + std::to_string(header_bytes) + " bytes");
  if (header_bytes > file_.size() - 8)
    corrupt("ends inside its header (" + std::to_string(file_.size()) + " of " + std::to_string(header_bytes + 8) + " bytes)");
  data_start_ = 8 + header_bytes;
  Json header;
  try {
    header = Json::parse({file_.data() + 8, header_bytes});
  } catch (const std::runtime_error& error) {
    corrupt(std::string("has an unreadable header (") + error.what() + ")");
  }
  if (!header.is(Json::Type::Object)) corrupt("has a header that is not a JSON object");
  for (const auto& [name, entry] : header.members())
    if (name != "__metadata__") parse_tensor(name, entry, file_.size() - data_start_);
  refuse_overlaps();
}

void SafetensorsFile::corrupt(const std::string& what) const { fail(corrupt_code_, "%s %s.", path_.c_str(), what.c_str()); }

void SafetensorsFile::parse_tensor(const std::string& name, const Json& entry, size_t data_bytes) {
  const Json *dtype = entry.find("dtype"), *shape = entry.find("shape"), *offsets = entry.find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr || !dtype->is(Json::Type::String) || !shape->is(Json::Type::Array) || offsets->items().size() != 2)
    corrupt("describes the tensor " + name + " incompletely");
  Tensor tensor{dtype->string(), {}, 0, 0};
  // Extents of 0 count as 1 here: other code multiplies a part of them and must not overflow either.
  int64_t bound = 1;
  bool empty = false;
  for (const Json& extent : shape->items()) {
    const double n = extent.is(Json::Type::Number) ? extent.number() : -1;
    if (!(n >= 0 && n <= 1e12) || n != std::floor(n) || tensor.shape.size() == 8) corrupt("gives the tensor " + name + " an impossible shape");
    tensor.shape.push_back(static_cast<int64_t>(n));
    empty = empty || n == 0;
    if (n > 0 && __builtin_mul_overflow(bound, tensor.shape.back(), &bound)) corrupt("gives the tensor " + name + " an impossible shape");
  }
  const double elements = empty ? 0 : static_cast<double>(bound);
  const double begin = offsets->items()[0].number(), end = offsets->items()[1].number();
  if (!(begin >= 0 && end >= begin && end < 1e15) || begin != std::floor(begin) || end != std::floor(end)) corrupt("gives the tensor " + name + " impossible offsets");
  if (end > static_cast<double>(data_bytes))
    corrupt("is truncated: the tensor " + name + " needs " + std::to_string(static_cast<size_t>(end)) + " data bytes and only " +
            std::to_string(data_bytes) + " are there");
  const size_t width = bytes_of(tensor.dtype);
  if (width != 0 && elements * static_cast<double>(width) != end - begin) corrupt("has a tensor " + name + " whose shape does not match its bytes");
  tensor.begin = static_cast<size_t>(begin);
  tensor.end = static_cast<size_t>(end);
  tensors_.emplace(name, std::move(tensor));
}

/** Bytes that count twice would let a small file ask for any amount of memory. */
void SafetensorsFile::refuse_overlaps() const {
  std::vector<std::pair<size_t, size_t>> spans;
  spans.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_)
    if (tensor.begin != tensor.end) spans.emplace_back(tensor.begin, tensor.end);
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); i++)
    if (spans[i].first < spans[i - 1].second) corrupt("has tensors that overlap");
}

TensorType SafetensorsFile::type_of(const std::string& name, const Tensor& tensor) const {
  if (tensor.dtype == "F32") return TensorType::F32;
  if (tensor.dtype == "F16") return TensorType::F16;
  if (tensor.dtype == "BF16") return TensorType::BF16;
  corrupt("stores the tensor " + name + " as " + tensor.dtype + ", this engine reads F32, F16 and BF16");
}

const SafetensorsFile::Tensor& SafetensorsFile::check(const std::string& name, const std::vector<int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) corrupt("has no tensor " + name);
  const Tensor& tensor = found->second;
  type_of(name, tensor);
  if (tensor.shape != shape) corrupt("has a tensor " + name + " of shape " + shape_text(tensor.shape) + " where " + shape_text(shape) + " is expected");
  return tensor;
}

void SafetensorsFile::read(const std::string& name, const std::vector<int64_t>& shape, float* out) const {
  const Tensor& tensor = check(name, shape);
  const char* bytes = file_.data() + data_start_ + tensor.begin;
  const size_t count = (tensor.end - tensor.begin) / bytes_of(tensor.dtype);
  if (tensor.dtype == "F32") {
    std::memcpy(out, bytes, count * 4);
    return;
  }
  const bool bf16 = tensor.dtype == "BF16";
  for (size_t i = 0; i < count; i++) {
    uint16_t raw;
    std::memcpy(&raw, bytes + 2 * i, 2);
    out[i] = bf16 ? bf16_to_float(raw) : half_to_float(raw);
  }
}

void write_safetensors(const std::string& path, const ParamSet& params, FileType type) {
  std::vector<const Param*> sorted;
  for (const Param& param : params.params()) sorted.push_back(&param);
  std::sort(sorted.begin(), sorted.end(), [](const Param* a, const Param* b) { return a->name < b->name; });
  Json header = Json::object(), metadata = Json::object();
  metadata.set("format", "pt");
  header.set("__metadata__", metadata);
  const size_t width = type == FileType::F32 ? 4 : 2;
  size_t offset = 0;
  for (const Param* param : sorted) {
    Json entry = Json::object(), shape = Json::array(), offsets = Json::array();
    for (const int64_t extent : param->shape) shape.items().push_back(extent);
    offsets.items().push_back(static_cast<int64_t>(offset));
    offset += param->size * width;
    offsets.items().push_back(static_cast<int64_t>(offset));
    entry.set("dtype", type == FileType::F32 ? "F32" : "BF16");
    entry.set("shape", shape);
    entry.set("data_offsets", offsets);
    header.set(param->name, entry);
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t header_bytes = text.size();
  FileWriter file(path);
  file.write(&header_bytes, 8);
  file.write(text.data(), text.size());
  std::vector<uint16_t> narrow;
  for (const Param* param : sorted) {
    const float* values = params.at(param->offset);
    if (type == FileType::F32) {
      file.write(values, param->size * 4);
      continue;
    }
    narrow.resize(param->size);
    for (size_t i = 0; i < param->size; i++) narrow[i] = float_to_bf16(values[i]);
    file.write(narrow.data(), param->size * 2);
  }
  file.close();
}

}  // namespace tackroom
