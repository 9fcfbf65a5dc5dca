/** What each byte can be part of. */
#pragma once
#include <array>
#include <cstdint>

namespace tackroom::scan {

enum ByteClass : uint8_t { kDigitByte = 1, kHexByte = 2, kLetterByte = 4, kBase64Byte = 8 };

constexpr std::array<uint8_t, 256> make_byte_classes() {
  std::array<uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; c++) table[c] = kDigitByte | kHexByte | kBase64Byte;
  for (int c = 'A'; c <= 'Z'; c++) table[c] = static_cast<uint8_t>(kLetterByte | kBase64Byte | (c <= 'F' ? kHexByte : 0));
  for (int c = 'a'; c <= 'z'; c++) table[c] = static_cast<uint8_t>(kLetterByte | kBase64Byte | (c <= 'f' ? kHexByte : 0));
  for (const char c : {'+', '/', '-', '_'}) table[static_cast<uint8_t>(c)] = kBase64Byte;
  return table;
}
inline constexpr std::array<uint8_t, 256> kByteClass = make_byte_classes();

inline bool is_digit(uint8_t c) { return kByteClass[c] & kDigitByte; }
inline bool is_hex(uint8_t c) { return kByteClass[c] & kHexByte; }
inline bool is_letter(uint8_t c) { return kByteClass[c] & kLetterByte; }
inline bool is_alnum(uint8_t c) { return kByteClass[c] & (kDigitByte | kLetterByte); }
inline bool is_base64(uint8_t c) { return kByteClass[c] & kBase64Byte; }

/** Value of a hex digit, or -1. */
inline int hex_digit(uint8_t c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace tackroom::scan
