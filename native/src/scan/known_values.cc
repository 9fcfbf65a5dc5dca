#include "known_values.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "byte_class.h"
#include "layout.h"

namespace tackroom::scan {
namespace {

constexpr int64_t kPiece = 4;
/** Pieces that are looked up at once. */
constexpr int64_t kBlock = 8;

inline uint32_t mix(uint32_t piece, int bits) { return (piece * 0x9e3779b1u) >> (32 - bits); }

/** Four bytes as the tables have them: the first is the highest. */
inline uint32_t piece_at(const uint8_t* b) {
  uint32_t bytes;
  std::memcpy(&bytes, b, 4);
  return __builtin_bswap32(bytes);
}

}  // namespace

KnownValues::KnownValues(KnownTables tables) : t_(std::move(tables)) {
  check();
  const size_t count = t_.pieces.size();
  last_.assign(count, {0, 0});
  while (map_bits_ < 22 && (size_t{1} << map_bits_) < count * 64) map_bits_++;
  while ((size_t{1} << slot_bits_) < count * 2) slot_bits_++;
  map_.assign(size_t{1} << (map_bits_ - 5), 0);
  slots_.assign(size_t{1} << slot_bits_, {0, 0, 0});
  values_.resize(count);
  std::iota(values_.begin(), values_.end(), 0);
  std::stable_sort(values_.begin(), values_.end(), [&](int32_t a, int32_t b) { return t_.pieces[a] < t_.pieces[b]; });
  for (size_t first = 0, end; first < count; first = end) {
    const auto piece = static_cast<uint32_t>(t_.pieces[values_[first]]);
    for (end = first; end < count && static_cast<uint32_t>(t_.pieces[values_[end]]) == piece;) end++;
    const uint32_t bit = mix(piece, map_bits_);
    map_[bit >> 5] |= 1u << (bit & 31);
    size_t slot = mix(piece, slot_bits_);
    while (slots_[slot].end != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {piece, static_cast<int32_t>(first), static_cast<int32_t>(end)};
  }
}

void KnownValues::check() const {
  const auto require = [](bool holds) {
    if (!holds) throw std::invalid_argument("The tables of known values do not belong together.");
  };
  const size_t count = t_.pieces.size();
  require(count < (1u << 28) && t_.offsets.size() == count && t_.bounded.size() == count && t_.starts.size() == count + 1);
  require(t_.starts[0] == 0 && static_cast<size_t>(t_.starts[count]) == t_.bytes.size());
  for (size_t i = 0; i < count; i++) {
    require(t_.starts[i] <= t_.starts[i + 1]);
    require(t_.offsets[i] >= 0 && t_.offsets[i] + kPiece <= t_.starts[i + 1] - t_.starts[i]);
  }
}

void KnownValues::look_up(const uint8_t* b, int64_t from, int64_t to, int64_t end, uint32_t piece, Growing<int32_t>& candidates) {
  size_t slot = mix(piece, slot_bits_);
  while (slots_[slot].end != 0 && slots_[slot].piece != piece) slot = (slot + 1) & (slots_.size() - 1);
  for (int32_t k = slots_[slot].first; k < slots_[slot].end; k++) {
    const int32_t value = values_[k];
    const int64_t start = end - kPiece - t_.offsets[value], length = t_.starts[value + 1] - t_.starts[value];
    if (start < from || start + length > to) continue;
    Last& last = last_[value];
    if (last.text == text_ && start < last.end) continue;
    if (t_.bounded[value] == 1 && ((start > from && is_alnum(b[start - 1])) || (start + length < to && is_alnum(b[start + length])))) continue;
    if (std::memcmp(b + start, t_.bytes.data() + t_.starts[value], static_cast<size_t>(length)) != 0) continue;
    last = {start + length, text_};
    candidates.add(static_cast<int32_t>(start - from));
    candidates.add(kFirstLiteral + value);
  }
}

void KnownValues::find(const uint8_t* b, int64_t from, int64_t to, Growing<int32_t>& candidates) {
  if (values_.empty()) return;
  text_++;
  const uint32_t* map = map_.data();
  const auto asked = [&](int64_t at) {
    const uint32_t bit = mix(piece_at(b + at), map_bits_);
    return (map[bit >> 5] >> (bit & 31)) & 1;
  };
  int64_t i = from;
  for (; i + kBlock + kPiece <= to; i += kBlock) {
    uint32_t hits = 0;
    for (int k = 0; k < kBlock; k++) hits |= asked(i + k) << k;
    for (; hits != 0; hits &= hits - 1) {
      const int64_t at = i + __builtin_ctz(hits);
      look_up(b, from, to, at + kPiece, piece_at(b + at), candidates);
    }
  }
  for (; i + kPiece <= to; i++)
    if (asked(i)) look_up(b, from, to, i + kPiece, piece_at(b + i), candidates);
}

}  // namespace tackroom::scan
