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
  int32_t start, end, needle;
};

class Needles {
 public:
  /** A text has at least this many bytes. */
  static constexpr size_t kShortest = 4;

  /** Texts are numbered in the order in which they are added. False: it is too short, or there are too many. */
  bool add(const uint8_t* text, size_t length);

  /** Every place of every text in `bytes`, in no order. */
  void find(const uint8_t* bytes, size_t length, Growable<NeedleFound>& found) const;

 private:
  /** Bytes of the piece that a text is found by; of texts that are shorter, the least that a text has. */
  static constexpr size_t kLong = 8;

  /** Texts by a piece of `kPiece` bytes; a bit map of hashes says quickly that none has it. */
  template <size_t kPiece>
  class Pieces {
   public:
    bool empty() const { return count_ == 0; }
    static uint64_t piece(const uint8_t* at);
    /** How many texts have it. */
    int32_t texts(uint64_t piece) const { return slots_[slot_of(piece)].texts; }
    void add(uint64_t piece, int32_t needle, std::vector<int32_t>& next);
    /** The first text with these bytes; -1: none. */
    int32_t first(uint64_t piece) const {
      const uint64_t place = piece * kFactor >> shift_;
      return (bits_[place >> 6] >> (place & 63) & 1) != 0 ? slots_[slot_of(piece)].first : -1;
    }

   private:
    struct Slot {
      uint64_t piece = 0;
      int32_t first = -1, texts = 0;
    };
    static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    void mark(uint64_t piece);
    void grow();
    size_t slot_of(uint64_t piece) const;

    size_t count_ = 0;
    int shift_ = 64 - 12;
    std::vector<uint64_t> bits_ = std::vector<uint64_t>(1 << 6);
    std::vector<Slot> slots_ = std::vector<Slot>(1 << 8);
  };

  void look(int32_t first, const uint8_t* bytes, size_t at, size_t length, Growable<NeedleFound>& found) const;

  /** Whether any piece begins with these four bytes, by their hash: small enough to stay near the processor. */
  static constexpr int kFirstBits = 18;
  static size_t first_place(uint32_t four) { return four * 0x9e3779b1u >> (32 - kFirstBits); }
  std::vector<uint64_t> begins_ = std::vector<uint64_t>(size_t{1} << (kFirstBits - 6));
  Pieces<kLong> long_;
  Pieces<kShortest> short_;
  std::vector<uint8_t> texts_;
  /** Of each text where it begins, and one more; where in it its piece stands; and the next one with the same piece. */
  std::vector<uint32_t> starts_ = {0}, offsets_;
  std::vector<int32_t> next_;
};

}  // namespace tackroom::scan
