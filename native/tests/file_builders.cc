#include "file_builders.h"

namespace tackroom {
namespace {

void number(std::string& out, uint64_t value, int width) {
  for (int i = 0; i < width; i++) out += static_cast<char>(value >> 8 * i);
}

}  // namespace

void GgufBuilder::length(std::string& out, std::vector<LengthField>* fields, uint64_t value, int width) const {
  if (fields != nullptr) fields->push_back({out.size(), width});
  number(out, value, width);
}

void GgufBuilder::key(const std::string& name, uint32_t type) {
  value_count_++;
  length(values_, &value_fields_, name.size(), 8);
  values_ += name;
  length(values_, &value_fields_, type, 4);
}

GgufBuilder& GgufBuilder::text(const std::string& name, const std::string& value) {
  key(name, 8);
  length(values_, &value_fields_, value.size(), 8);
  values_ += value;
  return *this;
}

GgufBuilder& GgufBuilder::u32(const std::string& name, uint32_t value) {
  key(name, 4);
  length(values_, &value_fields_, value, 4);
  return *this;
}

GgufBuilder& GgufBuilder::f32(const std::string& name, float value) {
  key(name, 6);
  values_.append(reinterpret_cast<const char*>(&value), 4);
  return *this;
}

GgufBuilder& GgufBuilder::flag(const std::string& name, bool value) {
  key(name, 7);
  values_ += value ? '\1' : '\0';
  return *this;
}

GgufBuilder& GgufBuilder::u32s(const std::string& name, const std::vector<uint32_t>& values) {
  key(name, 9);
  length(values_, &value_fields_, 4, 4);
  length(values_, &value_fields_, values.size(), 8);
  for (const uint32_t value : values) number(values_, value, 4);
  return *this;
}

GgufBuilder& GgufBuilder::texts(const std::string& name, const std::vector<std::string>& values) {
  key(name, 9);
  length(values_, &value_fields_, 8, 4);
  length(values_, &value_fields_, values.size(), 8);
  for (const std::string& value : values) {
    length(values_, &value_fields_, value.size(), 8);
    values_ += value;
  }
  return *this;
}

GgufBuilder& GgufBuilder::tensor(const std::string& name, const std::vector<uint64_t>& ne, TensorType type, std::string bytes) {
  tensors_.push_back({name, ne, type, std::move(bytes)});
  return *this;
}

std::string GgufBuilder::header(uint32_t version, uint32_t alignment, std::vector<LengthField>* fields) const {
  std::string out = "GGUF";
  length(out, fields, version, 4);
  length(out, fields, tensors_.size(), 8);
  length(out, fields, value_count_, 8);
  if (fields != nullptr)
    for (const LengthField& field : value_fields_) fields->push_back({field.at + out.size(), field.width});
  out += values_;
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    length(out, fields, tensor.name.size(), 8);
    out += tensor.name;
    length(out, fields, tensor.ne.size(), 4);
    for (const uint64_t extent : tensor.ne) length(out, fields, extent, 8);
    length(out, fields, static_cast<uint64_t>(tensor.type), 4);
    length(out, fields, offset, 8);
    offset += (tensor.bytes.size() + alignment - 1) / alignment * alignment;
  }
  return out;
}

std::string GgufBuilder::build(uint32_t version, uint32_t alignment) const {
  std::string out = header(version, alignment, nullptr);
  for (const Tensor& tensor : tensors_) {
    out.append((alignment - out.size() % alignment) % alignment, '\0');
    out += tensor.bytes;
  }
  return out;
}

std::vector<LengthField> GgufBuilder::fields() const {
  std::vector<LengthField> fields;
  header(3, 32, &fields);
  return fields;
}

std::string safetensors_header(const std::vector<SafeTensor>& tensors) {
  std::string text = "{\"__metadata__\":{\"format\":\"pt\"}";
  size_t offset = 0;
  for (const SafeTensor& tensor : tensors) {
    text += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); i++) text += (i == 0 ? "" : ",") + std::to_string(tensor.shape[i]);
    text += "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(offset + tensor.bytes.size()) + "]}";
    offset += tensor.bytes.size();
  }
  return text + "}";
}

std::string safetensors_file(const std::vector<SafeTensor>& tensors, const std::string& header) {
  const std::string text = header.empty() ? safetensors_header(tensors) : header;
  std::string out;
  number(out, text.size(), 8);
  out += text;
  for (const SafeTensor& tensor : tensors) out += tensor.bytes;
  return out;
}

}  // namespace tackroom
