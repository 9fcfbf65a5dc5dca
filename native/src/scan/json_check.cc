#include "json_check.h"

#include "layout.h"
#include "probes.h"
#include "vector_search.h"

namespace tackroom::scan {
namespace {

bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/** First byte after the string that opens at `at`, or null. */
const uint8_t* string_end(const uint8_t* at, const Text& text, bool key, Tokens& tokens) {
  const uint8_t* end = text.end;
  bool escaped = false;
  for (const uint8_t* i = at + 1;; i++) {
    i = find(
        i, end, text.readable,
        [](__m128i v) {
          const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(31)), v);
          return _mm_or_si128(control, _mm_or_si128(equal(v, '"'), equal(v, '\\')));
        },
        [](uint8_t c) { return c < 32 || c == '"' || c == '\\'; });
    if (i >= end || *i < 32) return nullptr;
    if (*i == '"') {
      tokens.add(Token::string(static_cast<size_t>(at + 1 - text.begin), static_cast<size_t>(i - text.begin), escaped, key));
      return i + 1;
    }
    escaped = true;
    if (++i >= end) return nullptr;
    switch (*i) {
      case 'u':
        if (end - i <= 4 || !is_hex(i[1]) || !is_hex(i[2]) || !is_hex(i[3]) || !is_hex(i[4])) return nullptr;
        i += 4;
        break;
      case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        break;
      default:
        return nullptr;
    }
  }
}

const uint8_t* digits_end(const uint8_t* i, const uint8_t* end) {
  while (i < end && is_digit(*i)) i++;
  return i;
}

const uint8_t* number_end(const uint8_t* i, const uint8_t* end) {
  if (*i == '-') i++;
  if (i >= end || !is_digit(*i)) return nullptr;
  if (*i == '0') i++;
  else i = digits_end(i, end);
  if (i < end && *i == '.') {
    i++;
    if (i >= end || !is_digit(*i)) return nullptr;
    i = digits_end(i, end);
  }
  if (i < end && (*i == 'e' || *i == 'E')) {
    i++;
    if (i < end && (*i == '+' || *i == '-')) i++;
    if (i >= end || !is_digit(*i)) return nullptr;
    i = digits_end(i, end);
  }
  return i;
}

const uint8_t* word_end(const uint8_t* at, const uint8_t* end) {
  const auto left = static_cast<size_t>(end - at);
  if (left >= 4 && (std::memcmp(at, "true", 4) == 0 || std::memcmp(at, "null", 4) == 0)) return at + 4;
  return left >= 5 && std::memcmp(at, "false", 5) == 0 ? at + 5 : nullptr;
}

enum class Want { Value, ValueOrEnd, KeyOrEnd, Key, After };

}  // namespace

bool is_json(const Text& text, Tokens& tokens) {
  uint8_t stack[kJsonDepth];
  size_t depth = 0;
  const uint8_t *i = text.begin, *end = text.end;
  while (i < end && is_space(*i)) i++;
  if (i >= end || (*i != '{' && *i != '[' && *i != '"')) return false;
  Want want = Want::Value;
  for (;;) {
    while (i < end && is_space(*i)) i++;
    if (i >= end) return want == Want::After && depth == 0;
    const uint8_t c = *i;
    switch (want) {
      case Want::After: {
        if (depth == 0) return false;
        const bool object = stack[depth - 1] == '{';
        i++;
        if (c == ',') want = object ? Want::Key : Want::Value;
        else if (c != (object ? '}' : ']')) return false;
        else {
          depth--;
          tokens.add(Token::bracket(c));
        }
        break;
      }
      case Want::KeyOrEnd:
      case Want::Key:
        if (c == '}' && want == Want::KeyOrEnd) {
          i++;
          depth--;
          tokens.add(Token::bracket(c));
          want = Want::After;
          break;
        }
        if (c != '"') return false;
        i = string_end(i, text, true, tokens);
        if (i == nullptr) return false;
        while (i < end && is_space(*i)) i++;
        if (i >= end || *i != ':') return false;
        i++;
        want = Want::Value;
        break;
      default:
        if (c == ']' && want == Want::ValueOrEnd) {
          i++;
          depth--;
          tokens.add(Token::bracket(c));
          want = Want::After;
        } else if (c == '{' || c == '[') {
          if (depth == kJsonDepth) return false;
          stack[depth++] = c;
          tokens.add(Token::bracket(c));
          i++;
          want = c == '{' ? Want::KeyOrEnd : Want::ValueOrEnd;
        } else {
          i = c == '"' ? string_end(i, text, false, tokens) : c == '-' || is_digit(c) ? number_end(i, end) : word_end(i, end);
          if (i == nullptr) return false;
          want = Want::After;
        }
    }
  }
}

bool starts_json(Text& text) {
  const uint8_t* i = text.begin;
  if (text.end - i >= 3 && i[0] == 0xef && i[1] == 0xbb && i[2] == 0xbf) text.begin = i += 3;
  while (i < text.end && (*i == ' ' || *i == '\t' || *i == '\r')) i++;
  return i < text.end && (*i == '{' || *i == '[' || *i == '"');
}

const uint8_t* checked_string_end(const uint8_t* at, const uint8_t* end, const uint8_t* readable, bool& escaped) {
  escaped = false;
  for (const uint8_t* i = at;; i += 2) {
    i = find(
        i, end, readable, [](__m128i v) { return _mm_or_si128(equal(v, '"'), equal(v, '\\')); },
        [](uint8_t c) { return c == '"' || c == '\\'; });
    if (i >= end) return end;
    if (*i == '"') return i;
    escaped = true;
  }
}

}  // namespace tackroom::scan
