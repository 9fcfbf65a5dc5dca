/** Values without a fixed beginning: main/sanitize/scan/probes.ts. Each looks at b[at], which is before `to`. */
#pragma once
#include <cstdint>

namespace tackroom::scan {

bool is_ipv4(const uint8_t* b, int64_t at, int64_t to);
bool is_mac(const uint8_t* b, int64_t at, int64_t to);
bool is_ipv6(const uint8_t* b, int64_t at, int64_t to);
bool is_phone(const uint8_t* b, int64_t at, int64_t to);
bool is_digits(const uint8_t* b, int64_t at, int64_t to);
bool is_iban(const uint8_t* b, int64_t at, int64_t to);
bool is_hex_triple(const uint8_t* b, int64_t at, int64_t to);
/** A colon within the next five bytes. */
bool has_colon(const uint8_t* b, int64_t at, int64_t to);

/** `View` bits that the byte at `at` calls for. */
int views_of(const uint8_t* b, int64_t at, int64_t to);

/** Write at most as many bytes as they read to `out` and return their number; -1: it is no text. */
int64_t decode_base64(const uint8_t* b, int64_t from, int64_t to, uint8_t* out);
int64_t decode_hex(const uint8_t* b, int64_t from, int64_t to, uint8_t* out);

}  // namespace tackroom::scan
