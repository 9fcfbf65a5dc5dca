/**
 * Element types of weight files: block sizes, decoding, and the check for values that are not numbers.
 *
 * Every quantised type is value = scale * (u - offset) + minimum with an unsigned integer u and one scale (and, for some,
 * one minimum) a group of 16 or 32 values. A block is decoded into exactly these parts, which is what the packed
 * matrices keep; fp32 values are computed from them with one rounding of the product and one of the sum, the order of
 * the reference decoder of the format (ggml-org/ggml, src/ggml-quants.c). Layouts: training.md, section B5.
 */
#pragma once
#include <cstring>
#include <string_view>

#include "tensor_source.h"

namespace tackroom {

constexpr int kMaxBlock = 256;

struct QuantFormat {
  TensorType type;
  const char* name;
  int block, bytes;      // values and bytes of one block
  int bits;              // width of the packed integers: 4 or 8; 16 for F32, F16 and BF16
  int group, offset;     // values that share a scale; what is subtracted from u
  bool wide, minimums;   // scales are products that f16 does not hold; a minimum is added
  int halves[2];         // byte positions of the f16 factors in a block; -1: none
};

/** Null for ids of types that this engine does not read. */
const QuantFormat* quant_format(TensorType type);
const QuantFormat* quant_format(std::string_view name);
/** Name of any type id that ggml has given out, for messages; null for numbers that name no type. */
const char* ggml_type_name(uint32_t id);

/** A decoded block: u [block], scales and minimums [block / group]; minimums stay 0 for types without. */
struct DecodedBlock {
  uint8_t u[kMaxBlock];
  float scales[kMaxBlock / 16], minimums[kMaxBlock / 16];
};

/** Decodes one block of a quantised type. */
void decode_block(const QuantFormat& format, const uint8_t* block, DecodedBlock& out);
void decode_k_block(TensorType type, const uint8_t* block, DecodedBlock& out);

/** `count` values as fp32, any type. `count` is a multiple of the block. */
void dequantize(TensorType type, const uint8_t* data, int64_t count, float* out);

/** False when any value of the rows [first, first + count) of the file is NaN or infinite; count -1: all rows. */
bool all_finite(const TensorView& view, int64_t first = 0, int64_t count = -1);

/** Bytes of one row of a view: columns() values. */
size_t row_bytes(const TensorView& view);
/** Where row `i` of a view, as Hugging Face counts, lies in the file. */
const uint8_t* row_data(const TensorView& view, int64_t i);

float half_to_float(uint16_t half);
/** Nearest f16, ties to even; overflow becomes infinity. */
uint16_t float_to_half(float value);
/** To nearest, ties to even; NaN stays NaN. */
uint16_t float_to_bf16(float value);

inline uint16_t load_u16(const uint8_t* at) {
  uint16_t value;
  std::memcpy(&value, at, 2);
  return value;
}
inline float load_half(const uint8_t* at) { return half_to_float(load_u16(at)); }
inline float bf16_to_float(uint16_t raw) {
  const uint32_t bits = uint32_t{raw} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/** The 16 levels of IQ4_NL and IQ4_XS, shifted by 128 to be unsigned. */
extern const uint8_t kIq4Levels[16];

}  // namespace tackroom
