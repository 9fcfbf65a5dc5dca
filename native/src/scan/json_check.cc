#include "json_check.h"

#include <emmintrin.h>

#include <cstring>

#include "byte_class.h"
#include "layout.h"

namespace tackroom::scan {
namespace {

inline bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline int64_t past_space(const uint8_t* b, int64_t i, int64_t to) {
  while (i < to && is_space(b[i])) i++;
  return i;
}

/** First byte from `i` on that ends a string, begins an escape or may not stand in a string; `to` where there is none. */
inline int64_t odd_byte(const uint8_t* b, int64_t i, int64_t to) {
  const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(31);
  for (; i + 16 <= to; i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i));
    const __m128i odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                     _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
    const int mask = _mm_movemask_epi8(odd);
    if (mask != 0) return i + __builtin_ctz(static_cast<unsigned>(mask));
  }
  while (i < to && b[i] != '"' && b[i] != '\\' && b[i] >= 32) i++;
  return i;
}

/** First byte after the string that opens at `at`, or -1. */
int64_t string_end(const uint8_t* b, int64_t at, int64_t to, bool& escaped) {
  escaped = false;
  for (int64_t i = at + 1;;) {
    i = odd_byte(b, i, to);
    if (i >= to) return -1;
    if (b[i] == '"') return i + 1;
    if (b[i] != '\\') return -1;
    escaped = true;
    if (++i >= to) return -1;
    switch (b[i]) {
      case 'u':
        if (i + 4 >= to || !is_hex(b[i + 1]) || !is_hex(b[i + 2]) || !is_hex(b[i + 3]) || !is_hex(b[i + 4])) return -1;
        i += 5;
        break;
      case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        i++;
        break;
      default:
        return -1;
    }
  }
}

inline int64_t past_digits(const uint8_t* b, int64_t i, int64_t to) {
  while (i < to && is_digit(b[i])) i++;
  return i;
}

int64_t number_end(const uint8_t* b, int64_t at, int64_t to) {
  int64_t i = at;
  if (b[i] == '-') i++;
  if (i >= to || !is_digit(b[i])) return -1;
  i = b[i] == '0' ? i + 1 : past_digits(b, i, to);
  if (i < to && b[i] == '.') {
    i++;
    if (i >= to || !is_digit(b[i])) return -1;
    i = past_digits(b, i, to);
  }
  if (i < to && (b[i] == 'e' || b[i] == 'E')) {
    i++;
    if (i < to && (b[i] == '+' || b[i] == '-')) i++;
    if (i >= to || !is_digit(b[i])) return -1;
    i = past_digits(b, i, to);
  }
  return i;
}

int64_t word_end(const uint8_t* b, int64_t at, int64_t to) {
  if (at + 4 <= to && (std::memcmp(b + at, "true", 4) == 0 || std::memcmp(b + at, "null", 4) == 0)) return at + 4;
  return at + 5 <= to && std::memcmp(b + at, "false", 5) == 0 ? at + 5 : -1;
}

bool read_value(const uint8_t* b, int64_t from, int64_t to, Growing<JsonToken>& tokens) {
  enum { Value, ValueOrEnd, KeyOrEnd, Key, After } want = Value;
  uint8_t stack[kJsonDepth];
  int depth = 0;
  int64_t i = past_space(b, from, to);
  if (i >= to || (b[i] != '{' && b[i] != '[' && b[i] != '"')) return false;
  bool escaped;
  const auto close = [&] {
    i++;
    depth--;
    tokens.add({JsonToken::Close, false, 0, 0});
    want = After;
  };
  for (;;) {
    i = past_space(b, i, to);
    if (i >= to) return want == After && depth == 0;
    const uint8_t c = b[i];
    if (want == After) {
      if (depth == 0) return false;
      const bool object = stack[depth - 1] == '{';
      if (c == ',') {
        i++;
        want = object ? Key : Value;
      } else if (c == (object ? '}' : ']')) {
        close();
      } else {
        return false;
      }
    } else if (want == KeyOrEnd || want == Key) {
      if (c == '}' && want == KeyOrEnd) {
        close();
        continue;
      }
      if (c != '"') return false;
      const int64_t end = string_end(b, i, to, escaped);
      if (end < 0) return false;
      tokens.add({JsonToken::Key, escaped, static_cast<int32_t>(i + 1), static_cast<int32_t>(end - 1)});
      i = past_space(b, end, to);
      if (i >= to || b[i] != ':') return false;
      i++;
      want = Value;
    } else if (c == ']' && want == ValueOrEnd) {
      close();
    } else if (c == '{' || c == '[') {
      if (depth == kJsonDepth) return false;
      stack[depth++] = c;
      i++;
      tokens.add({c == '{' ? JsonToken::OpenObject : JsonToken::OpenArray, false, 0, 0});
      want = c == '{' ? KeyOrEnd : ValueOrEnd;
    } else {
      if (c == '"') {
        const int64_t end = string_end(b, i, to, escaped);
        if (end < 0) return false;
        tokens.add({JsonToken::Text, escaped, static_cast<int32_t>(i + 1), static_cast<int32_t>(end - 1)});
        i = end;
      } else {
        i = c == '-' || is_digit(c) ? number_end(b, i, to) : word_end(b, i, to);
        if (i < 0) return false;
      }
      want = After;
    }
  }
}

}  // namespace

bool read_json(const uint8_t* b, int64_t from, int64_t to, Growing<JsonToken>& tokens) {
  const int64_t first = tokens.length();
  if (read_value(b, from, to, tokens)) return true;
  tokens.set_length(first);
  return false;
}

}  // namespace tackroom::scan
