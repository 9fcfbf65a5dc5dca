/**
 * 8- and 4-bit products in tiles: 16 rows by 16 columns by the 32 depths of one group, then the group's sums are scaled and
 * added by the vector unit while the tile unit works on the next group.
 *
 * Up to 8 rows share a tile with the next group: rows 0..7 hold the group, rows 8..15 the next one shifted by 32 depths, with
 * zeros beside them, so 64 depths of weights give both groups' sums at the cost of one. Up to 16 rows read 8-bit weights in
 * place and turn 4-bit ones into signed bytes group by group. More rows share a panel made signed beforehand (u - offset,
 * where that fits 8 bits), which takes the offset out of the inner loop. All of this is exact in integers; the fp32 steps are
 * those of every other body.
 */
#pragma once
#include "amx_tiles.h"
#include "int8_block_impl.h"

namespace tackroom::TACKROOM_ISA {

constexpr int64_t kInt8ChunkBytes = 512 << 10;  // of rows laid out at once
constexpr int kLeastTileRows = 5;
constexpr int kInt8Ahead = 4096;                // bytes of weights fetched before they are used

/** u - offset for every nibble u, four times: vpermb looks at 6 bits of an index. */
static inline __m512i nibble_table(int offset) {
  alignas(64) int8_t table[64];
  for (int i = 0; i < 64; i++) table[i] = static_cast<int8_t>(i % 16 - offset);
  return _mm512_load_si512(table);
}

/** 32 depths of nibbles as signed bytes [8][16][4]. */
static inline __attribute__((always_inline)) void split_nibbles(const uint8_t* nibbles, __m512i table, uint8_t* out) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m512i v = _mm512_loadu_si512(nibbles + 64 * j);
    _mm512_store_si512(out + 128 * j, _mm512_permutexvar_epi8(v, table));
    _mm512_store_si512(out + 128 * j + 64, _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), table));
  }
}

static inline __attribute__((always_inline)) void fetch(const uint8_t* p, int lines) {
#pragma GCC unroll 16
  for (int j = 0; j < lines; j++) _mm_prefetch(reinterpret_cast<const char*>(p + kInt8Ahead + 64 * j), _MM_HINT_T0);
}

/** The panel as signed bytes [in / 4][16][4] of u - offset. */
static void signed_panel(const PackedWeights& w, int panel, uint8_t* out) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(w.offset)), table = nibble_table(w.offset);
  for (int p = 0; p < w.in; p += 32, out += 512) {
    if (w.bits == 4) {
      split_nibbles(data + p * 8, table, out);
    } else {
#pragma GCC unroll 8
      for (int j = 0; j < 8; j++) _mm512_store_si512(out + 64 * j, _mm512_sub_epi8(_mm512_loadu_si512(data + p * 16 + 64 * j), offset));
    }
  }
}

/** What a block by a panel needs besides the block. */
struct Int8Panel {
  const uint8_t* u;  // bits 8 or made signed: [in / 4][16][4]; else nibbles
  const void *scales, *minimums;
  bool wide;
  __m512i table;                  // of the nibbles
  const uint8_t* next = nullptr;  // weights to fetch meanwhile, 64 * next_lines bytes a group
  int next_lines = 0;
};

static inline Int8Panel int8_panel(const PackedWeights& w, int panel, __m512i table) {
  const int64_t first = panel * w.panel_scales() * (w.wide_scales ? 4 : 2);
  return {w.data + panel * w.panel_bytes(), static_cast<const uint8_t*>(w.scales) + first,
          w.minimums == nullptr ? nullptr : static_cast<const uint8_t*>(w.minimums) + first, w.wide_scales, table, nullptr, 0};
}

template <int R, bool Signed>
static inline __attribute__((always_inline)) void add_group(const int32_t (*sums)[16], const Int8Block& b, const Int8Panel& w, int g, __m512* acc) {
  const __m512 scale = factors(w.wide, w.scales, g * kPanelColumns);
  const float* by = b.scales + g * R;
#pragma GCC unroll 16
  for (int r = 0; r < R; r++) {
    __m512i dot = _mm512_load_si512(sums[r]);
    if constexpr (!Signed) dot = _mm512_add_epi32(dot, _mm512_set1_epi32(b.shifts[g * R + r]));
    acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot), _mm512_mul_ps(scale, _mm512_set1_ps(by[r])), acc[r]);
  }
  if (w.minimums != nullptr) {
    const __m512 minimum = factors(w.wide, w.minimums, g * kPanelColumns);
#pragma GCC unroll 16
    for (int r = 0; r < R; r++) acc[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(b.lifts[g * R + r]), acc[r]);
  }
}

/** Makes step t ready, that is `Groups` groups: splits nibbles a step before a tile loads them, fetches what comes later. */
template <int Groups, bool Nibbles>
static inline __attribute__((always_inline)) void prepare(const Int8Panel& w, int t, bool ahead, uint8_t (*split)[512 * Groups]) {
  if constexpr (Nibbles) {
    fetch(w.u + 256 * Groups * t, 4 * Groups);
    for (int i = 0; i < Groups; i++) split_nibbles(w.u + 256 * (Groups * t + i), w.table, split[t & 1] + 512 * i);
    __asm__ volatile("" ::: "memory");
  } else if (ahead) {
    fetch(w.u + 512 * Groups * t, 8 * Groups);
  } else if (w.next != nullptr) {
    for (int j = 0; j < w.next_lines; j++) _mm_prefetch(reinterpret_cast<const char*>(w.next + 64 * (w.next_lines * t + j)), _MM_HINT_T0);
  }
}

/** C = A B for step t, the rows [16][32 * Groups] from `rows` on. */
#define TACKROOM_MULTIPLY(C, A, B, Groups, Signed, rows, t)                                   \
  do {                                                                                        \
    const uint8_t* source = Nibbles ? split[(t) & 1] : w.u + int64_t{512} * (Groups) * (t);   \
    _tile_zero(C);                                                                            \
    _tile_loadd(A, rows, 32 * (Groups));                                                      \
    _tile_loadd(B, source, 64);                                                               \
    if constexpr (Signed) _tile_dpbssd(C, A, B);                                              \
    else _tile_dpbsud(C, A, B);                                                               \
  } while (false)

template <int R, bool Signed, bool Nibbles>
static void block_by_panel(const Int8Block& b, const Int8Panel& w, int groups, int rows, float* c, int64_t c_row, __mmask16 columns, bool accumulate) {
  alignas(64) int32_t sums[2][16][16];
  alignas(64) uint8_t split[2][512];
  __m512 acc[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++) acc[r] = _mm512_setzero_ps();
  // Stages: group g + 3 made ready, the products of g + 2, the sums of g + 1 on their way to memory, those of g being added.
  const auto ready = [&](int g) __attribute__((always_inline)) {
    if (g < groups) prepare<1, Nibbles>(w, g, !Signed, split);
  };
  ready(0);
  ready(1);
  TACKROOM_MULTIPLY(0, 4, 6, 1, Signed, b.q, 0);
  if (groups > 1) TACKROOM_MULTIPLY(1, 5, 7, 1, Signed, b.q + 32 * R, 1);
  ready(2);
  _tile_stored(0, sums[0], 64);
  for (int g = 0; g < groups; g += 2) {
    ready(g + 3);
    if (g + 2 < groups) TACKROOM_MULTIPLY(0, 4, 6, 1, Signed, b.q + (g + 2) * (32 * R), g + 2);
    if (g + 1 < groups) _tile_stored(1, sums[1], 64);
    add_group<R, Signed>(sums[0], b, w, g, acc);
    if (g + 1 == groups) break;
    ready(g + 4);
    if (g + 3 < groups) TACKROOM_MULTIPLY(1, 5, 7, 1, Signed, b.q + (g + 3) * (32 * R), g + 3);
    if (g + 2 < groups) _tile_stored(0, sums[0], 64);
    add_group<R, Signed>(sums[1], b, w, g + 1, acc);
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
    if (r < rows) put_row(acc[r], c + r * c_row, columns, accumulate);
}

/** Up to 8 rows: `tiles` [pairs][16][64] as the head of this file says. */
template <bool Nibbles>
static void pairs_by_panel(const Int8Block& b, const int8_t* tiles, const Int8Panel& w, int pairs, int rows, float* c, int64_t c_row, __mmask16 columns,
                           bool accumulate) {
  alignas(64) int32_t sums[2][16][16];
  alignas(64) uint8_t split[2][1024];
  __m512 acc[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++) acc[r] = _mm512_setzero_ps();
  const auto ready = [&](int p) __attribute__((always_inline)) {
    if (p < pairs) prepare<2, Nibbles>(w, p, true, split);
  };
  ready(0);
  ready(1);
  TACKROOM_MULTIPLY(0, 4, 6, 2, Nibbles, tiles, 0);
  if (pairs > 1) TACKROOM_MULTIPLY(1, 5, 7, 2, Nibbles, tiles + 1024, 1);
  ready(2);
  _tile_stored(0, sums[0], 64);
  for (int p = 0; p < pairs; p += 2) {
    ready(p + 3);
    if (p + 2 < pairs) TACKROOM_MULTIPLY(0, 4, 6, 2, Nibbles, tiles + (p + 2) * 1024, p + 2);
    if (p + 1 < pairs) _tile_stored(1, sums[1], 64);
    add_group<8, Nibbles>(sums[0], b, w, 2 * p, acc);
    add_group<8, Nibbles>(sums[0] + 8, b, w, 2 * p + 1, acc);
    if (p + 1 == pairs) break;
    ready(p + 4);
    if (p + 3 < pairs) TACKROOM_MULTIPLY(1, 5, 7, 2, Nibbles, tiles + (p + 3) * 1024, p + 3);
    if (p + 2 < pairs) _tile_stored(0, sums[0], 64);
    add_group<8, Nibbles>(sums[1], b, w, 2 * p + 2, acc);
    add_group<8, Nibbles>(sums[1] + 8, b, w, 2 * p + 3, acc);
  }
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++)
    if (r < rows) put_row(acc[r], c + r * c_row, columns, accumulate);
}

static void paired_rows(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  const int64_t tile_bytes = int64_t{16} * w.in;
  int8_t* tiles = static_cast<int8_t*>(packed_scratch(static_cast<size_t>(tile_bytes + int8_block_bytes(8, w))));
  const Int8Block b = int8_block_at(reinterpret_cast<uint8_t*>(tiles) + tile_bytes, 8, w);
  fill_int8_block(b, a, 0, m, 8, w);
  const __m256i zero = _mm256_setzero_si256();
  for (int g = 0; g < w.in / 32; g++)
    for (int r = 0; r < 8; r++) {
      __m256i* out = reinterpret_cast<__m256i*>(tiles + (g / 2) * 1024 + (g % 2 * 8 + r) * 64);
      _mm256_store_si256(out + g % 2, _mm256_load_si256(reinterpret_cast<const __m256i*>(b.q + (g * 8 + r) * 32)));
      _mm256_store_si256(out + 1 - g % 2, zero);
    }
  __asm__ volatile("" ::: "memory");
  configure_tiles(16, 16, 64);
  const __m512i table = nibble_table(w.offset);
  for (int panel = begin; panel < end; panel++, c += kPanelColumns) {
    const Int8Panel p = int8_panel(w, panel, table);
    const __mmask16 columns = first_lanes(w.out - panel * kPanelColumns);
    if (w.bits == 8) pairs_by_panel<false>(b, tiles, p, w.in / 64, m, c, c_row, columns, accumulate);
    else pairs_by_panel<true>(b, tiles, p, w.in / 64, m, c, c_row, columns, accumulate);
  }
}

template <int R>
static void single_block(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  const Int8Block b = int8_block_at(static_cast<uint8_t*>(packed_scratch(static_cast<size_t>(int8_block_bytes(R, w)))), R, w);
  fill_int8_block(b, a, 0, m, R, w);
  __asm__ volatile("" ::: "memory");
  configure_tiles(R, R, 32);
  const __m512i table = nibble_table(w.offset);
  for (int panel = begin; panel < end; panel++, c += kPanelColumns) {
    const Int8Panel p = int8_panel(w, panel, table);
    const __mmask16 columns = first_lanes(w.out - panel * kPanelColumns);
    if (w.bits == 8) block_by_panel<R, false, false>(b, p, w.in / 32, m, c, c_row, columns, accumulate);
    else block_by_panel<R, true, true>(b, p, w.in / 32, m, c, c_row, columns, accumulate);
  }
}

static void many_blocks(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  const bool made_signed = w.bits == 4 || w.offset == 128;
  const int64_t bytes = int8_block_bytes(16, w), panel_bytes = int64_t{16} * w.in;
  int64_t blocks = kInt8ChunkBytes / bytes;
  if (blocks > (m + 15) / 16) blocks = (m + 15) / 16;
  if (blocks < 1) blocks = 1;
  uint8_t* integers = static_cast<uint8_t*>(packed_scratch(static_cast<size_t>(panel_bytes + blocks * bytes)));
  uint8_t* memory = integers + panel_bytes;
  configure_tiles(16, 16, 32);
  for (int start = 0; start < m; start += static_cast<int>(blocks) * 16) {
    const int left = m - start, count = left < blocks * 16 ? (left + 15) / 16 : static_cast<int>(blocks);
    for (int x = 0; x < count; x++) {
      const int rows = left - 16 * x < 16 ? left - 16 * x : 16;
      fill_int8_block(int8_block_at(memory + x * bytes, 16, w), a, start + 16 * x, rows, 16, w);
    }
    for (int panel = begin; panel < end; panel++) {
      Int8Panel p = int8_panel(w, panel, _mm512_setzero_si512());
      if (made_signed) {
        signed_panel(w, panel, integers);
        p.u = integers;
        p.next_lines = w.bits;
        __asm__ volatile("" ::: "memory");
      }
      const __mmask16 columns = first_lanes(w.out - panel * kPanelColumns);
      for (int x = 0; x < count; x++) {
        const int rows = left - 16 * x < 16 ? left - 16 * x : 16;
        float* out = c + static_cast<int64_t>(start + 16 * x) * c_row + (panel - begin) * kPanelColumns;
        const Int8Block b = int8_block_at(memory + x * bytes, 16, w);
        p.next = x == 0 && panel + 1 < end ? w.data + (panel + 1) * w.panel_bytes() : nullptr;
        if (made_signed) block_by_panel<16, true, false>(b, p, w.in / 32, rows, out, c_row, columns, accumulate);
        else block_by_panel<16, false, false>(b, p, w.in / 32, rows, out, c_row, columns, accumulate);
      }
    }
  }
}

static void gemm_int8(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  if (m <= 0 || begin >= end) return;
  // Fewer rows than this are as fast without tiles; groups of 16 would fill half of one.
  if (m < kLeastTileRows || w.group != 32 || w.offset > 128) return gemm_int8_vnni(m, a, w, begin, end, c, c_row, accumulate);
  if (m <= 8 && w.in % 64 == 0) return paired_rows(m, a, w, begin, end, c, c_row, accumulate);
  if (m <= 8) return single_block<8>(m, a, w, begin, end, c, c_row, accumulate);
  if (m <= 16) return single_block<16>(m, a, w, begin, end, c, c_row, accumulate);
  return many_blocks(m, a, w, begin, end, c, c_row, accumulate);
}

}  // namespace tackroom::TACKROOM_ISA
