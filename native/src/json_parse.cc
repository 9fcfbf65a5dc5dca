#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "json.h"

namespace tackroom {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxDigits = 1000;
/** Bytes that values may take in memory: a list of ones takes 40 times its text, which a hostile file must not be able to ask for. */
constexpr size_t kFreeBytes = 10u << 20, kBytesPerByte = 2;

/** Two members of one name: readers of one file would disagree about which counts. */
bool has_duplicates(const Json::Members& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& member : members) names.push_back(member.first);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text), budget_(kFreeBytes + kBytesPerByte * text.size()) {}

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
    auto& members = std::get<Json::Members>(object.value_);
    at_++;
    skip_space();
    if (peek() == '}') return at_++, object;
    for (;;) {
      skip_space();
      std::string key = parse_string();
      skip_space();
      expect(':');
      spend(2 * sizeof(Json::Members::value_type));
      Json value = parse_value(depth + 1);
      members.emplace_back(std::move(key), std::move(value));
      skip_space();
      if (peek() == '}') break;
      expect(',');
    }
    if (has_duplicates(members)) error("two members of one name");
    at_++;
    return object;
  }

  Json parse_array(int depth) {
    Json array = Json::array();
    at_++;
    skip_space();
    if (peek() == ']') return at_++, array;
    for (;;) {
      spend(2 * sizeof(Json));
      array.items().push_back(parse_value(depth + 1));
      skip_space();
      if (peek() == ']') return at_++, array;
      expect(',');
    }
  }

  Json parse_number() {
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view("+-0123456789.eE").find(text_[at_]) != std::string_view::npos) at_++;
    if (at_ - start > kMaxDigits) error("not a number");
    const std::string digits(text_.substr(start, at_ - start));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || end != digits.c_str() + digits.size() || !std::isfinite(value)) error("not a number");
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
      if (c == '"') {
        spend(2 * out.size());
        return out;
      }
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
          if (code >= 0xD800 && code < 0xE000) {
            if (code >= 0xDC00 || !accept("\\u")) error("half a surrogate pair");
            const unsigned low = parse_hex4();
            if (low < 0xDC00 || low >= 0xE000) error("half a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          }
          append_utf8(out, code);
          break;
        }
        default: error("bad escape");
      }
    }
  }

  /** Takes the memory of a value; lists grow by doubling, so an element counts twice. */
  void spend(size_t bytes) {
    if (bytes > budget_) error("too many values");
    budget_ -= bytes;
  }

  std::string_view text_;
  size_t budget_;
  size_t at_ = 0;
};

Json Json::parse(std::string_view text) { return JsonParser(text).document(); }

}  // namespace tackroom
