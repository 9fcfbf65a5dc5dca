/** Copies bytes with stand-ins in the place of ranges; main/sanitize/engine.ts says the same in TypeScript. */
#pragma once
#include <cstddef>
#include <cstdint>

namespace tackroom::scan {

/** As in main/sanitize/ranges.ts. */
struct SpliceRange {
  int32_t start, end, entity, certainty;
};

struct StandIns {
  const uint8_t* bytes;
  /** Where each begins, and where the last ends. */
  const int32_t* starts;
  size_t count;
};

/**
 * Writes `input[from, to)` with the ranges replaced to `out`, which has room for `room` bytes. False, where it does not have just this
 * many bytes or the ranges are not in order, lie outside or name no stand-in; then some may have been written.
 */
bool splice(const uint8_t* input, size_t from, size_t to, const SpliceRange* ranges, size_t count, const StandIns& stand_ins, uint8_t* out, size_t room);

}  // namespace tackroom::scan
