/**
 * Row-wise and matrix operations of training, split over the pool so that no result depends on the number of threads: every
 * element of an output is computed by one task, and sums over rows are taken in pieces of fixed size.
 */
#pragma once
#include <vector>

#include "../matmul.h"
#include "../model.h"

namespace tackroom {

inline float* sized(AlignedBuffer& buffer, int64_t rows, int64_t width) { return buffer.reserve(static_cast<size_t>(rows) * static_cast<size_t>(width)); }

/** As Kernels::gemm, over the pool. */
void gemm_parallel(ThreadPool& pool, const Kernels& kernels, const GemmArgs& args);

/** y = norm(x) with the weight at `weight` of the model, vectors of `width`; `rstd` [count] receives the factors. y may be x. */
void norm_forward(Model& model, const float* x, size_t weight, float* y, float* rstd, int64_t count, int width);
/** dx += the gradient through norm_forward; dw [width] += that of the weight, unless null. `partial` is scratch. */
void norm_backward(Model& model, const float* dy, const float* x, size_t weight, const float* rstd, float* dx, float* dw, int64_t count, int width, AlignedBuffer& partial);

/** y += x, n floats. */
void add_parallel(Model& model, float* y, const float* x, int64_t n);
void copy_parallel(Model& model, float* y, const float* x, int64_t n);
/** sums[width] += the sum of the rows of x [rows, width], `stride` apart. */
void add_column_sums(Model& model, const float* x, int64_t stride, float* sums, int rows, int width);

/** Calls body(begin, end) over [0, columns) in pieces of whole cache lines. */
template <class Body>
void parallel_columns(ThreadPool& pool, int columns, double work, Body&& body) {
  constexpr int kLine = 16;
  parallel_rows(pool, (columns + kLine - 1) / kLine, work, [&](int begin, int end) { body(begin * kLine, end * kLine < columns ? end * kLine : columns); });
}

}  // namespace tackroom
