/**
 * bf16 products in tiles: 16 rows by 16 columns of sums, one chain over the depths in ascending order for every element.
 *
 * Up to 32 rows meet the weights once, straight from memory, a panel at a time. More rows are first laid out tile by tile;
 * 32 of them, in the first-level cache, meet a chunk of panels in the second. That order writes C along its rows, which
 * matters when k is small. The sums of a row depend on that row alone, so both ways give the same bits.
 */
#pragma once
#include "amx_tiles.h"

namespace tackroom::TACKROOM_ISA {

constexpr int64_t kRowBytes = 640 << 10, kPanelChunkBytes = 512 << 10;  // what stays in the second-level cache

/** Stores sums of a tile, `rows` by `columns` of which are wanted. */
#define TACKROOM_PUT_TILE(T, rows, columns, c, c_row, accumulate)                              \
  do {                                                                                         \
    if ((rows) == 16 && (columns) >= 16 && !(accumulate)) {                                    \
      _tile_stored(T, c, (c_row) * static_cast<int64_t>(sizeof(float)));                       \
    } else if ((rows) > 0 && (columns) > 0) {                                                  \
      alignas(64) float side[16][16];                                                          \
      _tile_stored(T, side, 64);                                                               \
      for (int i = 0; i < (rows); i++)                                                         \
        put_row(_mm512_load_ps(side[i]), (c) + i * (c_row), first_lanes(columns), accumulate); \
    }                                                                                          \
  } while (false)

constexpr int kBf16Ahead = 4096;  // bytes of weights fetched before they are used

static inline void fetch_tile(const uint16_t* b) {
#pragma GCC unroll 16
  for (int l = 0; l < 16; l++) _mm_prefetch(reinterpret_cast<const char*>(b) + kBf16Ahead + 64 * l, _MM_HINT_T0);
}

/** One or two tiles of rows by one panel: the weights are one stream. A chain of tile products is still faster than memory. */
static void by_one_panel(int rows, int64_t depth, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  _tile_zero(0);
  if (rows <= 16) {
    for (int64_t p = 0; p < depth; p += 32) {
      fetch_tile(b + p * kPanelColumns);
      _tile_loadd(4, a + p, a_row * 2);
      _tile_loadd(6, b + p * kPanelColumns, 64);
      _tile_dpbf16ps(0, 4, 6);
    }
    TACKROOM_PUT_TILE(0, rows, columns, c, c_row, accumulate);
    return;
  }
  _tile_zero(2);
  const uint16_t* second = a + 16 * a_row;
  for (int64_t p = 0; p < depth; p += 32) {
    fetch_tile(b + p * kPanelColumns);
    _tile_loadd(4, a + p, a_row * 2);
    _tile_loadd(6, b + p * kPanelColumns, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, second + p, a_row * 2);
    _tile_dpbf16ps(2, 5, 6);
  }
  TACKROOM_PUT_TILE(0, 16, columns, c, c_row, accumulate);
  TACKROOM_PUT_TILE(2, rows - 16, columns, c + 16 * c_row, c_row, accumulate);
}

/** 32 rows as fill_bf16_block lays them out, `rows` of them wanted, by one or two panels; fetches the panels `next`. */
static void two_by_two(int rows, int64_t depth, const uint16_t* a, const uint16_t* b, const uint16_t* next, int columns,
                       float* c, int64_t c_row, bool accumulate) {
  const int64_t panel = columns > 16 ? depth * kPanelColumns : 0;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t p = 0; p < depth; p += 32, a += 1024, b += 32 * kPanelColumns) {
    // The lines of C that will be written, two rows a step: without this the stores wait for memory.
    if (p < 512)
#pragma GCC unroll 2
      for (int64_t i = p / 16; i < p / 16 + 2; i++) {
        __builtin_prefetch(c + (i < rows ? i : 0) * c_row, 1);
        __builtin_prefetch(c + (i < rows ? i : 0) * c_row + (columns > 16 ? 16 : 0), 1);
      }
    if (next != nullptr)
#pragma GCC unroll 16
      for (int l = 0; l < 16; l++) {
        _mm_prefetch(reinterpret_cast<const char*>(next + p * kPanelColumns) + 64 * l, _MM_HINT_T1);
        _mm_prefetch(reinterpret_cast<const char*>(next + panel + p * kPanelColumns) + 64 * l, _MM_HINT_T1);
      }
    _tile_loadd(6, b, 64);
    _tile_loadd(4, a, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + panel, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + 512, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  const int first_rows = rows < 16 ? rows : 16;
  TACKROOM_PUT_TILE(0, first_rows, columns, c, c_row, accumulate);
  TACKROOM_PUT_TILE(1, first_rows, columns - 16, c + 16, c_row, accumulate);
  TACKROOM_PUT_TILE(2, rows - 16, columns, c + 16 * c_row, c_row, accumulate);
  TACKROOM_PUT_TILE(3, rows - 16, columns - 16, c + 16 * c_row + 16, c_row, accumulate);
}

/** Lays 32 rows (those from `rows` on are zeros) out as [depth / 32][2][16][32]. */
static void fill_bf16_block(const uint16_t* a, int64_t a_row, int rows, int64_t depth, uint16_t* out) {
  for (int i = 0; i < 32; i++)
    for (int64_t p = 0; p < depth; p += 32)
      _mm512_store_si512(out + p * 32 + i * 32, i < rows ? _mm512_loadu_si512(a + i * a_row + p) : _mm512_setzero_si512());
}

constexpr int64_t kShortDepth = 128;

/** Up to 16 rows by two panels of few depths: the two chains of sums hide each other's latency, as in attention. */
static void by_two_panels(int rows, int64_t depth, const uint16_t* a, int64_t a_row, const uint16_t* b, int columns, float* c, int64_t c_row, bool accumulate) {
  const uint16_t* second = b + depth * kPanelColumns;
  _tile_zero(0);
  _tile_zero(1);
  for (int64_t p = 0; p < depth; p += 32) {
    _tile_loadd(4, a + p, a_row * 2);
    _tile_loadd(6, b + p * kPanelColumns, 64);
    _tile_loadd(7, second + p * kPanelColumns, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  TACKROOM_PUT_TILE(0, rows, columns, c, c_row, accumulate);
  TACKROOM_PUT_TILE(1, rows, columns - 16, c + 16, c_row, accumulate);
}

static void gemm_bf16(int m, int columns, int k, const uint16_t* a, int64_t a_row, const uint16_t* b, float* c, int64_t c_row, bool accumulate) {
  const int64_t depth = bf16_depth(k), panel = depth * kPanelColumns, block = 32 * depth;
  if (m <= 0 || columns <= 0) return;
  if (m <= 32) {
    configure_tiles(m < 16 ? m : 16, m > 16 ? m - 16 : m, 64);
    int n = 0;
    if (m <= 16 && depth <= kShortDepth)
      for (; columns - n > 16; n += 32) by_two_panels(m, depth, a, a_row, b + n / 16 * panel, columns - n, c + n, c_row, accumulate);
    for (; n < columns; n += 16) by_one_panel(m, depth, a, a_row, b + n / 16 * panel, columns - n, c + n, c_row, accumulate);
    return;
  }
  int64_t blocks = kRowBytes / (2 * block);
  if (blocks > (m + 31) / 32) blocks = (m + 31) / 32;
  if (blocks < 1) blocks = 1;
  const int fit = static_cast<int>(kPanelChunkBytes / (4 * panel)), chunk = 32 * (fit < 1 ? 1 : fit);
  uint16_t* rows = static_cast<uint16_t*>(packed_scratch(static_cast<size_t>(2 * blocks * block)));
  configure_tiles(16, 16, 64);
  for (int first = 0; first < m; first += static_cast<int>(blocks) * 32) {
    const int left = m - first, count = left < blocks * 32 ? (left + 31) / 32 : static_cast<int>(blocks);
    for (int x = 0; x < count; x++) fill_bf16_block(a + (first + 32 * x) * a_row, a_row, left - 32 * x, depth, rows + x * block);
    __asm__ volatile("" ::: "memory");
    for (int n0 = 0; n0 < columns; n0 += chunk)
      for (int x = 0; x < count; x++)
        for (int n = n0; n < n0 + chunk && n < columns; n += 32) {
          const int here = left - 32 * x < 32 ? left - 32 * x : 32;
          const uint16_t* source = b + n / 16 * panel;
          const uint16_t* next = x == 0 && n + 64 <= columns ? source + 2 * panel : nullptr;
          two_by_two(here, depth, rows + x * block, source, next, columns - n, c + (first + 32 * x) * c_row + n, c_row, accumulate);
        }
  }
}

}  // namespace tackroom::TACKROOM_ISA
