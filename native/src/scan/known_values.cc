#include "known_values.h"

#include <algorithm>
#include <stdexcept>

#include "probes.h"

namespace tackroom::scan {
namespace {

uint32_t load_piece(const uint8_t* at) {
  uint32_t piece;
  std::memcpy(&piece, at, sizeof piece);
  return piece;
}

}  // namespace

KnownValues::KnownValues(KnownTables tables) : tables_(std::move(tables)) {
  const size_t count = tables_.offsets.size();
  const auto unfit = [] { throw std::invalid_argument("The tables of known values do not belong together."); };
  if (count > INT32_MAX / 2 || tables_.starts.size() != count + 1 || tables_.bounded.size() != count) unfit();
  int bits = 0;
  while (count >> bits != 0) bits++;
  const int filter_bits = std::clamp(bits + 7, 12, 20), slot_bits = bits + 1;
  filter_shift_ = 32 - filter_bits;
  slot_shift_ = 32 - slot_bits;
  filter_.resize(size_t{1} << filter_bits);
  slots_.resize(size_t{1} << slot_bits, {0, -1});
  next_.resize(count, -1);
  last_end_.resize(count);
  last_text_.resize(count);
  std::vector<int32_t> last(slots_.size());
  for (size_t i = 0; i < count; i++) {
    const int64_t start = tables_.starts[i], end = tables_.starts[i + 1], offset = tables_.offsets[i];
    if (start < 0 || end > static_cast<int64_t>(tables_.bytes.size()) || offset < 0 || start + offset + static_cast<int64_t>(kPiece) > end) unfit();
    const uint32_t piece = load_piece(tables_.bytes.data() + start + offset);
    filter_[mix(piece) >> filter_shift_] = 1;
    size_t slot = mix(piece) >> slot_shift_;
    while (slots_[slot].first >= 0 && slots_[slot].piece != piece) slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot].first < 0) slots_[slot] = {piece, static_cast<int32_t>(i)};
    else next_[static_cast<size_t>(last[slot])] = static_cast<int32_t>(i);
    last[slot] = static_cast<int32_t>(i);
  }
}

void KnownValues::find(const Text& text, Growable<Candidate>& candidates) {
  text_++;
  if (text.end - text.begin < static_cast<ptrdiff_t>(kPiece)) return;
  const uint8_t* const end = text.end - (kPiece - 1);
  const uint8_t* const filter = filter_.data();
  const int shift = filter_shift_;
  const auto may = [&](const uint8_t* at) { return filter[mix(load_piece(at)) >> shift]; };
  const uint8_t* at = text.begin;
  for (; end - at >= 8; at += 8) {
    const int any = may(at) | may(at + 1) | may(at + 2) | may(at + 3) | may(at + 4) | may(at + 5) | may(at + 6) | may(at + 7);
    if (any == 0) continue;
    for (const uint8_t* i = at; i < at + 8; i++)
      if (may(i) != 0) look(text, i, candidates);
  }
  for (; at < end; at++)
    if (may(at) != 0) look(text, at, candidates);
}

void KnownValues::look(const Text& text, const uint8_t* at, Growable<Candidate>& candidates) {
  const uint32_t piece = load_piece(at);
  size_t slot = mix(piece) >> slot_shift_;
  while (slots_[slot].piece != piece || slots_[slot].first < 0) {
    if (slots_[slot].first < 0) return;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const auto size = static_cast<size_t>(text.end - text.begin), place = static_cast<size_t>(at - text.begin);
  for (int32_t value = slots_[slot].first; value >= 0; value = next_[static_cast<size_t>(value)]) {
    const auto v = static_cast<size_t>(value);
    const auto offset = static_cast<size_t>(tables_.offsets[v]), first = static_cast<size_t>(tables_.starts[v]);
    const size_t length = static_cast<size_t>(tables_.starts[v + 1]) - first;
    if (place < offset || place - offset + length > size) continue;
    const size_t start = place - offset;
    if (last_text_[v] == text_ && start < last_end_[v]) continue;
    if (tables_.bounded[v] == 1 && ((start > 0 && is_alnum(text.begin[start - 1])) ||
                                    (start + length < size && is_alnum(text.begin[start + length]))))
      continue;
    if (std::memcmp(text.begin + start, tables_.bytes.data() + first, length) != 0) continue;
    last_text_[v] = text_;
    last_end_[v] = start + length;
    candidates.push({static_cast<int32_t>(start), kFirstLiteral + value});
  }
}

}  // namespace tackroom::scan
