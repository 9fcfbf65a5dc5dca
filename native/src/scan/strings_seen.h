/**
 * Numbers for the strings of an input: the same string under the same key has the same number. Told apart by 128 bits of a hash that
 * starts elsewhere in every process, so that no text can be made to pass for another.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tackroom::scan {

class StringsSeen {
 public:
  /** Gives out numbers below `most`. */
  explicit StringsSeen(size_t most);

  struct Hash {
    uint64_t low, high;
    bool operator==(const Hash&) const = default;
  };
  /** Of `length` bytes; what `before` says counts as if it stood before them. */
  Hash hash(const uint8_t* at, size_t length, Hash before) const;

  /** The number of what has this hash; -1: it is new, and all numbers are given out. */
  int32_t number(const Hash& hash);

 private:
  struct Slot {
    Hash hash;
    int32_t number = -1;
  };
  void grow();

  const size_t most_;
  size_t count_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace tackroom::scan
