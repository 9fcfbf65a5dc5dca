/** Whether bytes are one JSON value (RFC 8259), without building it. */
#pragma once
#include "growable.h"

namespace tackroom::scan {

/** A string of a JSON text, by the positions of its first byte and its closing quote; or a bracket. */
struct Token {
  uint32_t at, end;

  static constexpr uint32_t kMark = 1u << 31, kBracket = ~0u;
  static Token string(size_t at, size_t end, bool escaped, bool key) {
    return {static_cast<uint32_t>(at) | (escaped ? kMark : 0), static_cast<uint32_t>(end) | (key ? kMark : 0)};
  }
  static Token bracket(uint8_t c) { return {kBracket, c}; }
  bool is_bracket() const { return at == kBracket; }
  bool escaped() const { return (at & kMark) != 0; }
  bool key() const { return (end & kMark) != 0; }
  size_t first() const { return at & ~kMark; }
  size_t last() const { return end & ~kMark; }
};

/** The tokens of one JSON text behind those of the texts around it. */
struct Tokens {
  Growable<Token>& list;
  size_t first = list.length;
  /** False where there are too many: then none are there. */
  bool complete = true;

  static constexpr size_t kMost = 1 << 20;
  void add(const Token& token) {
    if (list.length - first < kMost) list.push(token);
    else complete = false;
  }
};

/** True for an object, an array or a string, deeper than kJsonDepth for none. Adds its tokens. */
bool is_json(const Text& text, Tokens& tokens);

/** Whether the text begins as is_json wants it, after blanks and a byte order mark; `begin` is moved past the mark. */
bool starts_json(Text& text);

/** The quote that closes the string of checked JSON whose first byte is at `at`, or `end`; `escaped`: it holds a backslash. */
const uint8_t* checked_string_end(const uint8_t* at, const uint8_t* end, const uint8_t* readable, bool& escaped);

}  // namespace tackroom::scan
