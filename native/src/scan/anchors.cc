#include "anchors.h"

#include <cstring>
#include <stdexcept>

#include "byte_class.h"
#include "layout.h"

namespace tackroom::scan {
namespace {

constexpr int kTripleBits = 15;
/** Places that the filter looks at together. */
constexpr int kBlock = 8;
/** Where an anchor can stand: at the start of a word, or behind a letter or digit too. */
enum Where : uint8_t { kWordStart = 1, kBehind = 2 };

/** Letters of both cases, and a few other bytes with them, are one. */
inline uint32_t triple_slot(uint32_t bytes) { return (((bytes | 0x202020) & 0xffffff) * 0x9e3779b1u) >> (32 - kTripleBits); }

inline uint8_t folded(uint8_t c) { return c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c + 32) : c; }
inline bool same_letter(uint8_t a, uint8_t b, bool exact) { return exact ? a == b : folded(a) == folded(b); }

}  // namespace

Anchors::Anchors(AnchorTables tables) : t_(std::move(tables)) {
  check();
  prepare();
}

void Anchors::check() const {
  const auto require = [](bool holds) {
    if (!holds) throw std::invalid_argument("The tables of the scan do not belong together.");
  };
  const size_t columns = static_cast<size_t>(t_.columns), anchors = t_.lengths.size();
  require(t_.columns > 0 && t_.columns <= 256 && t_.classes.size() == 256 && t_.next.size() % columns == 0);
  const size_t states = t_.next.size() / columns;
  require(states > 0 && states <= 65536 && t_.output_start.size() == states + 1 && t_.output_start[0] == 0);
  for (size_t i = 0; i < states; i++) require(t_.output_start[i] <= t_.output_start[i + 1]);
  require(static_cast<size_t>(t_.output_start[states]) == t_.outputs.size());
  for (const uint8_t column : t_.classes) require(column < columns);
  for (const uint16_t state : t_.next) require(state < states);
  for (const int32_t anchor : t_.outputs) require(anchor >= 0 && static_cast<size_t>(anchor) < anchors);
  require(t_.flags.size() == anchors && t_.literal_start.size() == anchors + 1 && t_.literal_start[0] == 0);
  for (size_t i = 0; i < anchors; i++) require(t_.lengths[i] > 0 && t_.literal_start[i + 1] - t_.literal_start[i] == t_.lengths[i]);
  require(static_cast<size_t>(t_.literal_start[anchors]) == t_.literals.size());
}

/** The automaton as a tree: a step to a state that is one deeper is one of the tree, all others lead back. */
void Anchors::prepare() {
  const auto columns = static_cast<size_t>(t_.columns), states = t_.next.size() / columns;
  std::vector<int32_t> depth(states, -1);
  std::vector<size_t> order{0};
  depth[0] = 0;
  for (size_t at = 0; at < order.size(); at++)
    for (size_t column = 0; column < columns; column++) {
      const uint16_t to = t_.next[order[at] * columns + column];
      if (depth[to] >= 0) continue;
      depth[to] = depth[order[at]] + 1;
      order.push_back(to);
    }
  deeper_.assign(states * columns, 0);
  own_start_.assign(states + 1, 0);
  for (size_t state = 0; state < states; state++) {
    for (size_t column = 0; column < columns; column++) {
      const uint16_t to = t_.next[state * columns + column];
      if (depth[state] >= 0 && depth[to] == depth[state] + 1) deeper_[state * columns + column] = to;
    }
    for (int32_t k = t_.output_start[state]; k < t_.output_start[state + 1]; k++) {
      const int32_t anchor = t_.outputs[k];
      if (t_.lengths[anchor] == depth[state] && (t_.flags[anchor] & kPersonKey) == 0) own_.push_back(anchor);
    }
    own_start_[state + 1] = static_cast<int32_t>(own_.size());
  }
  pairs_.assign(1 << 16, 0);
  triples_.assign(1 << kTripleBits, 0);
  for (size_t anchor = 0; anchor < t_.lengths.size(); anchor++)
    if ((t_.flags[anchor] & kPersonKey) == 0) add_to_filter(static_cast<int32_t>(anchor));
}

void Anchors::add_to_filter(int32_t anchor) {
  const uint8_t* literal = t_.literals.data() + t_.literal_start[anchor];
  const bool exact = t_.flags[anchor] & kExactCase;
  const uint8_t where = t_.flags[anchor] & kAtStart ? kWordStart : kWordStart | kBehind;
  if (t_.lengths[anchor] > 2) {
    triples_[triple_slot(literal[0] | literal[1] << 8 | literal[2] << 16)] |= where;
    return;
  }
  for (uint32_t pair = 0; pair < 65536; pair++)
    if (same_letter(pair & 255, literal[0], exact) &&
        (t_.lengths[anchor] == 1 || same_letter(static_cast<uint8_t>(pair >> 8), literal[1], exact)))
      pairs_[pair] |= where;
}

bool Anchors::counts(const uint8_t* b, int64_t from, int64_t start, int32_t anchor) const {
  const int flag = t_.flags[anchor];
  if ((flag & kAtStart) && start > from && is_alnum(b[start - 1])) return false;
  return (flag & kExactCase) == 0 || std::memcmp(b + start, t_.literals.data() + t_.literal_start[anchor], t_.lengths[anchor]) == 0;
}

/** Adds the anchors that begin at `at`, each before those of the text, from `first` on, that end behind it. */
void Anchors::begin_at(const uint8_t* b, int64_t from, int64_t to, int64_t at, int64_t first, Growing<int32_t>& candidates) const {
  const auto columns = static_cast<size_t>(t_.columns);
  size_t state = 0;
  for (int64_t i = at; i < to; i++) {
    state = deeper_[state * columns + t_.classes[b[i]]];
    if (state == 0) return;
    for (int32_t k = own_start_[state]; k < own_start_[state + 1]; k++) {
      if (!counts(b, from, at, own_[k])) continue;
      int64_t place = candidates.push(kCandidate);
      for (; place > first; place -= kCandidate) {
        const int64_t before = candidates[place - 2] + from + t_.lengths[candidates[place - 1] - kFirstLiteral];
        if (before <= i + 1) break;
        candidates[place] = candidates[place - 2];
        candidates[place + 1] = candidates[place - 1];
      }
      candidates[place] = static_cast<int32_t>(at - from);
      candidates[place + 1] = kFirstLiteral + own_[k];
    }
  }
}

void Anchors::find(const uint8_t* b, int64_t from, int64_t to, Growing<int32_t>& candidates) const {
  const int64_t first = candidates.length();
  const uint8_t* const pairs = pairs_.data();
  const uint8_t* const triples = triples_.data();
  uint8_t padded[16] = {};
  for (int64_t i = from; i < to; i += kBlock) {
    const uint8_t* block = b + i;
    if (i + 16 > to) {
      std::memcpy(padded, block, static_cast<size_t>(to - i));
      std::memset(padded + (to - i), 0, static_cast<size_t>(i + 16 - to));
      block = padded;
    }
    uint64_t low, high, hits = 0;
    std::memcpy(&low, block, 8);
    std::memcpy(&high, block + 2, 8);
#pragma GCC unroll 8
    for (int k = 0; k < kBlock; k++) {
      const auto bytes = static_cast<uint32_t>(k < 5 ? low >> (8 * k) : high >> (8 * (k - 2)));
      hits |= static_cast<uint64_t>(triples[triple_slot(bytes)] | pairs[bytes & 0xffff]) << (8 * k);
    }
    // What is behind the end begins nothing.
    while (hits != 0) {
      const int k = __builtin_ctzll(hits) / 8;
      const auto where = static_cast<uint8_t>(hits >> (8 * k));
      hits &= ~(uint64_t{255} << (8 * k));
      const int64_t at = i + k;
      if (at < to && (where & (at > from && is_alnum(b[at - 1]) ? kBehind : kWordStart))) begin_at(b, from, to, at, first, candidates);
    }
  }
}

int Anchors::flags_of_key(const uint8_t* b, int64_t from, int64_t to) const {
  int flags = 0;
  size_t state = 0;
  for (int64_t i = from; i < to; i++) {
    state = t_.next[state * static_cast<size_t>(t_.columns) + t_.classes[b[i]]];
    for (int32_t k = t_.output_start[state]; k < t_.output_start[state + 1]; k++) {
      const int32_t anchor = t_.outputs[k];
      const int64_t start = i + 1 - t_.lengths[anchor];
      if (start >= from && counts(b, from, start, anchor)) flags |= t_.flags[anchor];
    }
  }
  return flags;
}

}  // namespace tackroom::scan
