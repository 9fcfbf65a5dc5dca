/**
 * Gated short convolution of LFM2 in inference: [B; C; X] = in_proj(h), u = B * X, y_t = sum_k w[k] u_{t - (K-1) + k} per
 * channel, out_proj(C * y). Causal, zero history, no activation.
 */
#include "../forward.h"
#include "../matmul.h"

namespace tackroom {

void Forward::short_conv(int l) {
  const ModelConfig& c = model_.config;
  const ShortConvWeights& w = model_.layers[static_cast<size_t>(l)].conv;
  const int hidden = c.hidden, taps = c.conv_width;
  input_.set(h_.data(), rows_, hidden);
  float* bcx = sized(gate_, rows_, 3 * hidden);
  ops_.forward(precision_, input_, {{&w.in, bcx, 3 * hidden}}, adapters_);
  float* gated = sized(attended_, rows_, hidden);
  const float* kernel = model_.at(w.kernel);  // [hidden][taps]
  for (const Span& span : spans_) {
    float* u = span.sequence->convolved(l);
    parallel_rows(model_.pool, span.count, span.count * static_cast<double>(hidden) * 0.5, [&](int begin, int end) {
      for (int i = begin; i < end; i++) {
        const float* row = bcx + static_cast<int64_t>(span.begin + i) * 3 * hidden;
        float* now = u + static_cast<int64_t>(span.position + i) * hidden;
        for (int j = 0; j < hidden; j++) now[j] = row[j] * row[2 * hidden + j];
      }
    });
    parallel_rows(model_.pool, span.count, span.count * static_cast<double>(hidden) * 0.5, [&](int begin, int end) {
      for (int i = begin; i < end; i++) {
        const int position = span.position + i;
        const float* gate = bcx + static_cast<int64_t>(span.begin + i) * 3 * hidden + hidden;
        float* out = gated + static_cast<int64_t>(span.begin + i) * hidden;
        for (int j = 0; j < hidden; j++) {
          float y = 0;
          for (int k = 0; k < taps; k++) {
            const int at = position - (taps - 1) + k;
            if (at >= 0) y += kernel[j * taps + k] * u[static_cast<int64_t>(at) * hidden + j];
          }
          out[j] = gate[j] * y;
        }
      }
    });
  }
  input_.set(gated, rows_, hidden);
  ops_.forward(precision_, input_, {{&w.out, x_.data(), hidden, true}}, adapters_);
}

}  // namespace tackroom
