/**
 * Finds all anchors of a text. The tables are those of the automaton (main/sanitize/scan/tables.ts); a filter tells first where
 * an anchor can begin at all, which is at few bytes.
 */
#pragma once
#include <cstdint>
#include <vector>

#include "growing.h"

namespace tackroom::scan {

/** `Tables` of main/sanitize/scan/layout.ts. */
struct AnchorTables {
  std::vector<uint8_t> classes, lengths, flags, literals;
  std::vector<uint16_t> next;
  std::vector<int32_t> output_start, outputs, literal_start;
  int32_t columns = 0;
};

class Anchors {
 public:
  /** Errors: std::invalid_argument for tables that do not belong together. */
  explicit Anchors(AnchorTables tables);

  /** Adds a candidate for every anchor of b[from..to) that counts in texts: by end, then by beginning. */
  void find(const uint8_t* b, int64_t from, int64_t to, Growing<int32_t>& candidates) const;
  /** Flags of all anchors of a key, those that count in keys only too. */
  int flags_of_key(const uint8_t* b, int64_t from, int64_t to) const;

 private:
  void check() const;
  void prepare();
  void add_to_filter(int32_t anchor);
  void begin_at(const uint8_t* b, int64_t from, int64_t to, int64_t at, int64_t first, Growing<int32_t>& candidates) const;
  bool counts(const uint8_t* b, int64_t from, int64_t start, int32_t anchor) const;

  AnchorTables t_;
  /** State -> anchors that begin at the root and end here, from own_start_[state] on. */
  std::vector<int32_t> own_start_, own_;
  /** state * columns + column -> the state one byte deeper, or 0: no anchor goes on so. */
  std::vector<uint16_t> deeper_;
  /**
   * Whether an anchor of at most two bytes can begin with a pair, or a longer one with three bytes (by their hash): a bit of Where.
   */
  std::vector<uint8_t> pairs_, triples_;
};

}  // namespace tackroom::scan
