/**
 * Mixture of experts in inference: tokens are gathered by expert, each expert is one product over its tokens, and the weighted
 * outputs are added in the order of a token's choices, so that a token's sum does not depend on its batch.
 */
#include <cstring>

#include "../forward.h"
#include "../matmul.h"
#include "routing.h"

namespace tackroom {

void Forward::experts(int l) {
  const ModelConfig& c = model_.config;
  const ExpertsWeights& w = model_.layers[static_cast<size_t>(l)].experts;
  const int used = c.experts_used, hidden = c.hidden, ffn = c.expert_ffn;
  std::vector<int> chosen(static_cast<size_t>(rows_) * static_cast<size_t>(used));
  const auto plan = route(model_, w, h_.data(), rows_, sized(router_, rows_, c.experts), chosen.data());
  float* outputs = sized(expert_out_, rows_ * used, hidden);  // [row][choice][hidden], weighted
  for (size_t e = 0; e < plan.size(); e++) {
    const ExpertRows& expert = plan[e];
    const int count = static_cast<int>(expert.rows.size());
    if (count == 0) continue;
    float* gathered = sized(expert_in_, count, hidden);
    std::vector<AdapterSpan> spans;
    size_t at = 0;
    for (int i = 0; i < count; i++) {
      const int row = expert.rows[static_cast<size_t>(i)];
      std::memcpy(gathered + static_cast<int64_t>(i) * hidden, h_.data() + static_cast<int64_t>(row) * hidden, static_cast<size_t>(hidden) * sizeof(float));
      while (row >= adapters_[at].begin + adapters_[at].count) at++;
      if (!spans.empty() && spans.back().adapter == adapters_[at].adapter) spans.back().count++;
      else spans.push_back({i, 1, adapters_[at].adapter});
    }
    input_.set(gathered, count, hidden);
    float* both = sized(expert_mid_, count, 2 * ffn);
    ops_.forward(precision_, input_, {{&w.gate_up[e], both, 2 * ffn}}, spans);
    float* mid = sized(expert_act_, count, ffn);
    activate(both, both + ffn, 2 * ffn, mid, count, ffn);
    input_.set(mid, count, ffn);
    float* out = sized(gate_, count, hidden);
    ops_.forward(precision_, input_, {{&w.down[e], out, hidden, false, true}}, spans);
    for (int i = 0; i < count; i++) {
      const size_t n = static_cast<size_t>(i);
      float* target = outputs + (static_cast<int64_t>(expert.rows[n]) * used + expert.slots[n]) * hidden;
      std::memcpy(target, out + static_cast<int64_t>(i) * hidden, static_cast<size_t>(hidden) * sizeof(float));
      model_.kernels.scale(target, expert.weights[n], hidden);
    }
  }
  for (int r = 0; r < rows_; r++)
    for (int k = 0; k < used; k++)
      model_.kernels.add(x_.data() + static_cast<int64_t>(r) * hidden, outputs + (static_cast<int64_t>(r) * used + k) * hidden, hidden);
}

}  // namespace tackroom
