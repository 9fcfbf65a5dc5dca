#include "json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tackroom {
namespace {

void write_string(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else out += c;
  }
  out += '"';
}

}  // namespace

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.value_.emplace<Items>();
  return json;
}

Json Json::object() {
  Json json;
  json.value_.emplace<Members>();
  return json;
}

bool Json::boolean() const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr && *value;
}

double Json::number() const {
  const double* value = std::get_if<double>(&value_);
  return value == nullptr ? 0 : *value;
}

const std::string& Json::string() const {
  static const std::string none;
  const std::string* value = std::get_if<std::string>(&value_);
  return value == nullptr ? none : *value;
}

const Json::Items& Json::items() const {
  static const Items none;
  const Items* value = std::get_if<Items>(&value_);
  return value == nullptr ? none : *value;
}

const Json::Members& Json::members() const {
  static const Members none;
  const Members* value = std::get_if<Members>(&value_);
  return value == nullptr ? none : *value;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members())
    if (name == key) return value.is(Type::Null) ? nullptr : &value;
  return nullptr;
}

void Json::set(std::string_view key, Json value) {
  Members& members = std::get<Members>(value_);
  for (auto& [name, old] : members) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  members.emplace_back(std::string(key), std::move(value));
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void Json::write(std::string& out, int indent, int depth) const {
  const auto line = [&](int level) {
    if (indent > 0) (out += '\n').append(static_cast<size_t>(level * indent), ' ');
  };
  switch (type()) {
    case Type::Null: out += "null"; return;
    case Type::Bool: out += boolean() ? "true" : "false"; return;
    case Type::String: write_string(out, string()); return;
    case Type::Number: {
      char text[32];
      if (number() == std::floor(number()) && std::fabs(number()) < 1e15) std::snprintf(text, sizeof text, "%.0f", number());
      else {
        std::snprintf(text, sizeof text, "%.15g", number());
        if (std::strtod(text, nullptr) != number()) std::snprintf(text, sizeof text, "%.17g", number());
      }
      out += text;
      return;
    }
    case Type::Array: {
      out += '[';
      for (size_t i = 0; i < items().size(); i++) {
        if (i != 0) out += ',';
        line(depth + 1);
        items()[i].write(out, indent, depth + 1);
      }
      if (!items().empty()) line(depth);
      out += ']';
      return;
    }
    case Type::Object: {
      out += '{';
      for (size_t i = 0; i < members().size(); i++) {
        if (i != 0) out += ',';
        line(depth + 1);
        write_string(out, members()[i].first);
        out += indent > 0 ? ": " : ":";
        members()[i].second.write(out, indent, depth + 1);
      }
      if (!members().empty()) line(depth);
      out += '}';
    }
  }
}

}  // namespace tackroom
