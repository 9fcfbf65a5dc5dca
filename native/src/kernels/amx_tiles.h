/** Configuration of the tile registers. Tiles 0..3 hold sums, 4 and 5 rows of activations, 6 and 7 weights. */
#pragma once
#include "packed_avx512_impl.h"

namespace tackroom::TACKROOM_ISA {

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t column_bytes[16] = {};
  uint8_t rows[16] = {};
};

/**
 * Configures this thread's tiles unless they are already so. `first` and `second`: rows of the tiles 4 and 5 (and of the
 * sums 0, 1 and 2, 3); `bytes`: their width, that is 4 times the rows of the weight tiles.
 */
static void configure_tiles(int first, int second, int bytes) {
  static thread_local int32_t configured = 0;
  const int32_t key = first << 16 | second << 8 | bytes;
  if (configured == key) return;
  TileConfig config;
  for (int t = 0; t < 8; t++) {
    config.rows[t] = static_cast<uint8_t>(t >= 6 ? bytes / 4 : t == 5 || t == 2 || t == 3 ? second : first);
    config.column_bytes[t] = static_cast<uint16_t>(t == 4 || t == 5 ? bytes : 64);
  }
  // The intrinsic of GCC 12 tells the compiler of the first 8 bytes only.
  __asm__ volatile("" ::"r"(&config) : "memory");
  _tile_loadconfig(&config);
  configured = key;
}

}  // namespace tackroom::TACKROOM_ISA
