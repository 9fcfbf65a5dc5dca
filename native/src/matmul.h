/** The three products a linear layer needs, in terms of the GEMM kernel. Shapes are row-major; strides equal widths. */
#pragma once
#include "kernels/kernels.h"
#include "thread_pool.h"

namespace tackroom {

inline int64_t panel_floats(const Kernels& k, int n, int depth) {
  return static_cast<int64_t>((n + k.panel_width - 1) / k.panel_width) * k.panel_width * depth;
}

/** y[rows,out] (+)= x[rows,in] W^T, with W[out,in] packed in panels. */
inline void matmul_packed(const Kernels& k, const float* x, const float* panels, float* y, int rows, int in, int out, bool accumulate) {
  k.gemm({rows, out, in, x, in, 1, panels, k.panel_width, static_cast<int64_t>(in) * k.panel_width, y, out, accumulate});
}

/** c[rows,n] (+)= a[rows,depth] b[depth,n]. */
inline void matmul_nn(const Kernels& k, const float* a, const float* b, float* c, int rows, int depth, int n, bool accumulate) {
  k.gemm({rows, n, depth, a, depth, 1, b, n, k.panel_width, c, n, accumulate});
}

/** c[m,n] += a[rows,m]^T b[rows,n]. */
inline void matmul_tn(const Kernels& k, const float* a, const float* b, float* c, int rows, int m, int n) {
  k.gemm({m, n, rows, a, 1, m, b, n, k.panel_width, c, n, true});
}

/** matmul_packed over the pool: by rows when there are many, by columns when there are few. The result is the same bit for bit. */
void matmul_packed_parallel(ThreadPool& pool, const Kernels& k, const float* x, const float* panels, float* y, int rows, int in, int out,
                            bool accumulate);

/** Calls body(begin, end) over [0, rows) in pieces; on this thread alone when `work` (about a nanosecond a unit) is small. */
template <class Body>
void parallel_rows(ThreadPool& pool, int rows, double work, Body&& body) {
  if (pool.size() == 1 || rows < 2 || work < pool.worth_sharing) {
    body(0, rows);
    return;
  }
  const int pieces = rows < 4 * pool.size() ? pool.size() : 4 * pool.size();
  pool.run(pieces, [&](int piece) {
    const int begin = static_cast<int>(static_cast<int64_t>(rows) * piece / pieces);
    const int end = static_cast<int>(static_cast<int64_t>(rows) * (piece + 1) / pieces);
    if (begin < end) body(begin, end);
  });
}

}  // namespace tackroom
