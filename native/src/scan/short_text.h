/** A text of at most 19 bytes in three words, for tables of texts that come again and again. */
#pragma once
#include <cstdint>
#include <cstring>

namespace tackroom::scan {

struct ShortText {
  static constexpr int64_t kLongest = 19;

  uint64_t low = 0, high = 0;
  uint32_t middle = 0;
  /** Of none: more than there can be. */
  uint32_t length = kLongest + 1;

  bool operator==(const ShortText&) const = default;

  static ShortText of(const uint8_t* at, int64_t length) {
    ShortText text;
    text.length = static_cast<uint32_t>(length);
    if (length >= 8) {
      std::memcpy(&text.low, at, 8);
      std::memcpy(&text.high, at + length - 8, 8);
      if (length > 16) std::memcpy(&text.middle, at + 8, 4);
    } else if (length >= 4) {
      uint32_t last;
      std::memcpy(&text.middle, at, 4);
      std::memcpy(&last, at + length - 4, 4);
      text.low = last;
    } else {
      for (int64_t i = 0; i < length; i++) text.low = text.low << 8 | at[i];
    }
    return text;
  }

  /** `bits` bits. */
  uint32_t slot(int bits) const {
    const uint64_t mixed = (low ^ (high << 23 | high >> 41) ^ (uint64_t{middle} << 32 | length)) * 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> (64 - bits));
  }
};

}  // namespace tackroom::scan
