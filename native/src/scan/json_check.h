/**
 * Whether bytes are one JSON value (RFC 8259), without building it: main/sanitize/scan/json-check.ts. What is found on the way
 * is noted, so that the strings need not be looked for again.
 */
#pragma once
#include "growing.h"

namespace tackroom::scan {

struct JsonToken {
  enum Kind : int32_t { OpenObject, OpenArray, Close, Key, Text };
  Kind kind;
  bool escaped;
  /** Of strings: what is between the quotes. */
  int32_t from, to;
};

/** True for an object, an array or a string, deeper than kJsonDepth for none. Its tokens are added; without success none. */
bool read_json(const uint8_t* b, int64_t from, int64_t to, Growing<JsonToken>& tokens);

}  // namespace tackroom::scan
