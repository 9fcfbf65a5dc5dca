#include "strings_seen.h"

#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "growable.h"

namespace tackroom::scan {
namespace {

constexpr size_t kFirstSlots = 1 << 12;

/** Odd, and unknown to whoever wrote the input. */
const std::array<uint64_t, 4>& secrets() {
  static const std::array<uint64_t, 4> made = [] {
    std::random_device device;
    std::array<uint64_t, 4> numbers;
    for (uint64_t& number : numbers) number = (uint64_t{device()} << 32 | device()) | 1;
    return numbers;
  }();
  return made;
}

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

StringsSeen::StringsSeen(size_t most) : most_(most), slots_(kFirstSlots) {}

StringsSeen::Hash StringsSeen::hash(const uint8_t* at, size_t length, Hash before) const {
  const auto& [first, second, third, fourth] = secrets();
  uint64_t low = before.low ^ first ^ length, high = before.high ^ third ^ length * second;
  const auto take = [&](uint64_t a, uint64_t b) {
    low = mix(low ^ a ^ second, b ^ third) + b;
    high = mix(high ^ b ^ first, a ^ fourth) + a;
  };
  const uint8_t* const end = at + length;
  for (; end - at > 16; at += 16) take(load_as<uint64_t>(at), load_as<uint64_t>(at + 8));
  // The last ones, some of them for a second time: the length is part of it.
  if (length >= 16) take(load_as<uint64_t>(end - 16), load_as<uint64_t>(end - 8));
  else if (length >= 8) take(load_as<uint64_t>(at), load_as<uint64_t>(end - 8));
  else if (length >= 4) take(load_as<uint32_t>(at), load_as<uint32_t>(end - 4));
  else if (length > 0) take(uint64_t{at[0]} << 16 | uint64_t{at[length / 2]} << 8 | end[-1], 0);
  return {mix(low ^ second, high ^ fourth), mix(high ^ first, low ^ third)};
}

int32_t StringsSeen::number(const Hash& hash) {
  size_t mask = slots_.size() - 1, slot = hash.low & mask;
  for (; slots_[slot].number >= 0; slot = (slot + 1) & mask)
    if (slots_[slot].hash == hash) return slots_[slot].number;
  if (count_ == most_) return -1;
  if ((count_ + 1) * 4 > slots_.size() * 3) {
    grow();
    mask = slots_.size() - 1;
    for (slot = hash.low & mask; slots_[slot].number >= 0;) slot = (slot + 1) & mask;
  }
  slots_[slot] = {hash, static_cast<int32_t>(count_++)};
  return slots_[slot].number;
}

void StringsSeen::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& one : old) {
    if (one.number < 0) continue;
    size_t slot = one.hash.low & mask;
    while (slots_[slot].number >= 0) slot = (slot + 1) & mask;
    slots_[slot] = one;
  }
}

}  // namespace tackroom::scan
