/** A JSON value, parser and writer (RFC 8259): enough for model and adapter configs and safetensors headers. */
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tackroom {

class Json {
 public:
  enum class Type { Null, Bool, Number, String, Array, Object };

  Json() = default;
  Json(bool value) : type_(Type::Bool), boolean_(value) {}
  Json(double value) : type_(Type::Number), number_(value) {}
  Json(int value) : type_(Type::Number), number_(value) {}
  Json(int64_t value) : type_(Type::Number), number_(static_cast<double>(value)) {}
  Json(const char* value) : type_(Type::String), string_(value) {}
  Json(std::string value) : type_(Type::String), string_(std::move(value)) {}
  static Json array() { return Json(Type::Array); }
  static Json object() { return Json(Type::Object); }

  /** Throws std::runtime_error naming the byte offset of the first mistake. */
  static Json parse(std::string_view text);
  /** `indent` 0 writes one line. Members keep their order. */
  std::string dump(int indent = 0) const;

  Type type() const { return type_; }
  bool is(Type type) const { return type_ == type; }
  bool boolean() const { return boolean_; }
  double number() const { return number_; }
  const std::string& string() const { return string_; }
  std::vector<Json>& items() { return items_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<std::pair<std::string, Json>>& members() const { return members_; }

  /** Member of an object, or null when absent, JSON null, or not an object. */
  const Json* find(std::string_view key) const;
  /** Replaces or appends a member. */
  void set(std::string_view key, Json value);

 private:
  explicit Json(Type type) : type_(type) {}
  void write(std::string& out, int indent, int depth) const;

  Type type_ = Type::Null;
  bool boolean_ = false;
  double number_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace tackroom
