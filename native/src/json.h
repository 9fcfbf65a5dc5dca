/** A JSON value, parser and writer (RFC 8259): enough for model and adapter configs and safetensors headers. */
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tackroom {

class Json {
 public:
  enum class Type { Null, Bool, Number, String, Array, Object };
  using Items = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(int value) : value_(static_cast<double>(value)) {}
  Json(int64_t value) : value_(static_cast<double>(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  // Not inline: GCC 12 warns wrongly about moved-from variants wherever it inlines these.
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  static Json array();
  static Json object();

  /**
   * Throws std::runtime_error naming the byte offset of the first mistake. Objects with two members of one name, more
   * than 64 levels, and texts that would take more than about 16 MB + 3 bytes a byte of text are mistakes.
   */
  static Json parse(std::string_view text);
  /** `indent` 0 writes one line. Members keep their order. */
  std::string dump(int indent = 0) const;

  Type type() const { return static_cast<Type>(value_.index()); }
  bool is(Type type) const { return this->type() == type; }
  /** The value, or false, 0, "" and empty lists for values of another type. */
  bool boolean() const;
  double number() const;
  const std::string& string() const;
  const Items& items() const;
  const Members& members() const;
  /** Of an array only. */
  Items& items() { return std::get<Items>(value_); }

  /** Member of an object, or null when absent, JSON null, or not an object. */
  const Json* find(std::string_view key) const;
  /** Replaces or appends a member of an object. */
  void set(std::string_view key, Json value);

 private:
  friend class JsonParser;
  void write(std::string& out, int indent, int depth) const;

  // In the order of Type.
  std::variant<std::monostate, bool, double, std::string, Items, Members> value_;
};

}  // namespace tackroom
