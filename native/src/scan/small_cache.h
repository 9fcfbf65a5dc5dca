/** Remembers a number for short texts, which keys and names of sessions are over and over. */
#pragma once
#include <nmmintrin.h>

#include <vector>

#include "growable.h"

namespace tackroom::scan {

class SmallCache {
 public:
  static constexpr size_t kLongest = 16;

  /** A text in one piece; of two texts of the same length these are the same only where the texts are. */
  struct Key {
    uint64_t low = 0, high = 0;
    uint32_t length = 0;
    bool operator==(const Key&) const = default;
  };
  static Key key(const uint8_t* at, size_t length) {
    Key key;
    key.length = static_cast<uint32_t>(length);
    if (length >= 8) {
      std::memcpy(&key.low, at, 8);
      std::memcpy(&key.high, at + length - 8, 8);
    } else if (length >= 4) {
      uint32_t low, high;
      std::memcpy(&low, at, 4);
      std::memcpy(&high, at + length - 4, 4);
      key.low = low | static_cast<uint64_t>(high) << 32;
    } else {
      for (size_t i = 0; i < length; i++) key.low = key.low << 8 | at[i];
    }
    return key;
  }

  /** What was remembered, or `otherwise`. */
  uint8_t get(const Key& key, uint8_t otherwise) const {
    const Entry& entry = entries_[slot(key)];
    return entry.used && entry.key == key ? entry.value : otherwise;
  }
  void set(const Key& key, uint8_t value) { entries_[slot(key)] = {key, value, true}; }

 private:
  struct Entry {
    Key key;
    uint8_t value = 0;
    bool used = false;
  };
  static constexpr size_t kEntries = 256;
  static size_t slot(const Key& key) { return _mm_crc32_u64(_mm_crc32_u64(key.length, key.low), key.high) % kEntries; }

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace tackroom::scan
