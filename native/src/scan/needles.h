/**
 * Finds any of many texts in one pass. It looks at bytes alone and shares nothing with the scanner: what that overlooks because of how it
 * reads a text is found here. main/sanitize/second/needle-index.ts says the same in TypeScript.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "growable.h"

namespace tackroom::scan {

struct NeedleFound {
  int32_t start, needle;
};

class Needles {
 public:
  /** A text has at least this many bytes. */
  static constexpr size_t kShortest = 4;

  /** Texts are numbered in the order in which they are added. False: it is too short, or there are too many bytes of them. */
  bool add(const uint8_t* text, size_t length);

  /** Every place of every text in `bytes`, by where they begin. */
  void find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const;

 private:
  static constexpr size_t kLong = 8;

  /** Texts by their first `kWindow` bytes; a bit map of hashes says quickly that none begins so. */
  template <size_t kWindow>
  class Beginnings {
   public:
    void add(const uint8_t* text, int32_t needle, std::vector<int32_t>& next);
    bool empty() const { return count_ == 0; }
    /** The first text that begins with the bytes of `word`; -1: none. */
    int32_t first(uint64_t word) const {
      const uint64_t place = word * kFactor >> shift_;
      return (bits_[place >> 6] >> (place & 63) & 1) != 0 ? slots_[slot_of(word)].first : -1;
    }

   private:
    struct Slot {
      uint64_t word;
      int32_t first = -1;
    };
    static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    void mark(uint64_t word);
    void grow();
    size_t slot_of(uint64_t word) const;

    size_t count_ = 0;
    int shift_ = 64 - 12;
    std::vector<uint64_t> bits_ = std::vector<uint64_t>(1 << 6);
    std::vector<Slot> slots_ = std::vector<Slot>(1 << 8);
  };

  void look(int32_t first, const uint8_t* bytes, size_t at, size_t length, Growable<NeedleFound>& found) const;

  /** Whether any text begins with these four bytes, by their hash: small enough to stay near the processor. */
  static constexpr int kFirstBits = 18;
  static size_t first_place(uint32_t four) { return four * 0x9e3779b1u >> (32 - kFirstBits); }
  std::vector<uint64_t> begins_ = std::vector<uint64_t>(size_t{1} << (kFirstBits - 6));
  Beginnings<kLong> long_;
  Beginnings<kShortest> short_;
  std::vector<uint8_t> texts_;
  /** Of each text where it begins, and one more; and the next one that begins alike. */
  std::vector<size_t> starts_ = {0};
  std::vector<int32_t> next_;
};

}  // namespace tackroom::scan
