/** Finds many fixed values in one pass: main/sanitize/scan/known-values.ts. */
#pragma once
#include <cstdint>
#include <vector>

#include "growing.h"

namespace tackroom::scan {

/** `KnownTables` of main/sanitize/scan/known-values.ts. */
struct KnownTables {
  std::vector<uint8_t> bytes, bounded;
  std::vector<int32_t> starts, pieces, offsets;
};

class KnownValues {
 public:
  /** Errors: std::invalid_argument for tables that do not belong together. */
  explicit KnownValues(KnownTables tables);
  /** Adds a candidate for every value in b[from..to), in the order in which their pieces end. */
  void find(const uint8_t* b, int64_t from, int64_t to, Growing<int32_t>& candidates);

 private:
  struct Slot {
    uint32_t piece;
    /** Of `values_`; none: both 0. */
    int32_t first, end;
  };
  /** Where one value was last found, and in which text: it is not found again inside itself. */
  struct Last {
    int64_t end;
    uint64_t text;
  };

  void check() const;
  void look_up(const uint8_t* b, int64_t from, int64_t to, int64_t end, uint32_t piece, Growing<int32_t>& candidates);

  KnownTables t_;
  int map_bits_ = 14, slot_bits_ = 1;
  std::vector<uint32_t> map_;
  /** Piece -> values, by open addressing. */
  std::vector<Slot> slots_;
  std::vector<int32_t> values_;
  std::vector<Last> last_;
  uint64_t text_ = 0;
};

}  // namespace tackroom::scan
