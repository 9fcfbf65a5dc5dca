/**
 * Keys and values of one kv head as attention in bf16 reads them.
 *
 * Keys: panels of 16 keys [bf16_depth(head_dim) / 2][16][2], the B operand of q k^T. Values: blocks of kAttentionKeys keys, each
 * [panels of head_dim][kAttentionKeys / 2][16][2], the B operand of p v, zeros past the last key.
 */
#pragma once
#include "aligned_buffer.h"
#include "kernels/kernels.h"

namespace tackroom {

/** Packs the keys [from, to), where `from` is a multiple of 16; element (key, dimension) at keys[key * row + dimension * column]. */
inline void pack_keys16(const PackedKernels& p, const float* keys, int64_t row, int64_t column, int from, int to, int head_dim, uint16_t* out) {
  p.bf16.pack(keys + from * row, row, column, to - from, head_dim, out + from * bf16_depth(head_dim));
}

/** Packs the blocks that hold the values [from, to); value i at values + i * row. */
inline void pack_values16(const PackedKernels& p, const float* values, int64_t row, int from, int to, int head_dim, uint16_t* out) {
  thread_local AlignedBuffer whole;
  for (int begin = from / kAttentionKeys * kAttentionKeys; begin < to; begin += kAttentionKeys) {
    const float* source = values + begin * row;
    int64_t stride = row;
    if (to - begin < kAttentionKeys) {
      float* copy = whole.reserve(static_cast<size_t>(kAttentionKeys) * static_cast<size_t>(head_dim));
      whole.zero();
      for (int64_t i = 0; i < to - begin; i++) std::memcpy(copy + i * head_dim, source + i * row, static_cast<size_t>(head_dim) * sizeof(float));
      source = copy, stride = head_dim;
    }
    p.bf16.pack(source, 1, stride, head_dim, kAttentionKeys, out + begin / kAttentionKeys * attention_value_block16(head_dim));
  }
}

}  // namespace tackroom
