/**
 * The fixed words that detectors begin at, found in one pass. Not the automaton of tables.ts, whose every step waits for the one
 * before: a table of pairs of bytes tells where one of them may begin, and what is left is compared in full. Its findings are put
 * in the automaton's order.
 */
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "growable.h"
#include "layout.h"
#include "probes.h"

namespace tackroom::scan {

/** What is taken of `Tables` in layout.ts; the rest follows from it. */
struct AnchorTables {
  std::vector<uint8_t> lengths, flags, literals;
  std::vector<int32_t> literal_start;
  bool operator==(const AnchorTables&) const = default;
};

/** A set of anchors in the form in which they are looked for. */
class AnchorSet {
 public:
  /** Takes the anchors that have none of the flags `without`. `tables` must outlive it. Errors: std::invalid_argument. */
  AnchorSet(const AnchorTables& tables, uint8_t without);

  /**
   * By a pair of bytes, the first in the low half: groups of anchors that begin with it (low nibble), and groups whose anchors have it
   * as second and third byte (high nibble). Holds the anchors that count after any byte; kShortGroup is that of fewer than three bytes.
   */
  const uint8_t* pairs() const { return pairs_.data(); }
  static constexpr int kLongGroups = 3, kShortGroup = 3;

  /** Whether an anchor of three bytes or more that counts after any byte may begin here; reads four bytes. */
  bool may_begin(const uint8_t* at) const { return any_.fits(at); }
  /** First bytes of the other anchors, which count only where no letter or digit stands before. */
  static bool can_start(uint8_t c) { return is_alnum(c) || c == '+'; }
  /** Whether one of them may begin here; reads four bytes. */
  bool may_start(const uint8_t* at) const {
    const uint32_t pair = load_four(at) & 0xffff;
    return static_cast<bool>(starts_.fits(at) | (start_pairs_[pair >> 6] >> (pair & 63) & 1));
  }

  int32_t length(int32_t anchor) const { return lengths_[anchor]; }

  /**
   * Calls found(anchor, length) for the anchors at `at`, of those of equal length the first first. `head`: a copy of what stands
   * there, or the same, of which eight bytes can be read; `fresh`: no letter or digit stands before.
   */
  template <class Found>
  void match(const uint8_t* at, const uint8_t* end, const uint8_t* head, bool fresh, Found found) const {
    uint64_t exact;
    std::memcpy(&exact, head, sizeof exact);
    const uint64_t texts[2] = {folded(exact), exact};
    walk(short_heads_[*head], at, end, texts, fresh, found);
    if (end - at > 2) walk(heads_[hash(load_four(head))], at, end, texts, fresh, found);
  }

 private:
  /** Lists lie one after the other in `entries_`; the last of each is marked. */
  struct Entry {
    /** Of the literal, folded where its case does not count; the mask is that of its length. */
    uint64_t first_eight, mask;
    const uint8_t* literal;
    int32_t anchor;
    uint8_t length, flags;
    bool last;
  };
  static constexpr int kHashBits = 12;

  static uint32_t load_four(const uint8_t* at) {
    uint32_t four;
    std::memcpy(&four, at, sizeof four);
    return four;
  }
  /** Of the first three bytes; case does not count, nor a few other differences. */
  static uint32_t hash(uint32_t four) { return ((four | 0x202020) << 8) * 0x9e3779b1u >> (32 - kHashBits); }

  /** What the first four bytes of anchors are: by the hash of three the lowest bits of the fourth. */
  struct Filter {
    std::array<uint32_t, 1 << kHashBits> fourth{};
    bool fits(const uint8_t* at) const {
      const uint32_t four = load_four(at);
      return (fourth[hash(four)] >> (four >> 24 & 31) & 1) != 0;
    }
    void add(const Entry& entry) {
      const uint32_t four = load_four(reinterpret_cast<const uint8_t*>(&entry.first_eight));
      fourth[hash(four)] |= entry.length > 3 ? uint32_t{1} << (four >> 24 & 31) : ~uint32_t{0};
    }
  };

  /** Capitals of eight bytes made small. */
  static uint64_t folded(uint64_t bytes) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    const uint64_t low = bytes & 0x7f * kOnes;
    const uint64_t capitals = (low + (0x80 - 'A') * kOnes) ^ (low + (0x7f - 'Z') * kOnes);
    return bytes | (capitals & ~bytes & 0x80 * kOnes) >> 2;
  }
  static bool same_rest(const Entry& entry, const uint8_t* at);
  void add_list(std::vector<Entry>& list, uint16_t& head);
  void add_to_pairs(const Entry& entry, uint8_t group);
  void add_to_starts(const Entry& entry);

  template <class Found>
  void walk(uint16_t head, const uint8_t* at, const uint8_t* end, const uint64_t (&texts)[2], bool fresh, Found found) const {
    if (head == 0) return;
    for (const Entry* entry = &entries_[head];; entry++) {
      const uint64_t other = (texts[(entry->flags & kExactCase) != 0] ^ entry->first_eight) & entry->mask;
      if (other == 0 && (fresh || (entry->flags & kStart) == 0) && end - at >= entry->length && (entry->length <= 8 || same_rest(*entry, at)))
        found(entry->anchor, entry->length);
      if (entry->last) return;
    }
  }

  const uint8_t* lengths_;
  std::array<uint8_t, 1 << 16> pairs_{};
  Filter any_, starts_;
  std::array<uint64_t, 1 << 10> start_pairs_{};
  std::array<uint16_t, 1 << kHashBits> heads_{};
  std::array<uint16_t, 256> short_heads_{};
  std::vector<Entry> entries_;
};

/** The anchors of a scanner: those of texts, and those that are looked for in JSON keys. */
struct Anchors {
  explicit Anchors(AnchorTables given) : tables(std::move(given)), in_text(tables, kPersonKey), in_keys(tables, 0) {}
  Anchors(const Anchors&) = delete;

  AnchorTables tables;
  AnchorSet in_text, in_keys;
};

}  // namespace tackroom::scan
