#include "probes.h"

#include "byte_class.h"
#include "layout.h"

namespace tackroom::scan {
namespace {

constexpr std::array<int8_t, 256> make_base64_values() {
  std::array<int8_t, 256> table{};
  for (auto& value : table) value = -1;
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 64; i++) table[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}
constexpr std::array<int8_t, 256> kBase64 = make_base64_values();

/** Readable text in ASCII. */
inline bool readable(uint8_t c) { return (c >= 32 && c < 127) || c == '\n' || c == '\r' || c == '\t'; }

/** `&` and a `;` within eight bytes. */
int entity_here(const uint8_t* b, int64_t at, int64_t to) {
  for (int64_t i = at + 2; i < to && i < at + 8; i++)
    if (b[i] == ';') return kEntities;
  return 0;
}

}  // namespace

bool is_ipv4(const uint8_t* b, int64_t at, int64_t to) {
  int64_t i = at;
  for (int part = 0; part < 4; part++) {
    if (part > 0 && (i >= to || b[i++] != '.')) return false;
    const int64_t start = i;
    while (i < to && i - start < 4 && is_digit(b[i])) i++;
    if (i == start || i - start > 3) return false;
  }
  return i >= to || b[i] != '.' || i + 1 >= to || !is_digit(b[i + 1]);
}

bool is_mac(const uint8_t* b, int64_t at, int64_t to) {
  if (at + 17 > to) return false;
  const uint8_t separator = b[at + 2];
  if (separator != ':' && separator != '-') return false;
  for (int part = 0; part < 6; part++) {
    const int64_t i = at + part * 3;
    if (!is_hex(b[i]) || !is_hex(b[i + 1]) || (part > 0 && b[i - 1] != separator)) return false;
  }
  return at + 17 >= to || (!is_alnum(b[at + 17]) && b[at + 17] != separator);
}

bool is_ipv6(const uint8_t* b, int64_t at, int64_t to) {
  int groups = 0, gaps = 0;
  int64_t i = at;
  for (;;) {
    int length = 0;
    while (i < to && length < 5 && is_hex(b[i])) {
      i++;
      length++;
    }
    if (length == 5) return false;
    if (length > 0 && ++groups > 8) return false;
    if (i >= to || b[i] != ':') break;
    i++;
    if (i < to && b[i] == ':') {
      gaps++;
      i++;
    } else if (length == 0) {
      return false;
    }
  }
  if (i < to && is_alnum(b[i])) return false;
  return gaps == 0 ? groups == 8 : gaps == 1 && groups >= 3 && groups < 8;
}

bool is_phone(const uint8_t* b, int64_t at, int64_t to) {
  int digits = 0;
  for (int64_t i = at + 1; i < to && i < at + 24; i++) {
    const uint8_t c = b[i];
    if (is_digit(c)) digits++;
    else if (c != ' ' && c != '-' && c != '.' && c != '(' && c != ')') break;
  }
  return digits >= 8 && digits <= 15;
}

bool is_digits(const uint8_t* b, int64_t at, int64_t to) {
  int digits = 0;
  int64_t last = at;
  for (int64_t i = at; i < to && i < at + 32; i++) {
    const uint8_t c = b[i];
    if (is_digit(c)) {
      digits++;
      last = i;
    } else if ((c != ' ' && c != '-' && c != '.' && c != ')' && c != '(') || i - last > 2) {
      break;
    }
  }
  return digits >= 9;
}

bool is_iban(const uint8_t* b, int64_t at, int64_t to) {
  if (at + 15 > to || !is_digit(b[at + 2]) || !is_digit(b[at + 3])) return false;
  if (b[at + 1] < 'A' || b[at + 1] > 'Z') return false;
  int count = 4;
  for (int64_t i = at + 4; i < to && i < at + 44; i++) {
    const uint8_t c = b[i];
    if (is_digit(c) || (c >= 'A' && c <= 'Z')) count++;
    else if (c != ' ' && c != '-') break;
  }
  return count >= 15;
}

bool is_hex_triple(const uint8_t* b, int64_t at, int64_t to) {
  if (at + 42 > to || b[at + 32] != '-' || b[at + 41] != '-') return false;
  for (int64_t i = at; i < at + 41; i++)
    if (i != at + 32 && !is_hex(b[i])) return false;
  return true;
}

bool has_colon(const uint8_t* b, int64_t at, int64_t to) {
  for (int64_t i = at; i < to && i < at + 5; i++)
    if (b[i] == ':') return true;
  return false;
}

int views_of(const uint8_t* b, int64_t at, int64_t to) {
  const uint8_t d = at + 1 < to ? b[at + 1] : 0;
  switch (b[at]) {
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
      return is_hex(d) && at + 2 < to && is_hex(b[at + 2]) ? kPercent : 0;
    case '&':
      return d == '#' || is_letter(d) ? entity_here(b, at, to) : 0;
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

int64_t decode_base64(const uint8_t* b, int64_t from, int64_t to, uint8_t* out) {
  uint32_t bits = 0;
  int held = 0;
  int64_t length = 0, odd = 0;
  for (int64_t i = from; i < to; i++) {
    const int value = kBase64[b[i]];
    if (value < 0) break;
    bits = ((bits << 6) | static_cast<uint32_t>(value)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const auto byte = static_cast<uint8_t>(bits >> held);
    if (!readable(byte)) {
      odd++;
      if (byte < 128 || length < 12 || odd * 10 > length) return -1;
    }
    out[length++] = byte;
  }
  return length;
}

int64_t decode_hex(const uint8_t* b, int64_t from, int64_t to, uint8_t* out) {
  int64_t length = 0;
  for (int64_t i = from; i + 1 < to; i += 2) {
    const auto byte = static_cast<uint8_t>(hex_digit(b[i]) * 16 + hex_digit(b[i + 1]));
    if (!readable(byte)) return -1;
    out[length++] = byte;
  }
  return length;
}

}  // namespace tackroom::scan
