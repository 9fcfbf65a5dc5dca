#include "decode.h"

#include <algorithm>

#include "probes.h"
#include "vector_search.h"

namespace tackroom::scan {
namespace {

/** Value of `count` hex digits at `at`, or -1. */
int hex_value(const uint8_t* at, ptrdiff_t count, const uint8_t* end) {
  if (end - at < count) return -1;
  int value = 0;
  for (ptrdiff_t i = 0; i < count; i++) {
    const uint8_t c = at[i];
    if (!is_hex(c)) return -1;
    value = value * 16 + (is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

void write_utf8(uint8_t*& out, int code) {
  const auto put = [&](int byte) { *out++ = static_cast<uint8_t>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 63));
    put(0x80 | (code & 63));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 63));
    put(0x80 | ((code >> 6) & 63));
    put(0x80 | (code & 63));
  }
}

/** \uXXXX at `at`, a surrogate pair as one character. A lone surrogate is written as three bytes. */
ptrdiff_t unicode_escape(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
  const int code = hex_value(at + 2, 4, end);
  if (code < 0) return 0;
  if (code >= 0xd800 && code < 0xdc00 && end - at > 7 && at[6] == '\\' && at[7] == 'u') {
    const int low = hex_value(at + 8, 4, end);
    if (low >= 0xdc00 && low < 0xe000) {
      write_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return 12;
    }
  }
  write_utf8(out, code);
  return 6;
}

ptrdiff_t one(uint8_t*& out, int byte, ptrdiff_t length) {
  *out++ = static_cast<uint8_t>(byte);
  return length;
}

/**
 * The escapes of one view: the byte that each begins with, and `read`: the length of what one stands for in the source, whose bytes
 * are written. 0: not an escape.
 */
struct JsonEscapes {
  static constexpr char kLead = '\\';
  static ptrdiff_t read(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
    const uint8_t c = end - at > 1 ? at[1] : 0;
    switch (c) {
      case 'u': return unicode_escape(at, end, out);
      case 'n': return one(out, 10, 2);
      case 't': return one(out, 9, 2);
      case 'r': return one(out, 13, 2);
      case 'b': return one(out, 8, 2);
      case 'f': return one(out, 12, 2);
      default: return one(out, c, 2);
    }
  }
};

/** Escapes that programs and shells write into text; others stay, such as the backslashes of Windows paths. */
struct TextEscapes {
  static constexpr char kLead = '\\';
  static ptrdiff_t read(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
    const ptrdiff_t left = end - at;
    if (left < 2) return 0;
    switch (at[1]) {
      case '"': case '\'': case '`': case '\\': case '/': return one(out, at[1], 2);
      case 'n': return one(out, 10, 2);
      case 'r': return one(out, 13, 2);
      case 't': return one(out, 9, 2);
      case 'u': return unicode_escape(at, end, out);
      case 'x': {
        const int value = hex_value(at + 2, 2, end);
        return value < 0 ? 0 : one(out, value, 4);
      }
      case 'e': return left > 2 && at[2] == '[' ? one(out, 27, 2) : 0;
      case '0': return left > 3 && at[2] == '3' && at[3] == '3' ? one(out, 27, 4) : 0;
      default: return 0;
    }
  }
};

struct PercentEscapes {
  static constexpr char kLead = '%';
  static ptrdiff_t read(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
    const int value = hex_value(at + 1, 2, end);
    return value < 0 ? 0 : one(out, value, 3);
  }
};

struct Entity {
  const char* name;
  char byte;
};
constexpr Entity kEntityNames[] = {
    {"&quot;", '"'}, {"&amp;", '&'},   {"&lt;", '<'},    {"&gt;", '>'},   {"&apos;", '\''}, {"&#34;", '"'},  {"&#39;", '\''},
    {"&#039;", '\''}, {"&#x27;", '\''}, {"&#x22;", '"'}, {"&#38;", '&'},  {"&#x2F;", '/'},  {"&#x2f;", '/'}, {"&#47;", '/'},
    {"&#61;", '='},  {"&#x3D;", '='},  {"&#x3d;", '='}, {"&#64;", '@'},  {"&#x40;", '@'},
    {"&lowbar;", '_'}, {"&commat;", '@'}, {"&colon;", ':'}, {"&equals;", '='}, {"&sol;", '/'},  {"&num;", '#'},
};

struct Entities {
  static constexpr char kLead = '&';
  static ptrdiff_t read(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
    for (const Entity& entity : kEntityNames) {
      const size_t length = std::strlen(entity.name);
      if (static_cast<size_t>(end - at) >= length && std::memcmp(at, entity.name, length) == 0)
        return one(out, entity.byte, static_cast<ptrdiff_t>(length));
    }
    return numbered(at, end, out);
  }

  /** `&#95;`, `&#x5f;`: characters of ASCII. */
  static ptrdiff_t numbered(const uint8_t* at, const uint8_t* end, uint8_t*& out) {
    if (end - at < 4 || at[1] != '#') return 0;
    const bool hex = (at[2] | 32) == 'x';
    const uint8_t *const first = at + (hex ? 3 : 2), *i = first;
    int value = 0;
    for (; i < end && i - first < 4 && (hex ? is_hex(*i) : is_digit(*i)); i++)
      value = value * (hex ? 16 : 10) + (is_digit(*i) ? *i - '0' : (*i | 32) - 'a' + 10);
    if (i == first || i >= end || *i != ';' || value < 32 || value > 126) return 0;
    return one(out, value, i + 1 - at);
  }
};

/** Copies [i, end) up to a byte that `stop` marks, at most `most` bytes, and returns how many. Writes up to 16 bytes more. */
template <class Many, class One>
size_t copy_until(const uint8_t* i, const uint8_t* end, const uint8_t* readable, uint8_t* out, size_t most, Many many, One stop) {
  const auto length = std::min(static_cast<size_t>(end - i), most);
  size_t done = 0;
  while (done < length) {
    if (readable - i - static_cast<ptrdiff_t>(done) < 16) {
      while (done < length && !stop(i[done])) {
        out[done] = i[done];
        done++;
      }
      return done;
    }
    const __m128i v = load(i + done);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + done), v);
    const auto hits = static_cast<uint32_t>(_mm_movemask_epi8(many(v)));
    if (hits != 0) return std::min(length, done + static_cast<size_t>(__builtin_ctz(hits)));
    done += 16;
  }
  return length;
}

template <class Escapes>
const uint8_t* rewrite(const Text& text, int32_t shift, size_t limit, Bytes& arena, Growable<Breakpoint>& maps) {
  uint8_t* const base = arena.data() + arena.length;
  uint8_t* out = base;
  const auto parent = [&](const uint8_t* i) { return static_cast<int32_t>(i - text.begin) + shift; };
  const auto written = [&] { return static_cast<size_t>(out - base); };
  maps.push({0, shift, shift});
  const uint8_t *i = text.begin, *end = text.end;
  while (i < end && written() < limit) {
    const size_t plain = copy_until(
        i, end, text.readable, out, limit - written(), [](__m128i v) { return equal(v, Escapes::kLead); },
        [](uint8_t c) { return c == static_cast<uint8_t>(Escapes::kLead); });
    out += plain;
    i += plain;
    if (i >= end || written() >= limit) break;
    const ptrdiff_t read = Escapes::read(i, end, out);
    if (read == 0) {
      *out++ = *i++;
    } else {
      i += read;
      maps.push({static_cast<int32_t>(written()), parent(i), parent(i)});
    }
  }
  arena.length += written();
  return i;
}

/** Bytes of a terminal sequence or of an invisible character at `at`; nothing is written. */
ptrdiff_t invisible_length(const uint8_t* at, const uint8_t* end) {
  const uint8_t c = *at, d = end - at > 1 ? at[1] : 0, e = end - at > 2 ? at[2] : 0;
  if (c == 27) {
    const uint8_t* i = at + 2;
    if (d == '[') {
      while (i < end && i < at + 32 && *i >= 32 && *i < 64) i++;
      return i < end && *i >= 64 && *i < 127 ? i + 1 - at : 0;
    }
    if (d == ']') {
      while (i < end && i < at + 512 && *i != 7 && *i != 27 && *i != 10) i++;
      if (i < end && *i == 7) return i + 1 - at;
      return end - i > 1 && *i == 27 && i[1] == '\\' ? i + 2 - at : 0;
    }
    return d == '(' || d == ')' ? std::min<ptrdiff_t>(3, end - at) : 0;
  }
  if (c == 0xc2) return d == 0xad ? 2 : 0;
  if (c == 0xe2) return (d == 0x80 && e >= 0x8b && e <= 0x8f) || (d == 0x81 && e >= 0xa0 && e <= 0xa4) ? 3 : 0;
  return c == 0xef && d == 0xbb && e == 0xbf ? 3 : 0;
}

const uint8_t* remove_invisible(const Text& text, int32_t shift, size_t limit, Bytes& arena, Growable<Breakpoint>& maps) {
  uint8_t* const base = arena.data() + arena.length;
  uint8_t* out = base;
  const auto parent = [&](const uint8_t* i) { return static_cast<int32_t>(i - text.begin) + shift; };
  const auto written = [&] { return static_cast<size_t>(out - base); };
  maps.push({0, shift, shift});
  const uint8_t *i = text.begin, *end = text.end, *gap = nullptr;
  while (i < end && written() < limit) {
    const ptrdiff_t skip = invisible_length(i, end);
    if (skip > 0) {
      if (gap == nullptr) gap = i;
      i += skip;
      continue;
    }
    if (gap != nullptr) {
      maps.push({static_cast<int32_t>(written()), parent(i), parent(gap)});
      gap = nullptr;
    }
    *out++ = *i++;
    const size_t plain = copy_until(
        i, end, text.readable, out, limit - written(),
        [](__m128i v) {
          return _mm_or_si128(_mm_or_si128(equal(v, 27), equal(v, '\xc2')), _mm_or_si128(equal(v, '\xe2'), equal(v, '\xef')));
        },
        [](uint8_t c) { return c == 27 || c == 0xc2 || c == 0xe2 || c == 0xef; });
    out += plain;
    i += plain;
  }
  arena.length += written();
  return i;
}

}  // namespace

const uint8_t* decode(View view, const Text& text, int32_t shift, size_t limit, Bytes& arena, Growable<Breakpoint>& maps) {
  switch (view) {
    case kJson: return rewrite<JsonEscapes>(text, shift, limit, arena, maps);
    case kUnescaped: return rewrite<TextEscapes>(text, shift, limit, arena, maps);
    case kPercent: return rewrite<PercentEscapes>(text, shift, limit, arena, maps);
    case kEntities: return rewrite<Entities>(text, shift, limit, arena, maps);
    default: return remove_invisible(text, shift, limit, arena, maps);
  }
}

}  // namespace tackroom::scan
