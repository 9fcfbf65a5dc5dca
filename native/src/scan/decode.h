/** Writes a text anew with its escapes read, and notes where each piece came from. */
#pragma once
#include "growable.h"
#include "layout.h"

namespace tackroom::scan {

/** Bytes to reserve in the arena before `decode` of so many with this limit. */
constexpr size_t decoded_room(size_t length, size_t limit) { return (length < limit ? length : limit) + 4; }

/**
 * Reads `text` as `view` says and writes it to the arena, where room was made before (so `text` may lie in the arena itself). Parent
 * positions count from `text.begin` on and have `shift` added. Stops when `limit` bytes are written; returns how far it has read.
 */
const uint8_t* decode(View view, const Text& text, int32_t shift, size_t limit, Bytes& arena, Growable<Breakpoint>& maps);

}  // namespace tackroom::scan
