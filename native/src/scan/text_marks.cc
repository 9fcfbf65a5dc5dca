#include "text_marks.h"

#include <tmmintrin.h>

#include <cstring>

#include "byte_class.h"
#include "layout.h"
#include "probes.h"

namespace tackroom::scan {
namespace {

/** Bit i: the i-th byte of a block is one. */
struct Masks {
  uint64_t alnum, base64, view, plus, later, colon, dash;
};

/** Groups of bytes, each the bytes with one of some upper halves and one of some lower halves. */
enum Group : uint8_t {
  kDigitGroup = 1, kLetters1 = 2, kLetters2 = 4, kSigns = 8, kUnderscore = 16, kPercentAmp = 32, kEscapes = 64, kMarks = 128,
};
constexpr uint8_t kAlnumGroups = kDigitGroup | kLetters1 | kLetters2, kBase64Groups = kAlnumGroups | kSigns | kUnderscore,
                  kViewGroups = kPercentAmp | kEscapes | kMarks;

inline uint64_t bits_of(__m128i v) { return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(v))); }

inline Masks masks_of(const uint8_t* b) {
  // Of `[` and two more bytes that are none, views_of says so.
  const __m128i by_high = _mm_setr_epi8(0, kEscapes, kSigns | kPercentAmp, kDigitGroup, kLetters1,
                                        kLetters2 | kUnderscore | kEscapes, kLetters1, kLetters2, 0, 0, 0, 0,
                                        static_cast<char>(kMarks), 0, static_cast<char>(kMarks), 0);
  constexpr uint8_t kAny = kDigitGroup | kLetters1 | kLetters2;
  const __m128i by_low = _mm_setr_epi8(
      kDigitGroup | kLetters2, kAny, static_cast<char>(kAny | kMarks), kAny, kAny, kAny | kPercentAmp, kAny | kPercentAmp, kAny, kAny,
      kAny, kLetters1 | kLetters2, kLetters1 | kSigns | kEscapes, kLetters1 | kEscapes, kLetters1 | kSigns, kLetters1,
      static_cast<char>(kLetters1 | kSigns | kUnderscore | kMarks));
  const __m128i half = _mm_set1_epi8(15), zero = _mm_setzero_si128();
  Masks m{0, 0, 0, 0, 0, 0, 0};
  for (int k = 0; k < 4; k++) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + 16 * k));
    const __m128i group = _mm_and_si128(_mm_shuffle_epi8(by_low, _mm_and_si128(v, half)),
                                        _mm_shuffle_epi8(by_high, _mm_and_si128(_mm_srli_epi16(v, 4), half)));
    const auto in = [&](uint8_t groups) {
      return (bits_of(_mm_cmpeq_epi8(_mm_and_si128(group, _mm_set1_epi8(static_cast<char>(groups))), zero)) ^ 0xffff) << (16 * k);
    };
    m.alnum |= in(kAlnumGroups);
    m.base64 |= in(kBase64Groups);
    m.view |= in(kViewGroups);
    m.plus |= bits_of(_mm_cmpeq_epi8(v, _mm_set1_epi8('+'))) << (16 * k);
    m.colon |= bits_of(_mm_cmpeq_epi8(v, _mm_set1_epi8(':'))) << (16 * k);
    m.dash |= bits_of(_mm_cmpeq_epi8(v, _mm_set1_epi8('-'))) << (16 * k);
    const __m128i above_f = _mm_sub_epi8(v, _mm_set1_epi8('g'));
    m.later |= bits_of(_mm_cmpeq_epi8(_mm_min_epu8(above_f, _mm_set1_epi8('z' - 'g')), above_f)) << (16 * k);
  }
  return m;
}

/** Runs of base64 bytes, from one block to the next. */
class RunFinder {
 public:
  explicit RunFinder(Growing<Run>& runs) : runs_(runs) {}

  void block(uint64_t base64, int64_t base) {
    if (base64 == ~uint64_t{0}) {
      if (open_ < 0) open_ = base;
      return;
    }
    if (open_ >= 0) {
      const int ends = __builtin_ctzll(~base64);
      close(base + ends);
      base64 &= ~uint64_t{0} << ends;
    }
    const int last = __builtin_clzll(~base64);
    if (last > 0) {
      open_ = base + 64 - last;
      base64 &= ~uint64_t{0} >> last;
    }
    uint64_t long_at = base64 & (base64 >> 1);
    long_at &= long_at >> 2;
    long_at &= long_at >> 4;
    long_at &= long_at >> 8;
    long_at &= long_at >> 4;
    while (long_at != 0) {
      const int start = __builtin_ctzll(long_at), length = __builtin_ctzll(~(base64 >> start));
      runs_.add({base + start, base + start + length});
      long_at &= ~uint64_t{0} << (start + length);
    }
  }

  void close(int64_t end) {
    if (open_ >= 0 && end - open_ >= kEncodedMin && end - open_ <= kEncodedMax) runs_.add({open_, end});
    open_ = -1;
  }

 private:
  static_assert(kEncodedMin == 20, "block() looks for twenty bytes");
  Growing<Run>& runs_;
  int64_t open_ = -1;
};

/** What begins at `at`, the first letter or digit of a word, or a plus. `grouped`: a colon or dash may follow as in addresses. */
void probe(const uint8_t* b, int64_t from, int64_t to, int64_t at, bool grouped, Growing<int32_t>& probes) {
  const auto add = [&](Probe anchor) {
    probes.add(static_cast<int32_t>(at - from));
    probes.add(anchor);
  };
  const uint8_t c = b[at], kind = kByteClass[c];
  if (c == '+') {
    if (is_phone(b, at, to)) add(kPhone);
    return;
  }
  if (kind & kDigitByte) {
    if (is_ipv4(b, at, to)) add(kIpv4);
    else if (is_digits(b, at, to)) add(kDigits);
  } else if (c <= 'Z' && is_iban(b, at, to)) {
    add(kIban);
  }
  if (kind & kHexByte) {
    if (is_hex_triple(b, at, to)) add(kHexTriple);
    if (!grouped) return;
    if (is_mac(b, at, to)) add(kMac);
    else if (has_colon(b, at, to) && is_ipv6(b, at, to)) add(kIpv6);
  }
}

}  // namespace

int mark_text(const uint8_t* b, int64_t from, int64_t to, Growing<Run>& runs, Growing<int32_t>* probes) {
  int seen = 0;
  uint64_t before = 0;
  RunFinder finder(runs);
  uint8_t padded[64];
  for (int64_t base = from; base < to; base += 64) {
    const uint8_t* block = b + base;
    if (base + 64 > to) {
      std::memset(padded, 0, sizeof padded);
      std::memcpy(padded, block, static_cast<size_t>(to - base));
      block = padded;
    }
    const Masks m = masks_of(block);
    finder.block(m.base64, base);
    for (uint64_t view = m.view; view != 0; view &= view - 1) seen |= views_of(b, base + __builtin_ctzll(view), to);
    if (probes == nullptr) continue;
    uint64_t starts = (m.alnum & ~(m.alnum << 1 | before) & ~m.later) | m.plus;
    before = m.alnum >> 63;
    // What follows the last bytes of a block is in the next one.
    const uint64_t grouped = m.colon >> 1 | m.colon >> 2 | m.colon >> 3 | m.colon >> 4 | m.dash >> 2 | uint64_t{15} << 60;
    for (; starts != 0; starts &= starts - 1) {
      const int at = __builtin_ctzll(starts);
      probe(b, from, to, base + at, grouped >> at & 1, *probes);
    }
  }
  finder.close(to);
  return seen;
}

}  // namespace tackroom::scan
