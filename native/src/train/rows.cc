#include "rows.h"

#include <algorithm>
#include <cstring>

namespace tackroom {
namespace {

constexpr int kSumRows = 128;  // rows of one partial sum

}  // namespace

void gemm_parallel(ThreadPool& pool, const Kernels& kernels, const GemmArgs& g) {
  constexpr double kWorthSharing = 2e6;  // multiply-adds
  constexpr int kRows = 96;              // a multiple of every kernel's row block
  const double work = static_cast<double>(g.m) * g.n * g.k;
  if (pool.size() == 1 || work < kWorthSharing) return kernels.gemm(g);
  const int width = kernels.panel_width, panels = (g.n + width - 1) / width, row_blocks = (g.m + kRows - 1) / kRows;
  const int wanted = 4 * pool.size(), row_pieces = std::min(row_blocks, wanted);
  const int column_pieces = std::clamp(wanted / row_pieces, 1, panels);
  pool.run(row_pieces * column_pieces, [&](int task) {
    const int r = task / column_pieces, c = task % column_pieces;
    const int r0 = row_blocks * r / row_pieces * kRows, r1 = std::min(g.m, row_blocks * (r + 1) / row_pieces * kRows);
    const int p0 = panels * c / column_pieces, p1 = panels * (c + 1) / column_pieces;
    GemmArgs piece = g;
    piece.m = r1 - r0, piece.n = std::min(g.n, p1 * width) - p0 * width;
    piece.a += r0 * g.a_row, piece.b += p0 * g.b_panel, piece.c += r0 * g.c_row + static_cast<int64_t>(p0) * width;
    kernels.gemm(piece);
  });
}

void norm_forward(Model& model, const float* x, size_t weight, float* y, float* rstd, int64_t count, int width) {
  parallel_rows(model.pool, static_cast<int>(count), static_cast<double>(count) * width * 0.15, [&](int begin, int end) {
    for (int64_t i = begin; i < end; i++) rstd[i] = model.norm(x + i * width, weight, y + i * width, width);
  });
}

void norm_backward(Model& model, const float* dy, const float* x, size_t weight, const float* rstd, float* dx, float* dw, int64_t count, int width,
                   AlignedBuffer& partial) {
  const float offset = model.config.norm_offset;
  const int pieces = static_cast<int>((count + kSumRows - 1) / kSumRows);
  float* sums = dw == nullptr ? nullptr : sized(partial, pieces, width);
  if (dw != nullptr) partial.zero();
  parallel_rows(model.pool, pieces, static_cast<double>(count) * width * 0.3, [&](int first, int last) {
    for (int64_t piece = first; piece < last; piece++) {
      float* sum = sums == nullptr ? nullptr : sums + piece * width;
      for (int64_t i = piece * kSumRows; i < std::min<int64_t>(count, (piece + 1) * kSumRows); i++)
        model.kernels.rmsnorm_backward(dy + i * width, x + i * width, model.at(weight), rstd[i], dx + i * width, sum, width, offset);
    }
  });
  for (int64_t piece = 0; dw != nullptr && piece < pieces; piece++) model.kernels.add(dw, sums + piece * width, width);
}

void add_parallel(Model& model, float* y, const float* x, int64_t n) {
  constexpr int64_t kPiece = 1 << 14;
  parallel_rows(model.pool, static_cast<int>((n + kPiece - 1) / kPiece), static_cast<double>(n) * 0.2, [&](int begin, int end) {
    model.kernels.add(y + begin * kPiece, x + begin * kPiece, std::min(n, end * kPiece) - begin * kPiece);
  });
}

void copy_parallel(Model& model, float* y, const float* x, int64_t n) {
  constexpr int64_t kPiece = 1 << 14;
  parallel_rows(model.pool, static_cast<int>((n + kPiece - 1) / kPiece), static_cast<double>(n) * 0.2, [&](int begin, int end) {
    std::memcpy(y + begin * kPiece, x + begin * kPiece, static_cast<size_t>(std::min(n, end * kPiece) - begin * kPiece) * sizeof(float));
  });
}

void add_column_sums(Model& model, const float* x, int64_t stride, float* sums, int rows, int width) {
  parallel_columns(model.pool, width, static_cast<double>(rows) * width * 0.2, [&](int begin, int end) {
    for (int r = 0; r < rows; r++) model.kernels.add(sums + begin, x + r * stride + begin, end - begin);
  });
}

}  // namespace tackroom
