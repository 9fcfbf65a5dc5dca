/** Values without a fixed beginning, told by their digits and separators. Each looks at `at` and says whether it is one. */
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace tackroom::scan {

enum CharClass : uint8_t { kDigit = 1, kHex = 2, kLetter = 4 };

constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; c++) classes[static_cast<size_t>(c)] = kDigit | kHex;
  for (int c = 'A'; c <= 'Z'; c++) {
    const auto kind = static_cast<uint8_t>(c <= 'F' ? kLetter | kHex : kLetter);
    classes[static_cast<size_t>(c)] = classes[static_cast<size_t>(c) + 32] = kind;
  }
  return classes;
}();

inline bool is_digit(uint8_t c) { return (kCharClasses[c] & kDigit) != 0; }
inline bool is_hex(uint8_t c) { return (kCharClasses[c] & kHex) != 0; }
inline bool is_alnum(uint8_t c) { return (kCharClasses[c] & (kDigit | kLetter)) != 0; }
inline bool is_letter(uint8_t c) { return (kCharClasses[c] & kLetter) != 0; }

/** Four numbers of up to three digits with dots between. */
bool is_ipv4(const uint8_t* at, const uint8_t* end);
/** Six pairs of hex digits with the same separator. */
bool is_mac(const uint8_t* at, const uint8_t* end);
/** Groups of up to four hex digits and colons: eight, or fewer with `::` and at least three groups. */
bool is_ipv6(const uint8_t* at, const uint8_t* end);
/** `+`, a country code, and at least eight digits in all, with blanks, dots, dashes or brackets between. */
bool is_phone(const uint8_t* at, const uint8_t* end);
/** At least nine digits with blanks, dots, dashes or brackets between: cards, numbers of persons, phones. */
bool is_digits(const uint8_t* at, const uint8_t* end);
/** Two capitals, two digits, then at least eleven letters or digits in groups. */
bool is_iban(const uint8_t* at, const uint8_t* end);
/** 32 hex digits, a dash, eight, a dash. */
bool is_hex_triple(const uint8_t* at, const uint8_t* end);
/** A colon within the next five bytes. */
bool has_colon(const uint8_t* at, const uint8_t* end);

/** Views that the byte at `at` calls for. */
int32_t views_of(const uint8_t* at, const uint8_t* end);

/**
 * Writes what the base64 run says to `out`, where there is room for its length, and returns how long that is; -1: it is no text.
 * Padding and rests of fewer than eight bits are passed over.
 */
ptrdiff_t decode_base64(const uint8_t* from, const uint8_t* to, uint8_t* out);
/** The same for pairs of hex digits; -1 also where other bytes stand. */
ptrdiff_t decode_hex(const uint8_t* from, const uint8_t* to, uint8_t* out);

}  // namespace tackroom::scan
