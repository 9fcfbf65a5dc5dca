/** Many fixed values found in one pass, by one four-byte piece of each; see main/sanitize/scan/known-values.ts. */
#pragma once
#include <vector>

#include "growable.h"
#include "layout.h"

namespace tackroom::scan {

/** What is taken of `KnownTables` in known-values.ts. */
struct KnownTables {
  std::vector<uint8_t> bytes, bounded;
  std::vector<int32_t> starts, offsets;
};

class KnownValues {
 public:
  /** Errors: std::invalid_argument where the tables do not fit each other. */
  explicit KnownValues(KnownTables tables);

  /** Adds a candidate for every value in the text, in the order in which their pieces end. */
  void find(const Text& text, Growable<Candidate>& candidates);

 private:
  struct Slot {
    uint32_t piece;
    /** First value with this piece; -1: the slot is free. */
    int32_t first;
  };
  static constexpr size_t kPiece = 4;

  static uint32_t mix(uint32_t piece) { return piece * 0x9e3779b1u; }
  void look(const Text& text, const uint8_t* at, Growable<Candidate>& candidates);

  KnownTables tables_;
  /** Not zero where a piece with this hash may be known. */
  std::vector<uint8_t> filter_;
  std::vector<Slot> slots_;
  int filter_shift_, slot_shift_;
  /** The next value with the same piece, or -1. */
  std::vector<int32_t> next_;
  /** End of the last finding of each value, and in which text: a value is not found again inside itself. */
  std::vector<size_t> last_end_;
  std::vector<uint64_t> last_text_;
  uint64_t text_ = 0;
};

}  // namespace tackroom::scan
