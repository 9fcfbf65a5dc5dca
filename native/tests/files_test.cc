/**
 * Tests of the weight files: packed matrices against plain decoding, and GGUF files against the Hugging Face folders of
 * the same weights.
 *
 * usage: files_test SCRATCH [SHARED/golden]
 * Writes files into SCRATCH. Without the golden folder, what needs it is left out. Prints every failure; exit status 1 on any.
 */
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "error.h"
#include "files_test.h"
#include "kernels/packed_bodies.h"
#include "packed_matrix.h"
#include "quants.h"
#include "tensor_source.h"

namespace tackroom {
namespace {

int failures = 0, checks = 0;

}  // namespace

bool check(bool good, const char* format, ...) {
  checks++;
  if (good) return true;
  failures++;
  va_list args;
  va_start(args, format);
  std::vprintf(format, args);
  va_end(args);
  std::printf("\n");
  return false;
}

namespace {

/** Element [row][depth] of packed weights, read as the comment of kernels/packed.h says. */
float packed_value(const PackedWeights& w, int row, int p) {
  const int panel = row / kPanelColumns, column = row % kPanelColumns;
  const uint8_t* data = w.data + int64_t{panel} * w.panel_bytes();
  if (w.bits == 16) return bf16_to_float(load_u16(data + ((int64_t{p} / 2 * kPanelColumns + column) * 2 + p % 2) * 2));
  int u;
  if (w.bits == 8) u = data[(int64_t{p} / 4 * kPanelColumns + column) * 4 + p % 4];
  else {
    const int group = p / 32, vector = p % 32 / 8, high = p % 8 / 4;
    u = data[((int64_t{group} * 4 + vector) * kPanelColumns + column) * 4 + p % 4] >> 4 * high & 15;
  }
  const int64_t at = int64_t{panel} * w.panel_scales() + int64_t{p} / w.group * kPanelColumns + column;
  const auto factor = [&](const void* list) {
    if (w.wide_scales) return static_cast<const float*>(list)[at];
    return load_half(static_cast<const uint8_t*>(list) + 2 * at);
  };
  const float product = factor(w.scales) * static_cast<float>(u - w.offset);
  return w.minimums == nullptr ? product : product + factor(w.minimums);
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, 4) == 0; }

/** Random blocks with sane factors, [out, in] of `format`. */
std::vector<uint8_t> random_blocks(const QuantFormat& format, int64_t values, std::mt19937& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(values / format.block * format.bytes));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  const auto put = [&](size_t at) {
    const auto half = static_cast<uint16_t>((random() & 0x83FF) | (8 + random() % 8) << 10);
    std::memcpy(&bytes[at], &half, 2);
  };
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(format.bytes)) {
    for (const int position : format.halves)
      if (position >= 0) put(at + static_cast<size_t>(position));
    if (format.type == TensorType::F16 || format.type == TensorType::BF16) put(at);
    if (format.type == TensorType::F32) {
      const float value = static_cast<float>(static_cast<int32_t>(random())) * 1e-9f;
      std::memcpy(&bytes[at], &value, 4);
    }
  }
  return bytes;
}

void test_packing(const QuantFormat& format, int64_t out, int64_t in, int heads, ThreadPool& pool, std::mt19937& random) {
  const auto bytes = random_blocks(format, out * in, random);
  TensorView view;
  view.type = format.type;
  view.shape = {out, in};
  view.data = bytes.data();
  view.bytes = bytes.size();
  view.permuted_heads = heads;
  std::vector<float> plain(static_cast<size_t>(out * in));
  read_rows(view, 0, out, plain.data(), in);
  const auto packed = PackedMatrix::pack(view, pool);
  const PackedWeights& w = packed->weights();
  check(w.out == out && w.in == in && w.bits == format.bits, "%s: shape %d x %d, %d bits", format.name, w.out, w.in, w.bits);
  check(all_finite(view), "%s: finite values called not finite", format.name);
  int wrong = 0;
  for (int64_t row = 0; row < out; row++)
    for (int64_t p = 0; p < in; p++) {
      float expected = plain[static_cast<size_t>(row * in + p)];
      if (format.type == TensorType::F32 || format.type == TensorType::F16) expected = bf16_to_float(float_to_bf16(expected));
      if (!same_bits(packed_value(w, static_cast<int>(row), static_cast<int>(p)), expected)) wrong++;
    }
  check(wrong == 0, "%s %lld x %lld: %d values differ after packing", format.name, static_cast<long long>(out), static_cast<long long>(in), wrong);
  PackedKernels portable{};
  add_portable_bodies(portable);
  std::vector<float> expanded(static_cast<size_t>(kPanelColumns * in));
  wrong = 0;
  for (int64_t row = 0; row < out && w.bits != 16; row++) {
    if (row % kPanelColumns == 0) portable.expand_rows(w, static_cast<int>(row / kPanelColumns), expanded.data(), in);
    const float* values = expanded.data() + row % kPanelColumns * in;
    for (int64_t p = 0; p < in; p++) wrong += !same_bits(values[p], plain[static_cast<size_t>(row * in + p)]);
  }
  check(wrong == 0, "%s: %d values differ after packing and expanding", format.name, wrong);
  const int64_t padded = panel_count(out) * kPanelColumns;
  wrong = 0;
  for (int64_t row = out; row < padded; row++)
    for (int p = 0; p < w.in; p++) wrong += packed_value(w, static_cast<int>(row), p) != 0;
  check(wrong == 0, "%s: %d values of columns past the end are not zero", format.name, wrong);
}

/** Parts of a matrix, with room between rows of the answer, are what the whole is. */
void test_rows(const QuantFormat& format, int heads, std::mt19937& random) {
  constexpr int64_t kRows = 24, kColumns = 256, kStride = 300;
  const auto bytes = random_blocks(format, kRows * kColumns, random);
  TensorView view;
  view.type = format.type;
  view.shape = {kRows, 2, kColumns / 2};
  if (format.block > 128) view.shape = {kRows, kColumns};
  view.data = bytes.data();
  view.bytes = bytes.size();
  std::vector<float> file(kRows * kColumns), some(5 * kStride, -7);
  dequantize(format.type, bytes.data(), kRows * kColumns, file.data());
  view.permuted_heads = heads;
  read_rows(view, 9, 5, some.data(), kStride);
  for (int64_t i = 0; i < 5; i++) {
    const int64_t at = heads == 0 ? 9 + i : llama_row(9 + i, kRows, heads);
    check(std::memcmp(&some[static_cast<size_t>(i * kStride)], &file[static_cast<size_t>(at * kColumns)], kColumns * 4) == 0, "%s: row %lld of a part differs", format.name,
          static_cast<long long>(i));
    int touched = 0;
    for (int64_t p = kColumns; p < kStride; p++) touched += some[static_cast<size_t>(i * kStride + p)] != -7;
    check(touched == 0, "%s: wrote between rows", format.name);
  }
}

/** One factor of one block that is not a number must be found, wherever it is. */
void test_finite(const QuantFormat& format, std::mt19937& random) {
  auto bytes = random_blocks(format, 5 * 256, random);
  TensorView view;
  view.type = format.type;
  view.shape = {5, 256};
  view.bytes = bytes.size();
  const size_t half = format.type == TensorType::F32 ? 2 : 0;
  for (int round = 0; round < 50; round++) {
    auto copy = bytes;
    const size_t block = random() % (bytes.size() / static_cast<size_t>(format.bytes));
    const int position = format.halves[1] >= 0 ? format.halves[random() % 2] : format.halves[0];
    const size_t at = block * static_cast<size_t>(format.bytes) + (position >= 0 ? static_cast<size_t>(position) : half);
    copy[at] = 0x80;
    copy[at + 1] = 0x7F;
    if (format.type == TensorType::F16 || position >= 0) copy[at + 1] = 0xFC;
    view.data = copy.data();
    const auto row = static_cast<int64_t>(block * static_cast<size_t>(format.block) / 256);
    check(!all_finite(view) && !all_finite(view, row, 1), "%s: a value that is not finite was missed", format.name);
    check(row == 0 || all_finite(view, 0, row), "%s: rows before the bad one are finite", format.name);
  }
}

int run(int argc, char** argv) {
  std::mt19937 random(20261129);
  ThreadPool pool(2);
  for (int id = 0; id < 64; id++) {
    const QuantFormat* format = quant_format(static_cast<TensorType>(id));
    if (format == nullptr) continue;
    for (const int64_t out : {1, 16, 17, 40})
      for (const int64_t in : {256, 768}) test_packing(*format, out, in, 0, pool, random);
    test_packing(*format, 48, 512, 3, pool, random);
    if (format->block == 32) test_packing(*format, 33, 96, 0, pool, random);
    if (format->block == 1) test_packing(*format, 19, 37, 0, pool, random);
    test_finite(*format, random);
    test_rows(*format, 0, random);
    test_rows(*format, 2, random);
  }
  if (argc < 2) return std::printf("usage: files_test SCRATCH [SHARED/golden]\n"), 2;
  const std::string golden = argc > 2 ? argv[2] : "";
  test_written_sources(argv[1], golden);
  if (!golden.empty()) test_golden_sources(golden);
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tackroom

int main(int argc, char** argv) {
  try {
    return tackroom::run(argc, argv);
  } catch (const tackroom::EngineError& error) {
    std::printf("%s: %s\n", error.code, error.what());
    return 1;
  }
}
