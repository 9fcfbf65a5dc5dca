#include "needles.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tackroom::scan {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
/** Places of the table for each text, and of the largest table as a power of two. */
constexpr size_t kSparse = 32;
constexpr int kMostBits = 22;

}  // namespace

template <size_t kWindow, class Block>
uint64_t Needles::Beginnings<kWindow, Block>::beginning(const uint8_t* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, kWindow);
  return word;
}

template <size_t kWindow, class Block>
size_t Needles::Beginnings<kWindow, Block>::place(const uint8_t* block) const {
  Block bytes;
  std::memcpy(&bytes, block, kBlock);
  return bytes * kFactor >> shift_;
}

template <size_t kWindow, class Block>
size_t Needles::Beginnings<kWindow, Block>::slot_of(uint64_t word) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (word * kFactor >> 32) & mask;
  while (slots_[slot].first >= 0 && slots_[slot].word != word) slot = (slot + 1) & mask;
  return slot;
}

template <size_t kWindow, class Block>
void Needles::Beginnings<kWindow, Block>::mark(const uint8_t* text) {
  for (size_t from = 0; from + kBlock <= kWindow; from++) {
    uint8_t& step = steps_[place(text + from)];
    step = std::min<uint8_t>(step, static_cast<uint8_t>(kWindow - kBlock - from));
  }
}

template <size_t kWindow, class Block>
void Needles::Beginnings<kWindow, Block>::add(const uint8_t* text, int32_t needle, std::vector<int32_t>& next) {
  if ((count_ + 1) * 2 > slots_.size()) grow();
  const uint64_t word = beginning(text);
  Slot& slot = slots_[slot_of(word)];
  next.push_back(slot.first);
  if (slot.first < 0) {
    count_++;
    mark(text);
  }
  slot = {word, needle};
}

template <size_t kWindow, class Block>
void Needles::Beginnings<kWindow, Block>::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  while (shift_ > 64 - kMostBits && slots_.size() / 2 * kSparse > size_t{1} << (64 - shift_)) shift_--;
  steps_.assign(size_t{1} << (64 - shift_), kWindow - kBlock + 1);
  for (const Slot& one : old) {
    if (one.first < 0) continue;
    slots_[slot_of(one.word)] = one;
    mark(reinterpret_cast<const uint8_t*>(&one.word));
  }
}

template <size_t kWindow, class Block>
template <class Found>
void Needles::Beginnings<kWindow, Block>::find(const uint8_t* bytes, size_t length, Found found) const {
  if (count_ == 0) return;
  for (size_t end = kWindow; end <= length;) {
    const size_t step = steps_[place(bytes + end - kBlock)];
    if (step == 0) {
      const int32_t first = slots_[slot_of(beginning(bytes + end - kWindow))].first;
      if (first >= 0) found(end - kWindow, first);
      end++;
    } else {
      end += step;
    }
  }
}

bool Needles::add(const uint8_t* text, size_t length) {
  if (length < kShortest || texts_.size() + length > kMostBytes || next_.size() == INT32_MAX) return false;
  const auto needle = static_cast<int32_t>(next_.size());
  if (length >= kLong) long_.add(text, needle, next_);
  else short_.add(text, needle, next_);
  texts_.insert(texts_.end(), text, text + length);
  starts_.push_back(texts_.size());
  return true;
}

void Needles::find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const {
  const auto look = [&](size_t at, int32_t first) {
    for (int32_t needle = first; needle >= 0; needle = next_[static_cast<size_t>(needle)]) {
      const size_t start = starts_[static_cast<size_t>(needle)], size = starts_[static_cast<size_t>(needle) + 1] - start;
      if (size <= length - at && std::memcmp(bytes + at, texts_.data() + start, size) == 0)
        found.push({static_cast<int32_t>(at), needle});
    }
  };
  long_.find(bytes, length, look);
  short_.find(bytes, length, look);
}

}  // namespace tackroom::scan
