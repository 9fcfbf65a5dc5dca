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
uint64_t load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

size_t Needles::Beginnings::slot_of(uint64_t word) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (word * kFactor >> 32) & mask;
  while (slots_[slot].first >= 0 && slots_[slot].word != word) slot = (slot + 1) & mask;
  return slot;
}

void Needles::Beginnings::add(uint64_t word, int32_t needle, std::vector<int32_t>& next) {
  if ((count_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slot_of(word)];
  next.push_back(slot.first);
  if (slot.first < 0) count_++;
  slot = {word, needle};
  const uint64_t place = word * kFactor >> shift_;
  bits_[place >> 6] |= uint64_t{1} << (place & 63);
}

int32_t Needles::Beginnings::first(uint64_t word) const { return slots_[slot_of(word)].first; }

void Needles::Beginnings::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  while (shift_ > 64 - kMostBits && slots_.size() / 2 * kSparse > size_t{1} << (64 - shift_)) shift_--;
  bits_.assign(size_t{1} << (64 - shift_ - 6), 0);
  for (const Slot& one : old) {
    if (one.first < 0) continue;
    slots_[slot_of(one.word)] = one;
    const uint64_t place = one.word * kFactor >> shift_;
    bits_[place >> 6] |= uint64_t{1} << (place & 63);
  }
}

bool Needles::add(const uint8_t* text, size_t length) {
  if (length < kShortest || texts_.size() + length > kMostBytes || next_.size() == INT32_MAX) return false;
  const auto needle = static_cast<int32_t>(next_.size());
  if (length >= kLong) long_.add(load<uint64_t>(text), needle, next_);
  else short_.add(load<uint32_t>(text), needle, next_);
  texts_.insert(texts_.end(), text, text + length);
  starts_.push_back(texts_.size());
  return true;
}

void Needles::find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const {
  if (next_.empty() || length < kShortest) return;
  const bool some = !short_.empty();
  size_t at = 0;
  for (; at + kLong <= length; at++) {
    const auto word = load<uint64_t>(bytes + at);
    if (long_.may_begin(word)) look(long_, word, bytes, at, length, found);
    if (some && short_.may_begin(word & 0xffffffff)) look(short_, word & 0xffffffff, bytes, at, length, found);
  }
  for (; some && at + kShortest <= length; at++) {
    const auto word = load<uint32_t>(bytes + at);
    if (short_.may_begin(word)) look(short_, word, bytes, at, length, found);
  }
}

void Needles::look(const Beginnings& beginnings, uint64_t word, const uint8_t* bytes, size_t at, size_t length, Growable<NeedleFound>& found) const {
  for (int32_t needle = beginnings.first(word); needle >= 0; needle = next_[static_cast<size_t>(needle)]) {
    const size_t first = starts_[static_cast<size_t>(needle)], size = starts_[static_cast<size_t>(needle) + 1] - first;
    if (size <= length - at && std::memcmp(bytes + at, texts_.data() + first, size) == 0)
      found.push({static_cast<int32_t>(at), needle});
  }
}

}  // namespace tackroom::scan
