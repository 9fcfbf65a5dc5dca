#include "splice.h"

#include <cstring>

namespace tackroom::scan {

bool splice(const uint8_t* input, size_t from, size_t to, const SpliceRange* ranges, size_t count, const StandIns& stand_ins, uint8_t* out, size_t room) {
  const uint8_t* const last = out + room;
  const auto copy = [&](const uint8_t* bytes, size_t length) {
    if (length > static_cast<size_t>(last - out)) return false;
    std::memcpy(out, bytes, length);
    out += length;
    return true;
  };
  size_t at = from;
  for (size_t i = 0; i < count; i++) {
    const auto [start, end, entity, certainty] = ranges[i];
    if (start < 0 || static_cast<size_t>(start) < at || end < start || static_cast<size_t>(end) > to) return false;
    if (entity < 0 || static_cast<size_t>(entity) >= stand_ins.count) return false;
    const int32_t first = stand_ins.starts[entity];
    if (!copy(input + at, static_cast<size_t>(start) - at)) return false;
    if (!copy(stand_ins.bytes + first, static_cast<size_t>(stand_ins.starts[entity + 1] - first))) return false;
    at = static_cast<size_t>(end);
  }
  return at <= to && copy(input + at, to - at) && out == last;
}

}  // namespace tackroom::scan
