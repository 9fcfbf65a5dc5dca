#include "muon.h"

#include <algorithm>
#include <cmath>

#include "../aligned_buffer.h"
#include "../matmul.h"

namespace tackroom {
namespace {

constexpr float kMomentum = 0.95f;
constexpr int kIterations = 5;
// Quintic coefficients of the reference implementation: steep at 0, singular values end near 1.
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;

struct Scratch {
  AlignedBuffer x, next, panels, gram, gram2;
};

/** x [r, c] with r <= c becomes about U V^T of its singular value decomposition. */
void orthogonalise(const Kernels& k, Scratch& s, int r, int c) {
  const int64_t n = static_cast<int64_t>(r) * c, g = static_cast<int64_t>(r) * r;
  float* x = s.x.data();
  k.scale(x, 1.0f / (std::sqrt(k.dot(x, x, n)) + 1e-7f), n);
  float* gram = s.gram.reserve(static_cast<size_t>(g));
  float* gram2 = s.gram2.reserve(static_cast<size_t>(g));
  float* next = s.next.reserve(static_cast<size_t>(n));
  float* panels = s.panels.reserve(static_cast<size_t>(panel_floats(k, r, c)));
  for (int i = 0; i < kIterations; i++) {
    k.pack_panels(x, c, r, c, panels);
    matmul_packed(k, x, panels, gram, r, c, r, false);
    matmul_nn(k, gram, gram, gram2, r, r, r, false);
    k.scale(gram2, kC, g);
    k.add_scaled(gram2, gram, kB, g);
    matmul_nn(k, gram2, x, next, r, r, c, false);
    k.add_scaled(next, x, kA, n);
    std::copy(next, next + n, x);
  }
}

}  // namespace

void muon_update(const Kernels& k, float* p, const float* gradient, float* momentum, int rows, int columns, const MuonArgs& args) {
  thread_local Scratch scratch;
  const int64_t n = static_cast<int64_t>(rows) * columns;
  const bool tall = rows > columns;
  float* x = scratch.x.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; i++) {
    const float g = gradient[i] * args.grad_scale;
    momentum[i] = kMomentum * momentum[i] + (1 - kMomentum) * g;
    const float nesterov = kMomentum * momentum[i] + (1 - kMomentum) * g;
    x[tall ? i % columns * rows + i / columns : i] = nesterov;
  }
  orthogonalise(k, scratch, std::min(rows, columns), std::max(rows, columns));
  const float step = args.lr * 0.2f * std::sqrt(static_cast<float>(std::max(rows, columns))), keep = 1 - args.lr * args.weight_decay;
  for (int64_t i = 0; i < n; i++) p[i] = keep * p[i] - step * x[tall ? i % columns * rows + i / columns : i];
}

}  // namespace tackroom
