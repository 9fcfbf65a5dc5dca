#include "quants.h"

#include <cstring>

#include <algorithm>
#include <cmath>

namespace tackroom {

const uint8_t kIq4Levels[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

namespace {

using T = TensorType;
constexpr QuantFormat kFormats[] = {
    {T::F32, "F32", 1, 4, 16, 0, 0, false, false, {-1, -1}},
    {T::F16, "F16", 1, 2, 16, 0, 0, false, false, {-1, -1}},
    {T::BF16, "BF16", 1, 2, 16, 0, 0, false, false, {-1, -1}},
    {T::Q8_0, "Q8_0", 32, 34, 8, 32, 128, false, false, {0, -1}},
    {T::Q4_0, "Q4_0", 32, 18, 4, 32, 8, false, false, {0, -1}},
    {T::Q4_1, "Q4_1", 32, 20, 4, 32, 0, false, true, {0, 2}},
    {T::Q5_0, "Q5_0", 32, 22, 8, 32, 16, false, false, {0, -1}},
    {T::Q5_1, "Q5_1", 32, 24, 8, 32, 0, false, true, {0, 2}},
    {T::Q2_K, "Q2_K", 256, 84, 8, 16, 0, true, true, {80, 82}},
    {T::Q3_K, "Q3_K", 256, 110, 8, 16, 4, true, false, {108, -1}},
    {T::Q4_K, "Q4_K", 256, 144, 4, 32, 0, true, true, {0, 2}},
    {T::Q5_K, "Q5_K", 256, 176, 8, 32, 0, true, true, {0, 2}},
    {T::Q6_K, "Q6_K", 256, 210, 8, 16, 32, true, false, {208, -1}},
    {T::IQ4_NL, "IQ4_NL", 32, 18, 8, 32, 128, false, false, {0, -1}},
    {T::IQ4_XS, "IQ4_XS", 256, 136, 8, 32, 128, true, false, {0, -1}},
};

/** Low nibbles are the first 16 values of a block of 32, high nibbles the last 16. */
void split_nibbles(const uint8_t* packed, uint8_t* u) {
  for (int i = 0; i < 16; i++) {
    u[i] = packed[i] & 15;
    u[i + 16] = static_cast<uint8_t>(packed[i] >> 4);
  }
}

void add_fifth_bits(const uint8_t* high, uint8_t* u) {
  uint32_t bits;
  std::memcpy(&bits, high, 4);
  for (int i = 0; i < 32; i++) u[i] = static_cast<uint8_t>(u[i] | (bits >> i & 1) << 4);
}

/** No value of `count` words has an exponent of ones; `Word` is uint32_t (fp32) or uint16_t (f16, bf16). */
template <class Word>
bool finite_words(const uint8_t* data, size_t count, Word mask) {
  constexpr size_t kChunk = 4096;
  Word chunk[kChunk];
  for (size_t done = 0; done < count; done += kChunk) {
    const size_t n = std::min(kChunk, count - done);
    std::memcpy(chunk, data + done * sizeof(Word), n * sizeof(Word));
    int bad = 0;
    for (size_t i = 0; i < n; i++) bad |= (chunk[i] & mask) == mask;
    if (bad != 0) return false;
  }
  return true;
}

}  // namespace

const QuantFormat* quant_format(TensorType type) {
  for (const QuantFormat& format : kFormats)
    if (format.type == type) return &format;
  return nullptr;
}

const QuantFormat* quant_format(std::string_view name) {
  for (const QuantFormat& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

const char* type_name(TensorType type) {
  const char* name = ggml_type_name(static_cast<uint32_t>(type));
  return name == nullptr ? "unknown" : name;
}

const char* ggml_type_name(uint32_t id) {
  static constexpr const char* kNames[] = {
      "F32",    "F16",    "Q4_0",   "Q4_1", "Q4_2",    "Q4_3",    "Q5_0",    "Q5_1",    "Q8_0",    "Q8_1",    "Q2_K",  "Q3_K",  "Q4_K", "Q5_K",
      "Q6_K",   "Q8_K",   "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S",   "IQ4_NL",  "IQ3_S",   "IQ2_S",   "IQ4_XS",  "I8",    "I16",   "I32",  "I64",
      "F64",    "IQ1_M",  "BF16",   "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",   "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4"};
  return id < std::size(kNames) ? kNames[id] : nullptr;
}

void decode_block(const QuantFormat& format, const uint8_t* block, DecodedBlock& out) {
  if (format.block == kMaxBlock) return decode_k_block(format.type, block, out);
  out.scales[0] = load_half(block);
  out.minimums[0] = format.minimums ? load_half(block + 2) : 0;
  const uint8_t* payload = block + (format.minimums ? 4 : 2);
  switch (format.type) {
    case T::Q8_0:
      for (int i = 0; i < 32; i++) out.u[i] = static_cast<uint8_t>(payload[i] ^ 0x80);  // two's complement + 128
      return;
    case T::Q5_0:
    case T::Q5_1:
      split_nibbles(payload + 4, out.u);
      return add_fifth_bits(payload, out.u);
    case T::IQ4_NL:
      split_nibbles(payload, out.u);
      for (int i = 0; i < 32; i++) out.u[i] = kIq4Levels[out.u[i]];
      return;
    default: return split_nibbles(payload, out.u);
  }
}

void dequantize(TensorType type, const uint8_t* data, int64_t count, float* out) {
  if (type == T::F32) return static_cast<void>(std::memcpy(out, data, static_cast<size_t>(count) * 4));
  if (type == T::F16) {
    for (int64_t i = 0; i < count; i++) out[i] = load_half(data + 2 * i);
    return;
  }
  if (type == T::BF16) {
    for (int64_t i = 0; i < count; i++) out[i] = bf16_to_float(load_u16(data + 2 * i));
    return;
  }
  const QuantFormat& format = *quant_format(type);
  DecodedBlock block;
  for (; count > 0; count -= format.block, data += format.bytes) {
    decode_block(format, data, block);
    for (int g = 0; g * format.group < format.block; g++) {
      const float scale = block.scales[g], minimum = block.minimums[g];
      const uint8_t* u = block.u + g * format.group;
      // Adding a minimum of +0 would turn -0 into +0: types without one are not added to.
      if (format.minimums)
        for (int i = 0; i < format.group; i++) out[i] = scale * static_cast<float>(u[i] - format.offset) + minimum;
      else
        for (int i = 0; i < format.group; i++) out[i] = scale * static_cast<float>(u[i] - format.offset);
      out += format.group;
    }
  }
}

bool all_finite(const TensorView& view, int64_t first, int64_t count) {
  if (count < 0) count = view.rows() - first;
  const size_t width = row_bytes(view), bytes = width * static_cast<size_t>(count);
  const uint8_t* data = view.data + width * static_cast<size_t>(first);
  switch (view.type) {
    case T::F32: return finite_words<uint32_t>(data, bytes / 4, 0x7F800000u);
    case T::F16: return finite_words<uint16_t>(data, bytes / 2, 0x7C00u);
    case T::BF16: return finite_words<uint16_t>(data, bytes / 2, 0x7F80u);
    default: break;
  }
  // Integers times a finite f16 stay below 2^28: only the f16 factors can spoil a quantised block.
  const QuantFormat& format = *quant_format(view.type);
  int bad = 0;
  for (size_t at = 0; at < bytes; at += static_cast<size_t>(format.bytes))
    for (const int position : format.halves)
      if (position >= 0) bad |= (load_u16(data + at + position) & 0x7C00) == 0x7C00;
  return bad == 0;
}

uint16_t float_to_half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 shifts the digits to where f16 has them and rounds to even.
    float shifted;
    std::memcpy(&shifted, &magnitude, 4);
    shifted += 0.5f;
    uint32_t digits;
    std::memcpy(&digits, &shifted, 4);
    return static_cast<uint16_t>(sign | (digits - 0x3f000000));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23);
  return static_cast<uint16_t>(sign | rounded >> 13);
}

float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31, mantissa = half & 1023;
  uint32_t bits;
  if (exponent == 31) bits = sign | 0x7F800000u | mantissa << 13;
  else if (exponent != 0) bits = sign | (exponent + 112) << 23 | mantissa << 13;
  else {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    std::memcpy(&bits, &magnitude, 4);
    bits |= sign;
  }
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

uint16_t float_to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 64);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace tackroom
