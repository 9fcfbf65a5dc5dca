/** The bodies for tile registers on tiles in memory, so that any processor with AVX-512 and VNNI checks them. */
#include <immintrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulated_tiles.h"

namespace tackroom::test {
namespace {

struct Tile {
  int rows = 0, bytes = 0;
  uint8_t data[16][64];
};
thread_local Tile tiles[8];

/** What the processor answers with an invalid instruction. */
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: tiles: %s\n", what);
  std::abort();
}

void load_config(const void* memory) {
  uint8_t bytes[64];
  std::memcpy(bytes, memory, sizeof bytes);
  require(bytes[0] == 1, "palette");
  for (int t = 0; t < 8; t++) {
    uint16_t columns;
    std::memcpy(&columns, bytes + 16 + 2 * t, 2);
    require(columns <= 64 && bytes[48 + t] <= 16, "configuration");
    tiles[t].bytes = columns, tiles[t].rows = bytes[48 + t];
    std::memset(tiles[t].data, 0, sizeof tiles[t].data);
  }
}

void load(int t, const void* base, int64_t stride) {
  std::memset(tiles[t].data, 0, sizeof tiles[t].data);
  for (int r = 0; r < tiles[t].rows; r++) std::memcpy(tiles[t].data[r], static_cast<const char*>(base) + r * stride, static_cast<size_t>(tiles[t].bytes));
}

void store(int t, void* base, int64_t stride) {
  for (int r = 0; r < tiles[t].rows; r++) std::memcpy(static_cast<char*>(base) + r * stride, tiles[t].data[r], static_cast<size_t>(tiles[t].bytes));
}

void zero(int t) { std::memset(tiles[t].data, 0, sizeof tiles[t].data); }

/** c[m][n] += the products of the words k of row m of a and of row k, column n of b, by `dot(a word, b word, sum)`. */
template <class Sum, class Dot>
void multiply(int c, int a, int b, Dot dot) {
  require(tiles[c].rows == tiles[a].rows && tiles[c].bytes == tiles[b].bytes && tiles[a].bytes == 4 * tiles[b].rows, "shapes of a product");
  for (int m = 0; m < tiles[c].rows; m++)
    for (int n = 0; n < tiles[c].bytes; n += 4) {
      Sum sum;
      std::memcpy(&sum, tiles[c].data[m] + n, 4);
      for (int k = 0; k < tiles[b].rows; k++) sum = dot(tiles[a].data[m] + 4 * k, tiles[b].data[k] + n, sum);
      std::memcpy(tiles[c].data[m] + n, &sum, 4);
    }
}

float bf16_at(const uint8_t* at) {
  uint32_t u = static_cast<uint32_t>(at[0] | at[1] << 8) << 16;
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

void dot_bf16(int c, int a, int b) {
  multiply<float>(c, a, b, [](const uint8_t* x, const uint8_t* y, float sum) {
    return __builtin_fmaf(bf16_at(x + 2), bf16_at(y + 2), __builtin_fmaf(bf16_at(x), bf16_at(y), sum));
  });
}
template <class Right>
void dot_bytes(int c, int a, int b) {
  multiply<int32_t>(c, a, b, [](const uint8_t* x, const uint8_t* y, int32_t sum) {
    for (int e = 0; e < 4; e++) sum += static_cast<int8_t>(x[e]) * static_cast<Right>(y[e]);
    return sum;
  });
}

__m512i permute_bytes(__m512i index, __m512i table) {
  alignas(64) uint8_t i[64], t[64], out[64];
  _mm512_store_si512(i, index);
  _mm512_store_si512(t, table);
  for (int e = 0; e < 64; e++) out[e] = t[i[e] & 63];
  return _mm512_load_si512(out);
}

}  // namespace
}  // namespace tackroom::test

#undef _tile_loadconfig
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _mm512_permutexvar_epi8
#define _tile_loadconfig(memory) tackroom::test::load_config(memory)
#define _tile_loadd(t, base, stride) tackroom::test::load(t, base, stride)
#define _tile_stored(t, base, stride) tackroom::test::store(t, base, stride)
#define _tile_zero(t) tackroom::test::zero(t)
#define _tile_dpbf16ps(c, a, b) tackroom::test::dot_bf16(c, a, b)
#define _tile_dpbssd(c, a, b) tackroom::test::dot_bytes<int8_t>(c, a, b)
#define _tile_dpbsud(c, a, b) tackroom::test::dot_bytes<uint8_t>(c, a, b)
#define _mm512_permutexvar_epi8(index, table) tackroom::test::permute_bytes(index, table)

// The same sources under other names than the bodies with true tiles, which are linked too.
#include "../src/kernels/simd.h"
#undef TACKROOM_ISA
#define TACKROOM_ISA isa_emulated_tiles
namespace tackroom::isa_emulated_tiles {
using namespace isa_avx512;
}
#include "../src/kernels/amx_bf16_impl.h"
#include "../src/kernels/amx_int8_impl.h"

namespace tackroom::test {

void add_emulated_tile_bodies(PackedKernels& table) {
  table.bf16.body = table.int8_body = "amx (emulated)";
  table.bf16.gemm = TACKROOM_ISA::gemm_bf16;
  table.gemm_int8 = TACKROOM_ISA::gemm_int8;
  table.laid_rows = TACKROOM_ISA::kLeastTileRows - 1;
}

}  // namespace tackroom::test
