/** Writes a text anew with its escapes read, and notes where each piece came from: main/sanitize/scan/decode.ts. */
#pragma once
#include "growing.h"

namespace tackroom::scan {

/** What must be free at the end of the arena: the text, the longest unit, and the last block that is copied as one. */
constexpr int64_t decode_room(int64_t from, int64_t to, int64_t limit) {
  return (to - from < limit ? to - from : limit) + 4 + 16;
}

/**
 * Reads b[from..to) as `view` says and adds it to the arena and its breakpoints to `maps`. `b` may lie in the arena, for its
 * `decode_room` is reserved by the caller and it does not move. Stops when `limit` bytes are written; the position read to.
 */
int64_t decode(int view, const uint8_t* b, int64_t from, int64_t to, int64_t shift, int64_t limit,
               Growing<uint8_t>& arena, Growing<int32_t>& maps);

}  // namespace tackroom::scan
