#include "needles.h"

#include <cstring>
#include <utility>

namespace tackroom::scan {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
/** Bits of the map for each text, and of the largest map as a power of two. */
constexpr size_t kSparse = 16;
constexpr int kMostBits = 24;

template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

template <size_t kWindow>
size_t Needles::Beginnings<kWindow>::slot_of(uint64_t word) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (word * kFactor >> 32) & mask;
  while (slots_[slot].first >= 0 && slots_[slot].word != word) slot = (slot + 1) & mask;
  return slot;
}

template <size_t kWindow>
void Needles::Beginnings<kWindow>::mark(uint64_t word) {
  const uint64_t place = word * kFactor >> shift_;
  bits_[place >> 6] |= uint64_t{1} << (place & 63);
}

template <size_t kWindow>
void Needles::Beginnings<kWindow>::add(const uint8_t* text, int32_t needle, std::vector<int32_t>& next) {
  if ((count_ + 1) * 2 > slots_.size()) grow();
  uint64_t word = 0;
  std::memcpy(&word, text, kWindow);
  Slot& slot = slots_[slot_of(word)];
  next.push_back(slot.first);
  if (slot.first < 0) {
    count_++;
    mark(word);
  }
  slot = {word, needle};
}

template <size_t kWindow>
void Needles::Beginnings<kWindow>::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  while (shift_ > 64 - kMostBits && slots_.size() / 2 * kSparse > size_t{1} << (64 - shift_)) shift_--;
  bits_.assign(size_t{1} << (64 - shift_ - 6), 0);
  for (const Slot& one : old) {
    if (one.first < 0) continue;
    slots_[slot_of(one.word)] = one;
    mark(one.word);
  }
}

bool Needles::add(const uint8_t* text, size_t length) {
  if (length < kShortest || texts_.size() + length > kMostBytes || next_.size() == INT32_MAX) return false;
  const auto needle = static_cast<int32_t>(next_.size());
  if (length >= kLong) long_.add(text, needle, next_);
  else short_.add(text, needle, next_);
  const size_t place = first_place(load<uint32_t>(text));
  begins_[place >> 6] |= uint64_t{1} << (place & 63);
  texts_.insert(texts_.end(), text, text + length);
  starts_.push_back(texts_.size());
  return true;
}

void Needles::find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const {
  if (next_.empty()) return;
  const uint64_t* const begins = begins_.data();
  const bool some = !short_.empty();
  for (size_t at = 0; at + kShortest <= length; at++) {
    const auto four = load<uint32_t>(bytes + at);
    const size_t place = first_place(four);
    if ((begins[place >> 6] >> (place & 63) & 1) == 0) continue;
    if (at + kLong <= length) look(long_.first(load<uint64_t>(bytes + at)), bytes, at, length, found);
    if (some) look(short_.first(four), bytes, at, length, found);
  }
}

void Needles::look(int32_t first, const uint8_t* bytes, size_t at, size_t length, Growable<NeedleFound>& found) const {
  for (int32_t needle = first; needle >= 0; needle = next_[static_cast<size_t>(needle)]) {
    const size_t start = starts_[static_cast<size_t>(needle)], size = starts_[static_cast<size_t>(needle) + 1] - start;
    if (size <= length - at && std::memcmp(bytes + at, texts_.data() + start, size) == 0)
      found.push({static_cast<int32_t>(at), needle});
  }
}

}  // namespace tackroom::scan
