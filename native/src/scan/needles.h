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

  /** Every place of every text in `bytes`: first those of eight bytes or more, by where they begin, then the shorter ones. */
  void find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const;

 private:
  /**
   * Texts by their first bytes, after S. Wu and U. Manber, "A fast algorithm for multi-pattern searching" (1994): a table says for the last
   * block of `kBlock` bytes that was read how far away the next beginning of `kWindow` bytes ends at least.
   */
  template <size_t kWindow, class Block>
  class Beginnings {
   public:
    static constexpr size_t kBlock = sizeof(Block);

    void add(const uint8_t* text, int32_t needle, std::vector<int32_t>& next);
    /** Calls found(where it begins, the first text that begins so) for every place where a text may stand. */
    template <class Found>
    void find(const uint8_t* bytes, size_t length, Found found) const;

   private:
    struct Slot {
      uint64_t word;
      int32_t first = -1;
    };
    static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    static uint64_t beginning(const uint8_t* at);
    size_t place(const uint8_t* block) const;
    void mark(const uint8_t* text);
    void grow();
    size_t slot_of(uint64_t word) const;

    size_t count_ = 0;
    int shift_ = 64 - 12;
    std::vector<uint8_t> steps_ = std::vector<uint8_t>(1 << 12, kWindow - kBlock + 1);
    std::vector<Slot> slots_ = std::vector<Slot>(1 << 8);
  };

  /** Bytes of a beginning; of texts that are shorter, the least that a text has. */
  static constexpr size_t kLong = 8;
  Beginnings<kLong, uint32_t> long_;
  Beginnings<kShortest, uint16_t> short_;
  std::vector<uint8_t> texts_;
  /** Of each text where it begins, and one more; and the next one that begins alike. */
  std::vector<size_t> starts_ = {0};
  std::vector<int32_t> next_;
};

}  // namespace tackroom::scan
