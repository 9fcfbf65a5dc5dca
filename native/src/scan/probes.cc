#include "probes.h"

#include "layout.h"

namespace tackroom::scan {
namespace {

constexpr std::array<int8_t, 256> kBase64 = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  int8_t next = 0;
  for (const char* c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; *c != 0; c++)
    values[static_cast<uint8_t>(*c)] = next++;
  values['-'] = 62;
  values['_'] = 63;
  return values;
}();

/** Readable text in ASCII; a tenth may be bytes of other scripts. */
bool readable(unsigned c) { return (c >= 32 && c < 127) || c == 10 || c == 13 || c == 9; }

bool is_separator(uint8_t c) { return c == ' ' || c == '-' || c == '.' || c == '(' || c == ')'; }

int hex_digit(uint8_t c) { return is_digit(c) ? c - '0' : is_hex(c) ? (c | 32) - 'a' + 10 : -1; }

/** `&` and a `;` within eight bytes. */
int32_t entity_here(const uint8_t* at, const uint8_t* end) {
  for (const uint8_t* i = at + 2; i < end && i < at + 8; i++)
    if (*i == ';') return kEntities;
  return 0;
}

}  // namespace

bool is_ipv4(const uint8_t* at, const uint8_t* end) {
  const uint8_t* i = at;
  for (int part = 0; part < 4; part++) {
    if (part > 0 && (i >= end || *i++ != '.')) return false;
    int length = 0;
    while (i < end && length < 4 && is_digit(*i)) {
      i++;
      length++;
    }
    if (length == 0 || length > 3) return false;
  }
  return end - i < 2 || *i != '.' || !is_digit(i[1]);
}

bool is_mac(const uint8_t* at, const uint8_t* end) {
  if (end - at < 17) return false;
  const uint8_t separator = at[2];
  if (separator != ':' && separator != '-') return false;
  for (int part = 0; part < 6; part++) {
    const uint8_t* i = at + part * 3;
    if (!is_hex(i[0]) || !is_hex(i[1]) || (part > 0 && i[-1] != separator)) return false;
  }
  return end - at == 17 || (!is_alnum(at[17]) && at[17] != separator);
}

bool is_ipv6(const uint8_t* at, const uint8_t* end) {
  int groups = 0, gaps = 0;
  const uint8_t* i = at;
  for (;;) {
    int length = 0;
    while (i < end && length < 5 && is_hex(*i)) {
      i++;
      length++;
    }
    if (length == 5) return false;
    if (length > 0 && ++groups > 8) return false;
    if (i >= end || *i != ':') break;
    i++;
    if (i < end && *i == ':') {
      gaps++;
      i++;
    } else if (length == 0) {
      return false;
    }
  }
  if (i < end && is_alnum(*i)) return false;
  return gaps == 0 ? groups == 8 : gaps == 1 && groups >= 3 && groups < 8;
}

bool is_phone(const uint8_t* at, const uint8_t* end) {
  int digits = 0;
  for (const uint8_t* i = at + 1; i < end && i < at + 24; i++) {
    if (is_digit(*i)) digits++;
    else if (!is_separator(*i)) break;
  }
  return digits >= 8 && digits <= 15;
}

bool is_digits(const uint8_t* at, const uint8_t* end) {
  int digits = 0;
  const uint8_t* last = at;
  for (const uint8_t* i = at; i < end && i < at + 32; i++) {
    if (is_digit(*i)) {
      digits++;
      last = i;
    } else if (!is_separator(*i) || i - last > 2) {
      break;
    }
  }
  return digits >= 9;
}

bool is_iban(const uint8_t* at, const uint8_t* end) {
  const auto capital = [](uint8_t c) { return c >= 'A' && c <= 'Z'; };
  if (end - at < 15 || !is_digit(at[2]) || !is_digit(at[3]) || !capital(at[1])) return false;
  int count = 4;
  for (const uint8_t* i = at + 4; i < end && i < at + 44; i++) {
    if (is_digit(*i) || capital(*i)) count++;
    else if (*i != ' ' && *i != '-') break;
  }
  return count >= 15;
}

bool is_hex_triple(const uint8_t* at, const uint8_t* end) {
  if (end - at < 42 || at[32] != '-' || at[41] != '-') return false;
  for (int i = 0; i < 41; i++)
    if (i != 32 && !is_hex(at[i])) return false;
  return true;
}

bool has_colon(const uint8_t* at, const uint8_t* end) {
  for (const uint8_t* i = at; i < end && i < at + 5; i++)
    if (*i == ':') return true;
  return false;
}

int32_t views_of(const uint8_t* at, const uint8_t* end) {
  const uint8_t d = end - at > 1 ? at[1] : 0;
  switch (*at) {
    case '\\':
      switch (d) {
        case '"': case '\'': case '\\': case '/': case 'n': case 'r': case 't': case 'u': case 'x': case 'e': case '0':
          return kUnescaped;
        default:
          return 0;
      }
    case 27:
      return kClean;
    case '%':
      return is_hex(d) && end - at > 2 && is_hex(at[2]) ? kPercent : 0;
    case '&':
      return d == '#' || is_letter(d) ? entity_here(at, end) : 0;
    case 0xe2:
      return d == 0x80 || d == 0x81 ? kClean : 0;
    case 0xc2:
      return d == 0xad ? kClean : 0;
    case 0xef:
      return d == 0xbb ? kClean : 0;
    default:
      return 0;
  }
}

ptrdiff_t decode_base64(const uint8_t* from, const uint8_t* to, uint8_t* out) {
  uint32_t bits = 0;
  int held = 0;
  ptrdiff_t length = 0, odd = 0;
  for (const uint8_t* i = from; i < to; i++) {
    const int value = kBase64[*i];
    if (value < 0) break;
    bits = ((bits << 6) | static_cast<uint32_t>(value)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const unsigned byte = (bits >> held) & 255;
    if (!readable(byte)) {
      odd++;
      if (byte < 128 || length < 12 || odd * 10 > length) return -1;
    }
    out[length++] = static_cast<uint8_t>(byte);
  }
  return length;
}

ptrdiff_t decode_hex(const uint8_t* from, const uint8_t* to, uint8_t* out) {
  ptrdiff_t length = 0;
  for (const uint8_t* i = from; to - i > 1; i += 2) {
    const int high = hex_digit(i[0]), low = hex_digit(i[1]);
    if (high < 0 || low < 0 || !readable(static_cast<unsigned>(high * 16 + low))) return -1;
    out[length++] = static_cast<uint8_t>(high * 16 + low);
  }
  return length;
}

}  // namespace tackroom::scan
