#include "packed_matrix.h"

#include <algorithm>

#include "error.h"
#include "quants.h"

namespace tackroom {
namespace {

/** What the threads fill in: one panel of 16 outputs a task, so no two tasks write to the same memory. */
struct Target {
  const TensorView& view;
  const QuantFormat& format;
  const PackedWeights& w;
  uint8_t *data, *scales, *minimums;
};

void pack_bf16_row(const Target& t, const uint8_t* row, int column, uint8_t* panel) {
  constexpr int kChunk = 256;
  float values[kChunk];
  for (int start = 0; start < t.w.in; start += kChunk) {
    const int count = std::min(kChunk, t.w.in - start);
    dequantize(t.view.type, row + static_cast<size_t>(start) * static_cast<size_t>(t.format.bytes), count, values);
    for (int i = 0; i < count; i++) {
      const uint16_t bits = float_to_bf16(values[i]);
      const int p = start + i;
      std::memcpy(panel + (static_cast<size_t>(p / 2) * kPanelColumns + static_cast<size_t>(column)) * 4 + static_cast<size_t>(p % 2) * 2, &bits, 2);
    }
  }
}

/** Four consecutive depths of a column are one word of a vector. */
void store_8bit(const DecodedBlock& block, int values, int column, uint8_t* at) {
  for (int p = 0; p < values; p += 4) std::memcpy(at + p * kPanelColumns + column * 4, block.u + p, 4);
}

/** The low nibbles of vector j of a group of 32 hold depths 8j..8j+3, its high ones 8j+4..8j+7. */
void store_4bit(const DecodedBlock& block, int values, int column, uint8_t* at) {
  for (int p = 0; p < values; p += 8, at += 4 * kPanelColumns)
    for (int i = 0; i < 4; i++) at[column * 4 + i] = static_cast<uint8_t>(block.u[p + i] | block.u[p + 4 + i] << 4);
}

void pack_quantised_row(const Target& t, const uint8_t* row, int column, uint8_t* panel, size_t first_scale) {
  const int groups = t.format.block / t.format.group;
  DecodedBlock block;
  size_t scale = first_scale + static_cast<size_t>(column);
  for (int p = 0; p < t.w.in; p += t.format.block, row += t.format.bytes) {
    decode_block(t.format, row, block);
    uint8_t* at = panel + static_cast<size_t>(p) * kPanelColumns * static_cast<size_t>(t.w.bits) / 8;
    if (t.w.bits == 8) store_8bit(block, t.format.block, column, at);
    else store_4bit(block, t.format.block, column, at);
    for (int g = 0; g < groups; g++, scale += kPanelColumns) {
      if (t.w.wide_scales) {
        std::memcpy(t.scales + scale * 4, &block.scales[g], 4);
        if (t.format.minimums) std::memcpy(t.minimums + scale * 4, &block.minimums[g], 4);
      } else {  // one group a block: the f16 of the file as they are
        std::memcpy(t.scales + scale * 2, row, 2);
        if (t.format.minimums) std::memcpy(t.minimums + scale * 2, row + 2, 2);
      }
    }
  }
}

void pack_panel(const Target& t, int panel) {
  uint8_t* data = t.data + static_cast<size_t>(panel) * static_cast<size_t>(t.w.panel_bytes());
  const int columns = std::min(kPanelColumns, t.w.out - panel * kPanelColumns);
  for (int column = 0; column < columns; column++) {
    const uint8_t* row = row_data(t.view, int64_t{panel} * kPanelColumns + column);
    if (t.w.bits == 16) pack_bf16_row(t, row, column, data);
    else pack_quantised_row(t, row, column, data, static_cast<size_t>(panel) * static_cast<size_t>(t.w.panel_scales()));
  }
}

constexpr size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::unique_ptr<PackedMatrix> PackedMatrix::describe(const TensorView& view) {
  const QuantFormat* format = quant_format(view.type);
  const int64_t out = view.rows(), in = view.columns();
  if (format == nullptr) fail("MODEL_UNSUPPORTED", "Weights of the type %s cannot be packed.", type_name(view.type));
  if (out <= 0 || in <= 0 || out > 1 << 30 || in > 1 << 26 || in % format->block != 0)
    fail("MODEL_CORRUPT", "A matrix of %lld rows and %lld columns cannot be packed.", static_cast<long long>(out), static_cast<long long>(in));
  auto matrix = std::make_unique<PackedMatrix>();
  PackedWeights& w = matrix->weights_;
  w.out = static_cast<int>(out);
  w.in = static_cast<int>(in);
  w.bits = format->bits;
  w.group = format->group == 0 ? kInt8Group : format->group;
  w.offset = format->offset;
  w.wide_scales = format->wide;
  const auto panels = static_cast<size_t>(panel_count(out));
  matrix->data_ = whole_lines(panels * static_cast<size_t>(w.panel_bytes()));
  if (w.bits != 16) matrix->scales_ = whole_lines(panels * static_cast<size_t>(w.panel_scales()) * (w.wide_scales ? 4 : 2));
  if (format->minimums) matrix->minimums_ = matrix->scales_;
  return matrix;
}

void PackedMatrix::fill(const TensorView& view, ThreadPool& pool, uint8_t* memory) {
  PackedWeights& w = weights_;
  if (memory == nullptr) memory = reinterpret_cast<uint8_t*>(own_.reserve(bytes() / sizeof(float)));
  Target target{view, *quant_format(view.type), w, memory, memory + data_, memory + data_ + scales_};
  w.data = target.data;
  if (scales_ != 0) w.scales = target.scales;
  if (minimums_ != 0) w.minimums = target.minimums;
  pool.run(static_cast<int>(panel_count(w.out)), [&](int panel) { pack_panel(target, panel); });
}

std::unique_ptr<PackedMatrix> PackedMatrix::pack(const TensorView& view, ThreadPool& pool) {
  auto matrix = describe(view);
  matrix->fill(view, pool);
  return matrix;
}

}  // namespace tackroom
