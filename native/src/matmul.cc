#include "matmul.h"

#include <algorithm>

namespace tackroom {

void matmul_packed_parallel(ThreadPool& pool, const Kernels& k, const float* x, const float* panels, float* y, int rows, int in, int out,
                            bool accumulate) {
  constexpr double kFlopsWorthSharing = 5e6;
  if (pool.size() == 1 || 2.0 * rows * in * out < kFlopsWorthSharing) return matmul_packed(k, x, panels, y, rows, in, out, accumulate);
  const int width = k.panel_width, panel_count = (out + width - 1) / width;
  const int row_pieces = rows >= 48 * pool.size() ? 2 * pool.size() : 1;
  const int column_pieces = row_pieces > 1 ? 1 : std::min(panel_count, 2 * pool.size());
  pool.run(row_pieces * column_pieces, [&](int task) {
    const int r = task / column_pieces, c = task % column_pieces;
    const int r0 = static_cast<int>(static_cast<int64_t>(rows) * r / row_pieces), r1 = static_cast<int>(static_cast<int64_t>(rows) * (r + 1) / row_pieces);
    const int n0 = panel_count * c / column_pieces * width, n1 = std::min(out, panel_count * (c + 1) / column_pieces * width);
    k.gemm({r1 - r0, n1 - n0, in, x + static_cast<int64_t>(r0) * in, in, 1, panels + static_cast<int64_t>(n0) * in, width,
            static_cast<int64_t>(in) * width, y + static_cast<int64_t>(r0) * out + n0, out, accumulate});
  });
}

}  // namespace tackroom
