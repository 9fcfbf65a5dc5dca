#include "needles.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tackroom::scan {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
/** Bits of the map for each text, and of the largest map as a power of two. */
constexpr size_t kSparse = 16;
constexpr int kMostBits = 24;

}  // namespace

template <size_t kPiece>
uint64_t Needles::Pieces<kPiece>::piece(const uint8_t* at) {
  uint64_t piece = 0;
  std::memcpy(&piece, at, kPiece);
  return piece;
}

template <size_t kPiece>
size_t Needles::Pieces<kPiece>::slot_of(uint64_t piece) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (piece * kFactor >> 32) & mask;
  while (slots_[slot].first >= 0 && slots_[slot].piece != piece) slot = (slot + 1) & mask;
  return slot;
}

template <size_t kPiece>
void Needles::Pieces<kPiece>::mark(uint64_t piece) {
  const uint64_t place = piece * kFactor >> shift_;
  bits_[place >> 6] |= uint64_t{1} << (place & 63);
}

template <size_t kPiece>
void Needles::Pieces<kPiece>::add(uint64_t piece, int32_t needle, std::vector<int32_t>& next) {
  if ((count_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slot_of(piece)];
  next.push_back(slot.first);
  if (slot.first < 0) {
    count_++;
    mark(piece);
  }
  slot = {piece, needle, slot.texts + 1};
}

template <size_t kPiece>
void Needles::Pieces<kPiece>::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  while (shift_ > 64 - kMostBits && slots_.size() / 2 * kSparse > size_t{1} << (64 - shift_)) shift_--;
  bits_.assign(size_t{1} << (64 - shift_ - 6), 0);
  for (const Slot& one : old) {
    if (one.first < 0) continue;
    slots_[slot_of(one.piece)] = one;
    mark(one.piece);
  }
}

bool Needles::add(const uint8_t* text, size_t length) {
  if (length < kShortest || texts_.size() + length > kMostBytes || next_.size() == INT32_MAX) return false;
  const auto needle = static_cast<int32_t>(next_.size());
  size_t offset = 0;
  if (length >= kLong) {
    // Tokens begin alike and mail addresses end alike: the piece is the one that the fewest others have.
    int32_t least = INT32_MAX;
    const size_t last = length - kLong;
    for (const size_t place : {size_t{0}, last, last / 2, last / 4, last - last / 4}) {
      const int32_t texts = long_.texts(long_.piece(text + place));
      if (texts < least) offset = place;
      least = std::min(least, texts);
      if (least == 0) break;
    }
    long_.add(long_.piece(text + offset), needle, next_);
  } else {
    short_.add(short_.piece(text), needle, next_);
  }
  const size_t place = first_place(load_as<uint32_t>(text + offset));
  begins_[place >> 6] |= uint64_t{1} << (place & 63);
  texts_.insert(texts_.end(), text, text + length);
  starts_.push_back(static_cast<uint32_t>(texts_.size()));
  offsets_.push_back(static_cast<uint32_t>(offset));
  return true;
}

void Needles::find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const {
  if (next_.empty()) return;
  const uint64_t* const begins = begins_.data();
  const bool some = !short_.empty();
  for (size_t at = 0; at + kShortest <= length; at++) {
    const auto four = load_as<uint32_t>(bytes + at);
    const size_t place = first_place(four);
    if ((begins[place >> 6] >> (place & 63) & 1) == 0) continue;
    if (at + kLong <= length) look(long_.first(long_.piece(bytes + at)), bytes, at, length, found);
    if (some) look(short_.first(four), bytes, at, length, found);
  }
}

void Needles::look(int32_t first, const uint8_t* bytes, size_t at, size_t length, Growable<NeedleFound>& found) const {
  for (int32_t needle = first; needle >= 0; needle = next_[static_cast<size_t>(needle)]) {
    const auto n = static_cast<size_t>(needle);
    const size_t size = starts_[n + 1] - starts_[n], offset = offsets_[n];
    if (offset > at || size > length - (at - offset)) continue;
    const size_t start = at - offset;
    if (std::memcmp(bytes + start, texts_.data() + starts_[n], size) == 0)
      found.push({static_cast<int32_t>(start), static_cast<int32_t>(start + size), needle});
  }
}

}  // namespace tackroom::scan
