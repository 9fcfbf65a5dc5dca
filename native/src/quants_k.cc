/** The types with blocks of 256 values: groups of 16 or 32 whose scales are small integers times a factor of the block. */
#include "quants.h"

namespace tackroom {
namespace {

/** Scale and minimum number `j` of 8 in the 12 bytes of Q4_K and Q5_K: six bits each, the last four split over two bytes. */
void six_bit_pair(const uint8_t* s, int j, int& scale, int& minimum) {
  if (j < 4) {
    scale = s[j] & 63;
    minimum = s[j + 4] & 63;
  } else {
    scale = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
    minimum = (s[j + 4] >> 4) | (s[j] >> 6) << 4;
  }
}

/** Scale number `i` of 16 in the 12 bytes of Q3_K, -32..31: low nibbles in bytes 0..7, two high bits in bytes 8..11. */
int q3_scale(const uint8_t* s, int i) {
  const int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4;
  return (low | (s[8 + i % 4] >> 2 * (i / 4) & 3) << 4) - 32;
}

void decode_q2(const uint8_t* block, DecodedBlock& out) {
  const uint8_t *scales = block, *q = block + 16;
  const float d = load_half(block + 80), dmin = load_half(block + 82);
  for (int g = 0; g < 16; g++) {
    out.scales[g] = d * static_cast<float>(scales[g] & 15);
    out.minimums[g] = -(dmin * static_cast<float>(scales[g] >> 4));
  }
  for (int i = 0; i < 256; i++) out.u[i] = q[i / 128 * 32 + i % 32] >> 2 * (i / 32 % 4) & 3;
}

void decode_q3(const uint8_t* block, DecodedBlock& out) {
  const uint8_t *high = block, *q = block + 32, *scales = block + 96;
  const float d = load_half(block + 108);
  for (int g = 0; g < 16; g++) {
    out.scales[g] = d * static_cast<float>(q3_scale(scales, g));
    out.minimums[g] = 0;
  }
  for (int i = 0; i < 256; i++) {
    const int low = q[i / 128 * 32 + i % 32] >> 2 * (i / 32 % 4) & 3, bit = high[i % 32] >> (i / 32) & 1;
    out.u[i] = static_cast<uint8_t>(low | bit << 2);
  }
}

void decode_q4_or_q5(const uint8_t* block, bool fifth_bit, DecodedBlock& out) {
  const float d = load_half(block), dmin = load_half(block + 2);
  const uint8_t *high = block + 16, *q = fifth_bit ? block + 48 : block + 16;
  for (int j = 0; j < 8; j++) {
    int scale, minimum;
    six_bit_pair(block + 4, j, scale, minimum);
    out.scales[j] = d * static_cast<float>(scale);
    out.minimums[j] = -(dmin * static_cast<float>(minimum));
    for (int i = 0; i < 32; i++) {
      const int nibble = q[j / 2 * 32 + i] >> 4 * (j % 2) & 15;
      out.u[j * 32 + i] = static_cast<uint8_t>(fifth_bit ? nibble | (high[i] >> j & 1) << 4 : nibble);
    }
  }
}

void decode_q6(const uint8_t* block, DecodedBlock& out) {
  const uint8_t *low = block, *high = block + 128, *scales = block + 192;
  const float d = load_half(block + 208);
  for (int g = 0; g < 16; g++) {
    out.scales[g] = d * static_cast<float>(static_cast<int8_t>(scales[g]));
    out.minimums[g] = 0;
  }
  for (int half = 0; half < 2; half++)
    for (int t = 0; t < 4; t++)
      for (int i = 0; i < 32; i++) {
        const int nibble = low[64 * half + 32 * (t % 2) + i] >> 4 * (t / 2) & 15, bits = high[32 * half + i] >> 2 * t & 3;
        out.u[128 * half + 32 * t + i] = static_cast<uint8_t>(nibble | bits << 4);
      }
}

void decode_iq4(const uint8_t* block, DecodedBlock& out) {
  const float d = load_half(block);
  const int high = load_u16(block + 2);
  const uint8_t *low = block + 4, *q = block + 8;
  for (int j = 0; j < 8; j++) {
    const int scale = (low[j / 2] >> 4 * (j % 2) & 15) | (high >> 2 * j & 3) << 4;
    out.scales[j] = d * static_cast<float>(scale - 32);
    out.minimums[j] = 0;
    for (int i = 0; i < 16; i++) {
      out.u[j * 32 + i] = kIq4Levels[q[j * 16 + i] & 15];
      out.u[j * 32 + 16 + i] = kIq4Levels[q[j * 16 + i] >> 4];
    }
  }
}

}  // namespace

void decode_k_block(TensorType type, const uint8_t* block, DecodedBlock& out) {
  switch (type) {
    case TensorType::Q2_K: return decode_q2(block, out);
    case TensorType::Q3_K: return decode_q3(block, out);
    case TensorType::Q4_K: return decode_q4_or_q5(block, false, out);
    case TensorType::Q5_K: return decode_q4_or_q5(block, true, out);
    case TensorType::Q6_K: return decode_q6(block, out);
    default: return decode_iq4(block, out);
  }
}

}  // namespace tackroom
