#include "anchors.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "probes.h"

namespace tackroom::scan {
namespace {

uint8_t fold(uint8_t c) { return c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c + 32) : c; }

/** The spellings of a byte in a literal. */
std::vector<size_t> spellings(uint8_t c, bool exact) {
  if (exact || !is_letter(c)) return {c};
  return {c, static_cast<size_t>(c ^ 32)};
}

}  // namespace

bool AnchorSet::same_rest(const Entry& entry, const uint8_t* at) {
  if ((entry.flags & kExactCase) != 0) return std::memcmp(at + 8, entry.literal + 8, entry.length - size_t{8}) == 0;
  for (size_t i = 8; i < entry.length; i++)
    if (fold(at[i]) != fold(entry.literal[i])) return false;
  return true;
}

void AnchorSet::add_list(std::vector<Entry>& list, uint16_t& head) {
  std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.length < b.length; });
  list.back().last = true;
  head = static_cast<uint16_t>(entries_.size());
  entries_.insert(entries_.end(), list.begin(), list.end());
}

AnchorSet::AnchorSet(const AnchorTables& tables, uint8_t without) : lengths_(tables.lengths.data()) {
  std::unordered_map<uint32_t, std::vector<Entry>> by_hash, by_byte;
  std::array<uint8_t, 256> in_group{};
  for (uint8_t& pair : pairs_) pair = 16 << kShortGroup;
  const size_t count = tables.lengths.size();
  if (tables.flags.size() != count || tables.literal_start.size() != count + 1 || count > 30'000)
    throw std::invalid_argument("The tables of the scan do not belong together.");
  for (size_t i = 0; i < count; i++) {
    const auto start = static_cast<size_t>(tables.literal_start[i]), length = static_cast<size_t>(tables.lengths[i]);
    if (length == 0 || tables.literal_start[i] < 0 || start + length > tables.literals.size())
      throw std::invalid_argument("The tables of the scan do not belong together.");
    if ((tables.flags[i] & without) != 0) continue;
    Entry entry{0, 0, tables.literals.data() + start, static_cast<int32_t>(i), tables.lengths[i], tables.flags[i], false};
    std::memcpy(&entry.first_eight, entry.literal, std::min<size_t>(length, 8));
    std::memset(&entry.mask, 0xff, std::min<size_t>(length, 8));
    if ((entry.flags & kExactCase) == 0) entry.first_eight = folded(entry.first_eight);
    // Anchors with the same second byte go to different groups: a group fits wrongly where that byte joins two of its anchors.
    if ((entry.flags & kStart) != 0 && can_start(entry.literal[0])) add_to_starts(entry);
    else add_to_pairs(entry, length > 2 ? in_group[fold(entry.literal[1])]++ % kLongGroups : kShortGroup);
    if (length > 2) {
      by_hash[hash(load_four(reinterpret_cast<const uint8_t*>(&entry.first_eight)))].push_back(entry);
      continue;
    }
    by_byte[entry.literal[0]].push_back(entry);
    if (is_letter(entry.literal[0])) by_byte[entry.literal[0] ^ 32].push_back(entry);
  }
  entries_.push_back({});
  for (auto& [hash, list] : by_hash) add_list(list, heads_[hash]);
  for (auto& [byte, list] : by_byte) add_list(list, short_heads_[byte]);
}

void AnchorSet::add_to_pairs(const Entry& entry, uint8_t group) {
  const bool exact = (entry.flags & kExactCase) != 0;
  const auto set = [&](size_t at, uint8_t bit) {
    for (const size_t first : spellings(entry.literal[at], exact)) {
      if (at + 1 < entry.length)
        for (const size_t second : spellings(entry.literal[at + 1], exact)) pairs_[first | second << 8] |= bit;
      else
        for (size_t second = 0; second < 256; second++) pairs_[first | second << 8] |= bit;
    }
  };
  set(0, static_cast<uint8_t>(1 << group));
  if (entry.length < 3) return;
  any_.add(entry);
  set(1, static_cast<uint8_t>(16 << group));
}

void AnchorSet::add_to_starts(const Entry& entry) {
  if (entry.length > 2) {
    starts_.add(entry);
    return;
  }
  const bool exact = (entry.flags & kExactCase) != 0;
  for (const size_t first : spellings(entry.literal[0], exact))
    for (size_t second = 0; second < 256; second++) {
      const size_t pair = first | second << 8;
      if (entry.length == 1 || (exact ? second == entry.literal[1] : fold(static_cast<uint8_t>(second)) == fold(entry.literal[1])))
        start_pairs_[pair >> 6] |= uint64_t{1} << (pair & 63);
    }
}

}  // namespace tackroom::scan
