/**
 * Gated short convolution of LFM2 in training: [B; C; X] = in_proj(h), u = B * X, y_t = sum_k w[k] u(ancestor K - 1 - k of t),
 * out_proj(C * y). The k-th ancestor is the k-th token before in a plain row; u and y are computed again in backward.
 */
#include <cstring>

#include "train_layer.h"

namespace tackroom {
namespace {

constexpr int kMostTaps = 64;

/** Rows of the tokens that row `r` sees, nearest first; returns how many, at most `taps`. */
int ancestors(const Forest& forest, int r, int taps, int* rows) {
  int count = 0;
  for (; count < taps && r >= 0; r = forest.before[static_cast<size_t>(r)]) rows[count++] = r;
  return count;
}

/** u = B * X and gated = C * y, both [rows, H]; y too unless null. */
void convolve(TrainContext& context, const ShortConvWeights& w, const float* bcx, float* u, float* y, float* gated) {
  const int hidden = context.config().hidden, taps = context.config().conv_width;
  const int64_t width = 3 * static_cast<int64_t>(hidden);
  const double work = static_cast<double>(context.rows) * hidden;
  parallel_rows(context.model.pool, context.rows, work, [&](int begin, int end) {
    for (int64_t r = begin; r < end; r++)
      for (int j = 0; j < hidden; j++) u[r * hidden + j] = bcx[r * width + j] * bcx[r * width + 2 * hidden + j];
  });
  const float* kernel = context.model.at(w.kernel);
  parallel_rows(context.model.pool, context.rows, work * taps, [&](int begin, int end) {
    int rows[kMostTaps];
    for (int r = begin; r < end; r++) {
      const int seen = ancestors(*context.forest, r, taps, rows);
      const float* gate = bcx + r * width + hidden;
      const int64_t at = static_cast<int64_t>(r) * hidden;
      for (int j = 0; j < hidden; j++) {
        float sum = 0;
        for (int i = seen - 1; i >= 0; i--) sum += kernel[j * taps + taps - 1 - i] * u[static_cast<int64_t>(rows[i]) * hidden + j];
        if (y != nullptr) y[at + j] = sum;
        gated[at + j] = gate[j] * sum;
      }
    }
  });
}

}  // namespace

void short_conv_forward(TrainContext& context, int l, ShortConvTape& tape, const float* h, float* y, bool accumulate) {
  const int hidden = context.config().hidden;
  const ShortConvWeights& w = context.model.layers[static_cast<size_t>(l)].conv;
  float* bcx = sized(tape.bcx, context.rows, 3 * static_cast<int64_t>(hidden));
  context.linear.forward(h, context.rows, {{&w.in, bcx, 3 * static_cast<int64_t>(hidden), &tape.low[0]}});
  float* gated = sized(context.scratch.b, context.rows, hidden);
  convolve(context, w, bcx, sized(context.scratch.a, context.rows, hidden), nullptr, gated);
  context.linear.forward(gated, context.rows, {{&w.out, y, hidden, &tape.low[1], accumulate}});
}

void short_conv_backward(TrainContext& context, int l, ShortConvTape& tape, const float* dy, const float* h, float* dh) {
  const int hidden = context.config().hidden, taps = context.config().conv_width;
  const int64_t width = 3 * static_cast<int64_t>(hidden);
  const ShortConvWeights& w = context.model.layers[static_cast<size_t>(l)].conv;
  TrainScratch& s = context.scratch;
  const float* bcx = tape.bcx.data();
  float *u = sized(s.a, context.rows, hidden), *gated = sized(s.b, context.rows, hidden), *y = sized(s.c, context.rows, hidden);
  convolve(context, w, bcx, u, y, gated);
  float* d_gated = sized(s.d, context.rows, hidden);
  context.linear.backward(gated, context.rows, {{&w.out, dy, hidden, &tape.low[1]}}, d_gated);

  float* d_bcx = sized(s.e, context.rows, width);
  float* du = gated;
  std::memset(du, 0, s.b.size() * sizeof(float));
  const float* kernel = context.model.at(w.kernel);
  float* d_kernel = context.linear.of_model(w.kernel);
  // A task owns channels and goes through all rows, because a row adds to rows before it.
  parallel_columns(context.model.pool, hidden, static_cast<double>(context.rows) * hidden * taps, [&](int begin, int end) {
    int rows[kMostTaps];
    for (int r = 0; r < context.rows; r++) {
      const int seen = ancestors(*context.forest, r, taps, rows);
      const int64_t at = static_cast<int64_t>(r) * hidden;
      const float* gate = bcx + r * width + hidden;
      float* d_gate = d_bcx + r * width + hidden;
      for (int j = begin; j < end; j++) {
        const float d = d_gated[at + j] * gate[j];
        d_gate[j] = d_gated[at + j] * y[at + j];
        for (int i = 0; i < seen; i++) {
          const int64_t from = static_cast<int64_t>(rows[i]) * hidden + j;
          du[from] += kernel[j * taps + taps - 1 - i] * d;
          if (d_kernel != nullptr) d_kernel[j * taps + taps - 1 - i] += u[from] * d;
        }
      }
    }
    for (int64_t r = 0; r < context.rows; r++)
      for (int j = begin; j < end; j++) {
        d_bcx[r * width + j] = du[r * hidden + j] * bcx[r * width + 2 * hidden + j];
        d_bcx[r * width + 2 * hidden + j] = du[r * hidden + j] * bcx[r * width + j];
      }
  });
  context.linear.backward(h, context.rows, {{&w.in, d_bcx, width, &tape.low[0]}}, dh);
}

}  // namespace tackroom
