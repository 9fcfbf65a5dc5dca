#include "text_pass.h"

#include "probes.h"
#include "vector_search.h"

namespace tackroom::scan {
namespace {

constexpr ptrdiff_t kBlock = 64;
/** What is looked at for a byte reaches up to eight bytes further. */
constexpr ptrdiff_t kBlockRead = kBlock + 16;

/** What a byte can be part of or begin, by its nibbles: a bit of `low[c & 15] & high[c >> 4]`. */
enum Kind : int {
  kDigitKind = 1,
  kLetterKind = 2 | 4,
  kAlnumKind = kDigitKind | kLetterKind,
  kBase64Kind = kAlnumKind | 8 | 16,
  /** Plus, percent, ampersand; backslash; bytes that begin a terminal sequence or an invisible character, and a few more. */
  kSpecialKind = 32 | 64 | 128,
};
alignas(16) constexpr uint8_t kLowNibbles[16] = {
    1 | 4,              // 0 P p
    1 | 2 | 4,          // 1 A Q
    1 | 2 | 4 | 128,    // 2 ... c2 e2
    1 | 2 | 4,
    1 | 2 | 4,
    1 | 2 | 4 | 32,     // 5 ... %
    1 | 2 | 4 | 32,     // 6 ... &
    1 | 2 | 4,
    1 | 2 | 4,
    1 | 2 | 4,          // 9 I Y
    2 | 4,              // J Z
    2 | 8 | 32 | 128,   // K + ESC
    2 | 64,             // L backslash
    2 | 8,              // M -
    2,                  // N
    2 | 8 | 16 | 128,   // O / _ ef
};
alignas(16) constexpr uint8_t kHighNibbles[16] = {0, 128, 8 | 32, 1, 2, 4 | 16 | 64, 2, 4, 0, 0, 0, 0, 128, 0, 128, 0};

/** The same for what stands between digits: any of them, a colon, a dash, a dot, a plus; and letters of hex. */
enum Mark : int { kSeparator = 1, kColon = 2, kDash = 4, kDot = 8, kPlus = 16, kHexLetter = 32 };
alignas(16) constexpr uint8_t kLowMarks[16] = {1, 32, 32, 32, 32, 32, 32, 0, 1, 1, 2, 16, 0, 1 | 4, 1 | 8, 0};
alignas(16) constexpr uint8_t kHighMarks[16] = {0, 0, 1 | 4 | 8 | 16, 2, 32, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/** One bit a byte of a block. */
struct Masks {
  uint64_t digits = 0, capitals = 0, alnum = 0, base64 = 0, special = 0, separators = 0, colons = 0, dashes = 0, dots = 0, pluses = 0, hex = 0;
};

uint64_t bits(__m128i bytes) { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)); }

/** Bits of the bytes that have none of the bits of `kind`, inverted. */
uint64_t having(__m128i kinds, int kind) {
  return bits(_mm_cmpeq_epi8(_mm_and_si128(kinds, _mm_set1_epi8(static_cast<char>(kind))), _mm_setzero_si128())) ^ 0xffff;
}

__m128i nibbles(__m128i v, __m128i low, __m128i high) {
  const __m128i four = _mm_set1_epi8(15);
  return _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(v, four)), _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(v, 4), four)));
}

__m128i table(const uint8_t* bytes) { return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes)); }

template <bool kLiterals>
Masks classify(const uint8_t* at, ptrdiff_t length) {
  Masks masks;
  const __m128i low = table(kLowNibbles), high = table(kHighNibbles);
  for (int part = 0; part < 4; part++) {
    if (length <= part * 16) break;
    const int shift = part * 16;
    const __m128i v = load(at + shift);
    const __m128i kinds = nibbles(v, low, high);
    masks.alnum |= having(kinds, kAlnumKind) << shift;
    masks.base64 |= having(kinds, kBase64Kind) << shift;
    masks.special |= having(kinds, kSpecialKind) << shift;
    if constexpr (!kLiterals) continue;
    masks.digits |= bits(_mm_slli_epi16(kinds, 7)) << shift;
    // Letters have bit 5 set where they are small.
    masks.capitals |= bits(_mm_slli_epi16(v, 2)) << shift;
    const __m128i marks = nibbles(v, table(kLowMarks), table(kHighMarks));
    masks.separators |= bits(_mm_slli_epi16(marks, 7)) << shift;
    masks.colons |= bits(_mm_slli_epi16(marks, 6)) << shift;
    masks.dashes |= bits(_mm_slli_epi16(marks, 5)) << shift;
    masks.dots |= bits(_mm_slli_epi16(marks, 4)) << shift;
    masks.pluses |= bits(_mm_slli_epi16(marks, 3)) << shift;
    masks.hex |= bits(_mm_slli_epi16(marks, 2)) << shift;
  }
  if constexpr (!kLiterals) return masks;
  masks.capitals = masks.alnum & ~masks.digits & ~masks.capitals;
  masks.hex |= masks.digits;
  return masks;
}

/** What AnchorSet::pairs says of each pair of a block, the last byte and the one behind it included. */
void look_up_pairs(const uint8_t* at, ptrdiff_t length, const uint8_t* pairs, uint8_t* groups) {
  const ptrdiff_t count = length < kBlock ? length + 1 : kBlock + 1;
  for (ptrdiff_t i = 0; i < count; i++) {
    uint16_t pair;
    std::memcpy(&pair, at + i, sizeof pair);
    groups[i] = pairs[pair];
  }
}

/** Where anchors of three bytes or more and where shorter ones may begin. */
struct Beginnings {
  uint64_t of_long = 0, of_short = 0;
};
Beginnings beginnings(const uint8_t* groups, ptrdiff_t length) {
  Beginnings found;
  for (ptrdiff_t part = 0; part < kBlock && part < length; part += 16) {
    const __m128i first = load(groups + part);
    const __m128i both = _mm_and_si128(first, _mm_srli_epi16(load(groups + part + 1), 4));
    found.of_long |= having(both, (1 << AnchorSet::kLongGroups) - 1) << part;
    found.of_short |= bits(_mm_slli_epi16(first, 7 - AnchorSet::kShortGroup)) << part;
  }
  return found;
}

/** Bits shifted down by `count`, with ones coming in: what stands behind the block is not known. */
uint64_t ahead(uint64_t mask, int count) { return mask >> count | ~(~uint64_t{0} >> count); }

/** Where a probe may succeed: at words of some beginnings, digits apart. */
uint64_t worth_probing(const Masks& masks, uint64_t starts) {
  const uint64_t colon_near = ahead(masks.colons, 1) | ahead(masks.colons, 2) | ahead(masks.colons, 3) | ahead(masks.colons, 4);
  const uint64_t pair = ahead(masks.dashes | masks.colons, 2);
  uint64_t long_hex = masks.hex & ahead(masks.hex, 1);
  long_hex &= ahead(long_hex, 2);
  long_hex &= ahead(long_hex, 4);
  const uint64_t dot = masks.digits & (ahead(masks.dots, 1) | (ahead(masks.digits, 1) & (ahead(masks.dots, 2) | (ahead(masks.digits, 2) & ahead(masks.dots, 3)))));
  uint64_t found = starts & (dot | (masks.capitals & ahead(masks.capitals, 1)) | (masks.hex & (colon_near | pair | long_hex)));
  // Nine digits and what may stand between them, in what is to be seen of the next 32 bytes.
  const uint64_t numeric = masks.digits | masks.separators;
  for (uint64_t left = starts & masks.digits & ~found; left != 0; left &= left - 1) {
    const int at = __builtin_ctzll(left);
    const uint64_t stop = ~(numeric >> at);
    const uint64_t run = (stop & (~stop + 1)) - 1;
    if (at > 32 ? run >> (63 - at) != 0 : false) found |= left & (~left + 1);
    else if (__builtin_popcountll(masks.digits >> at & run) >= 9) found |= left & (~left + 1);
  }
  return found;
}

/** Finds the runs of kEncodedMin bytes or more, block by block. */
class RunFinder {
 public:
  explicit RunFinder(Growable<Run>& runs) : runs_(runs) {}

  void block(uint64_t base64, int32_t at) {
    if (base64 == ~uint64_t{0}) return;
    const int first = __builtin_ctzll(~base64);
    end_at(at + first);
    // Runs that begin and end within the block.
    uint64_t begins = base64 & base64 >> 1;
    begins &= begins >> 2;
    begins &= begins >> 4;
    const uint64_t eight = begins;
    begins &= begins >> 8 & eight >> 12;
    begins &= ~(base64 << 1) & ~uint64_t{1};
    const int last = 64 - __builtin_clzll(~base64);
    for (; begins != 0; begins &= begins - 1) {
      const int from = __builtin_ctzll(begins);
      if (from >= last) break;
      const int length = __builtin_ctzll(~(base64 >> from));
      runs_.push({at + from, at + from + length});
    }
    start_ = at + last;
  }
  void end_at(int32_t at) {
    if (at - start_ >= static_cast<int32_t>(kEncodedMin)) runs_.push({start_, at});
  }

 private:
  Growable<Run>& runs_;
  int32_t start_ = 0;
};

}  // namespace

int32_t TextPass::look(const Text& text, Growable<Candidate>& candidates, Growable<Run>* runs) {
  if (known_ == nullptr) return scan<true>(text, candidates, runs);
  known_->find(text, candidates);
  return scan<false>(text, candidates, runs);
}

template <bool kLiterals>
int32_t TextPass::scan(const Text& text, Growable<Candidate>& candidates, Growable<Run>* runs) {
  Growable<Run> unwanted;
  RunFinder finder(runs == nullptr ? unwanted : *runs);
  const size_t first = candidates.length;
  int32_t seen = 0;
  uint64_t before = 0;
  probed_.length = 0;
  alignas(16) uint8_t copy[kBlockRead];
  for (const uint8_t* block = text.begin; block < text.end; block += kBlock) {
    const ptrdiff_t length = text.end - block;
    const uint8_t* bytes = block;
    if (text.readable - block < kBlockRead) {
      // The last of the buffer: nothing behind it may be read.
      const ptrdiff_t left = length < kBlockRead ? length : kBlockRead;
      std::memcpy(copy, block, static_cast<size_t>(left));
      std::memset(copy + left, 0, static_cast<size_t>(kBlockRead - left));
      bytes = copy;
    }
    alignas(16) uint8_t groups[kBlockRead];
    // Well before they are read in whole vectors: the processor has to write them first.
    if constexpr (kLiterals) look_up_pairs(bytes, length, anchors_->pairs(), groups);
    const Masks masks = classify<kLiterals>(bytes, length);
    const uint64_t within = length >= kBlock ? ~uint64_t{0} : ~(~uint64_t{0} << length);
    const uint64_t alnum = masks.alnum & within;
    if (runs != nullptr) finder.block(masks.base64 & within, static_cast<int32_t>(block - text.begin));
    if constexpr (kLiterals) {
      const uint64_t fresh = ~(alnum << 1 | before);
      before = alnum >> 63;
      const Beginnings found = beginnings(groups, length);
      uint64_t begins = found.of_short & within;
      for (uint64_t left = found.of_long & within; left != 0; left &= left - 1) {
        const int place = __builtin_ctzll(left);
        begins |= static_cast<uint64_t>(anchors_->may_begin(bytes + place)) << place;
      }
      for (uint64_t left = fresh & (alnum | masks.pluses) & within; left != 0; left &= left - 1) {
        const int place = __builtin_ctzll(left);
        begins |= static_cast<uint64_t>(anchors_->may_start(bytes + place)) << place;
      }
      for (; begins != 0; begins &= begins - 1) {
        const int place = __builtin_ctzll(begins);
        match(text, block + place, bytes + place, (fresh >> place & 1) != 0, first, candidates);
      }
      for (uint64_t left = (worth_probing(masks, alnum & fresh) | masks.pluses) & within; left != 0; left &= left - 1)
        probe(text, block + __builtin_ctzll(left));
    }
    for (uint64_t left = masks.special & within; left != 0; left &= left - 1) seen |= views_of(block + __builtin_ctzll(left), text.end);
  }
  if (runs != nullptr && text.begin < text.end) finder.end_at(static_cast<int32_t>(text.end - text.begin));
  if constexpr (kLiterals)
    for (size_t i = 0; i < probed_.length; i++) candidates.push(probed_[i]);
  return seen;
}

/** Adds the anchors at `at`, by where they end. Those that stand before `first` are another text's. */
void TextPass::match(const Text& text, const uint8_t* at, const uint8_t* head, bool fresh, size_t first, Growable<Candidate>& candidates) {
  const auto position = static_cast<int32_t>(at - text.begin);
  const auto end_of = [&](const Candidate& candidate) { return candidate.position + anchors_->length(candidate.anchor - kFirstLiteral); };
  anchors_->match(at, text.end, head, fresh, [&](int32_t anchor, uint8_t length) {
    candidates.push({position, kFirstLiteral + anchor});
    size_t i = candidates.length - 1;
    const Candidate added = candidates[i];
    for (; i > first && end_of(candidates[i - 1]) > position + length; i--) candidates[i] = candidates[i - 1];
    candidates[i] = added;
  });
}

/** `at`: first byte of a word, or a plus. */
void TextPass::probe(const Text& text, const uint8_t* at) {
  const uint8_t *end = text.end, kind = kCharClasses[*at];
  const auto add = [&](Probe probe) { probed_.push({static_cast<int32_t>(at - text.begin), probe}); };
  if (kind == 0) {
    if (is_phone(at, end)) add(kPhone);
    return;
  }
  if ((kind & kDigit) != 0) {
    if (is_ipv4(at, end)) add(kIpv4);
    else if (is_digits(at, end)) add(kDigits);
  } else if (*at < 'a' && is_iban(at, end)) {
    add(kIban);
  }
  if ((kind & kHex) == 0) return;
  if (is_hex_triple(at, end)) add(kHexTriple);
  if (is_mac(at, end)) add(kMac);
  else if (has_colon(at, end) && is_ipv6(at, end)) add(kIpv6);
}

}  // namespace tackroom::scan
