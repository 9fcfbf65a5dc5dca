#include "decode.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "byte_class.h"
#include "layout.h"

namespace tackroom::scan {
namespace {

/** Value of `count` hex digits at `at`, or -1. */
int32_t hex_value(const uint8_t* b, int64_t at, int count, int64_t to) {
  if (at + count > to) return -1;
  int32_t value = 0;
  for (int i = 0; i < count; i++) {
    const int digit = hex_digit(b[at + i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

inline uint8_t tail(int32_t bits) { return static_cast<uint8_t>(0x80 | (bits & 63)); }

uint8_t* write_utf8(uint8_t* out, int32_t code) {
  if (code < 0x80) {
    *out++ = static_cast<uint8_t>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<uint8_t>(0xc0 | (code >> 6));
    *out++ = tail(code);
  } else if (code < 0x10000) {
    *out++ = static_cast<uint8_t>(0xe0 | (code >> 12));
    *out++ = tail(code >> 6);
    *out++ = tail(code);
  } else {
    *out++ = static_cast<uint8_t>(0xf0 | (code >> 18));
    *out++ = tail(code >> 12);
    *out++ = tail(code >> 6);
    *out++ = tail(code);
  }
  return out;
}

/** From `position` of the new text on it goes on at `parent`; what stood before it ended at `gap`. */
inline void breakpoint(Growing<int32_t>& maps, int64_t position, int64_t parent, int64_t gap) {
  const int64_t at = maps.push(kBreakpoint);
  maps[at] = static_cast<int32_t>(position);
  maps[at + 1] = static_cast<int32_t>(parent);
  maps[at + 2] = static_cast<int32_t>(gap);
}

inline int one(uint8_t*& out, uint8_t byte, int length) {
  *out++ = byte;
  return length;
}

/** \uXXXX at `at`, a surrogate pair as one character. A lone surrogate is written as three bytes. */
int unicode_escape(const uint8_t* b, int64_t at, int64_t to, uint8_t*& out) {
  const int32_t code = hex_value(b, at + 2, 4, to);
  if (code < 0) return 0;
  if (code >= 0xd800 && code < 0xdc00 && at + 7 < to && b[at + 6] == '\\' && b[at + 7] == 'u') {
    const int32_t low = hex_value(b, at + 8, 4, to);
    if (low >= 0xdc00 && low < 0xe000) {
      out = write_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return 12;
    }
  }
  out = write_utf8(out, code);
  return 6;
}

/** Units write what one escape at `at` stands for and return its length; 0: it is none. */
struct JsonUnit {
  static constexpr uint8_t kLead = '\\';
  static int read(const uint8_t* b, int64_t at, int64_t to, uint8_t*& out) {
    const uint8_t c = at + 1 < to ? b[at + 1] : 0;
    switch (c) {
      case 'u': return unicode_escape(b, at, to, out);
      case 'n': return one(out, '\n', 2);
      case 't': return one(out, '\t', 2);
      case 'r': return one(out, '\r', 2);
      case 'b': return one(out, '\b', 2);
      case 'f': return one(out, '\f', 2);
      default: return one(out, c, 2);
    }
  }
};

/** Escapes that programs and shells write into text; others stay, such as the backslashes of Windows paths. */
struct TextUnit {
  static constexpr uint8_t kLead = '\\';
  static int read(const uint8_t* b, int64_t at, int64_t to, uint8_t*& out) {
    if (at + 1 >= to) return 0;
    const uint8_t c = b[at + 1];
    switch (c) {
      case '"': case '\'': case '`': case '\\': case '/': return one(out, c, 2);
      case 'n': return one(out, '\n', 2);
      case 'r': return one(out, '\r', 2);
      case 't': return one(out, '\t', 2);
      case 'u': return unicode_escape(b, at, to, out);
      case 'x': {
        const int32_t value = hex_value(b, at + 2, 2, to);
        return value < 0 ? 0 : one(out, static_cast<uint8_t>(value), 4);
      }
      case 'e': return at + 2 < to && b[at + 2] == '[' ? one(out, 27, 2) : 0;
      case '0': return at + 3 < to && b[at + 2] == '3' && b[at + 3] == '3' ? one(out, 27, 4) : 0;
      default: return 0;
    }
  }
};

struct PercentUnit {
  static constexpr uint8_t kLead = '%';
  static int read(const uint8_t* b, int64_t at, int64_t to, uint8_t*& out) {
    const int32_t value = hex_value(b, at + 1, 2, to);
    return value < 0 ? 0 : one(out, static_cast<uint8_t>(value), 3);
  }
};

struct Entity {
  const char* name;
  uint8_t length, byte;
};
constexpr Entity kEntityNames[] = {
    {"&quot;", 6, '"'}, {"&amp;", 5, '&'},  {"&lt;", 4, '<'},   {"&gt;", 4, '>'},   {"&apos;", 6, '\''},
    {"&#34;", 5, '"'},  {"&#39;", 5, '\''}, {"&#039;", 6, '\''}, {"&#x27;", 6, '\''}, {"&#x22;", 6, '"'},
    {"&#38;", 5, '&'},  {"&#x2F;", 6, '/'}, {"&#x2f;", 6, '/'}, {"&#47;", 5, '/'},  {"&#61;", 5, '='},
    {"&#x3D;", 6, '='}, {"&#x3d;", 6, '='}, {"&#64;", 5, '@'},  {"&#x40;", 6, '@'},
};

struct EntityUnit {
  static constexpr uint8_t kLead = '&';
  static int read(const uint8_t* b, int64_t at, int64_t to, uint8_t*& out) {
    for (const Entity& entity : kEntityNames)
      if (at + entity.length <= to && std::memcmp(b + at, entity.name, entity.length) == 0)
        return one(out, entity.byte, entity.length);
    return 0;
  }
};

/** Bytes of a terminal sequence or of an invisible character at `at`; nothing is written. */
int64_t invisible_length(const uint8_t* b, int64_t at, int64_t to) {
  const uint8_t c = b[at], d = at + 1 < to ? b[at + 1] : 0;
  if (c == 27) {
    if (d == '[') {
      int64_t i = at + 2;
      while (i < to && i < at + 32 && b[i] >= 32 && b[i] < 64) i++;
      return i < to && b[i] >= 64 && b[i] < 127 ? i + 1 - at : 0;
    }
    if (d == ']') {
      int64_t i = at + 2;
      while (i < to && i < at + 512 && b[i] != 7 && b[i] != 27 && b[i] != '\n') i++;
      if (i < to && b[i] == 7) return i + 1 - at;
      return i + 1 < to && b[i] == 27 && b[i + 1] == '\\' ? i + 2 - at : 0;
    }
    return d == '(' || d == ')' ? 3 : 0;
  }
  const uint8_t e = at + 2 < to ? b[at + 2] : 0;
  if (c == 0xc2) return d == 0xad ? 2 : 0;
  if (c == 0xe2) return (d == 0x80 && e >= 0x8b && e <= 0x8f) || (d == 0x81 && e >= 0xa0 && e <= 0xa4) ? 3 : 0;
  return c == 0xef && d == 0xbb && e == 0xbf ? 3 : 0;
}

inline __m128i block_at(const uint8_t* b) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)); }

/** Copies what comes before `lead` and before `end`, a block at a time; up to 16 bytes more may be written. */
inline int64_t copy_plain(const uint8_t* b, int64_t i, int64_t end, uint8_t lead, uint8_t*& out) {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(lead));
  for (; i + 16 <= end; i += 16, out += 16) {
    const __m128i v = block_at(b + i);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v);
    const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted));
    if (mask == 0) continue;
    const int plain = __builtin_ctz(static_cast<unsigned>(mask));
    out += plain;
    return i + plain;
  }
  while (i < end && b[i] != lead) *out++ = b[i++];
  return i;
}

template <class Unit>
int64_t rewrite(const uint8_t* b, int64_t from, int64_t to, int64_t shift, int64_t limit, Growing<uint8_t>& arena,
                Growing<int32_t>& maps) {
  uint8_t* const base = arena.data() + arena.length();
  uint8_t* out = base;
  breakpoint(maps, 0, from + shift, from + shift);
  int64_t i = from;
  while (i < to && out - base < limit) {
    i = copy_plain(b, i, std::min(to, i + limit - (out - base)), Unit::kLead, out);
    if (i >= to || out - base >= limit) break;
    const int read = Unit::read(b, i, to, out);
    if (read == 0) {
      *out++ = b[i++];
    } else {
      i += read;
      breakpoint(maps, out - base, i + shift, i + shift);
    }
  }
  arena.set_length(arena.length() + (out - base));
  return i;
}

int64_t remove_invisible(const uint8_t* b, int64_t from, int64_t to, int64_t shift, int64_t limit, Growing<uint8_t>& arena,
                         Growing<int32_t>& maps) {
  uint8_t* const base = arena.data() + arena.length();
  uint8_t* out = base;
  breakpoint(maps, 0, from + shift, from + shift);
  int64_t i = from, gap = -1;
  const __m128i escape = _mm_set1_epi8(27), lead = _mm_set1_epi8(static_cast<char>(0xc2));
  while (i < to && out - base < limit) {
    if (gap < 0 && i + 16 <= to && out - base + 16 <= limit) {
      const __m128i v = block_at(b + i);
      const __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(v, escape), _mm_cmpeq_epi8(_mm_max_epu8(v, lead), v));
      const int mask = _mm_movemask_epi8(odd);
      const int plain = mask == 0 ? 16 : __builtin_ctz(static_cast<unsigned>(mask));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v);
      out += plain;
      i += plain;
      if (mask == 0) continue;
    }
    const uint8_t c = b[i];
    const int64_t skip = c == 27 || c >= 0xc2 ? invisible_length(b, i, to) : 0;
    if (skip > 0) {
      if (gap < 0) gap = i;
      i += skip;
      continue;
    }
    if (gap >= 0) {
      breakpoint(maps, out - base, i + shift, gap + shift);
      gap = -1;
    }
    *out++ = c;
    i++;
  }
  arena.set_length(arena.length() + (out - base));
  return i;
}

}  // namespace

int64_t decode(int view, const uint8_t* b, int64_t from, int64_t to, int64_t shift, int64_t limit,
               Growing<uint8_t>& arena, Growing<int32_t>& maps) {
  switch (view) {
    case kJson: return rewrite<JsonUnit>(b, from, to, shift, limit, arena, maps);
    case kUnescaped: return rewrite<TextUnit>(b, from, to, shift, limit, arena, maps);
    case kPercent: return rewrite<PercentUnit>(b, from, to, shift, limit, arena, maps);
    case kEntities: return rewrite<EntityUnit>(b, from, to, shift, limit, arena, maps);
    default: return remove_invisible(b, from, to, shift, limit, arena, maps);
  }
}

}  // namespace tackroom::scan
