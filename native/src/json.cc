#include "json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace tackroom {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) error("text after the value");
    return value;
  }

 private:
  [[noreturn]] void error(const char* what) const {
    throw std::runtime_error("JSON: " + std::string(what) + " at byte " + std::to_string(at_));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) at_++;
  }
  void expect(char c) {
    if (peek() != c) error("unexpected character");
    at_++;
  }
  bool accept(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    if (depth > kMaxDepth) error("nesting too deep");
    skip_space();
    switch (peek()) {
      case '{': return parse_object(depth);
      case '[': return parse_array(depth);
      case '"': return Json(parse_string());
      case 't': if (accept("true")) return Json(true); break;
      case 'f': if (accept("false")) return Json(false); break;
      case 'n': if (accept("null")) return Json(); break;
      default: return parse_number();
    }
    error("unknown word");
  }

  Json parse_object(int depth) {
    Json object = Json::object();
    at_++;
    skip_space();
    if (peek() == '}') return at_++, object;
    for (;;) {
      skip_space();
      std::string key = parse_string();
      skip_space();
      expect(':');
      object.set(key, parse_value(depth + 1));
      skip_space();
      if (peek() == '}') return at_++, object;
      expect(',');
    }
  }

  Json parse_array(int depth) {
    Json array = Json::array();
    at_++;
    skip_space();
    if (peek() == ']') return at_++, array;
    for (;;) {
      array.items().push_back(parse_value(depth + 1));
      skip_space();
      if (peek() == ']') return at_++, array;
      expect(',');
    }
  }

  Json parse_number() {
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view("+-0123456789.eE").find(text_[at_]) != std::string_view::npos) at_++;
    const std::string digits(text_.substr(start, at_ - start));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || end != digits.c_str() + digits.size()) error("not a number");
    return Json(value);
  }

  unsigned parse_hex4() {
    unsigned value = 0;
    for (int i = 0; i < 4; i++, at_++) {
      const char c = peek();
      if (c >= '0' && c <= '9') value = value * 16 + static_cast<unsigned>(c - '0');
      else if ((c | 32) >= 'a' && (c | 32) <= 'f') value = value * 16 + static_cast<unsigned>((c | 32) - 'a' + 10);
      else error("bad \\u escape");
    }
    return value;
  }

  static void append_utf8(std::string& out, unsigned code) {
    if (code < 0x80) out += static_cast<char>(code);
    else if (code < 0x800) (out += static_cast<char>(0xC0 | code >> 6)) += static_cast<char>(0x80 | (code & 63));
    else if (code < 0x10000) {
      ((out += static_cast<char>(0xE0 | code >> 12)) += static_cast<char>(0x80 | (code >> 6 & 63))) += static_cast<char>(0x80 | (code & 63));
    } else {
      ((out += static_cast<char>(0xF0 | code >> 18)) += static_cast<char>(0x80 | (code >> 12 & 63))) += static_cast<char>(0x80 | (code >> 6 & 63));
      out += static_cast<char>(0x80 | (code & 63));
    }
  }

  std::string parse_string() {
    expect('"');
    std::string out;
    for (;;) {
      if (at_ >= text_.size()) error("unterminated string");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) error("control character in a string");
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escape = peek();
      at_++;
      switch (escape) {
        case '"': case '\\': case '/': out += escape; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          unsigned code = parse_hex4();
          if (code >= 0xD800 && code < 0xDC00 && accept("\\u")) code = 0x10000 + ((code - 0xD800) << 10) + (parse_hex4() - 0xDC00);
          append_utf8(out, code);
          break;
        }
        default: error("bad escape");
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

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

Json Json::parse(std::string_view text) { return Parser(text).document(); }

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members_)
    if (name == key) return value.is(Type::Null) ? nullptr : &value;
  return nullptr;
}

void Json::set(std::string_view key, Json value) {
  for (auto& [name, old] : members_) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  members_.emplace_back(std::string(key), std::move(value));
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
  switch (type_) {
    case Type::Null: out += "null"; return;
    case Type::Bool: out += boolean_ ? "true" : "false"; return;
    case Type::String: write_string(out, string_); return;
    case Type::Number: {
      char text[32];
      if (number_ == std::floor(number_) && std::fabs(number_) < 1e15) std::snprintf(text, sizeof text, "%.0f", number_);
      else std::snprintf(text, sizeof text, "%.17g", number_);
      out += text;
      return;
    }
    case Type::Array: {
      out += '[';
      for (size_t i = 0; i < items_.size(); i++) {
        if (i != 0) out += ',';
        line(depth + 1);
        items_[i].write(out, indent, depth + 1);
      }
      if (!items_.empty()) line(depth);
      out += ']';
      return;
    }
    case Type::Object: {
      out += '{';
      for (size_t i = 0; i < members_.size(); i++) {
        if (i != 0) out += ',';
        line(depth + 1);
        write_string(out, members_[i].first);
        out += indent > 0 ? ": " : ":";
        members_[i].second.write(out, indent, depth + 1);
      }
      if (!members_.empty()) line(depth);
      out += '}';
    }
  }
}

}  // namespace tackroom
