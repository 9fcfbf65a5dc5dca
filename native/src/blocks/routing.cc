#include "routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tackroom {

std::vector<ExpertRows> route(const Model& model, const ExpertsWeights& w, const float* h, int rows, float* scores, int* chosen) {
  const ModelConfig& c = model.config;
  const int experts = c.experts, used = c.experts_used;
  const float* bias = w.bias == kAbsent ? nullptr : model.at(w.bias);
  std::vector<ExpertRows> plan(static_cast<size_t>(experts));
  std::vector<int> order(static_cast<size_t>(experts));
  for (int r = 0; r < rows; r++) {
    float* s = scores + static_cast<int64_t>(r) * experts;
    for (int e = 0; e < experts; e++) {
      const float logit = model.kernels.dot(h + static_cast<int64_t>(r) * c.hidden, model.at(w.router) + static_cast<int64_t>(e) * c.hidden, c.hidden);
      s[e] = 1 / (1 + std::exp(-logit));
    }
    const auto rank = [&](int e) { return s[e] + (bias == nullptr ? 0 : bias[e]); };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + used, order.end(), [&](int a, int b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
    float sum = 0;
    for (int k = 0; k < used; k++) sum += s[order[static_cast<size_t>(k)]];
    const float factor = c.routing_scale / (c.normalise_routing ? sum + 1e-6f : 1.0f);
    for (int k = 0; k < used; k++) {
      const int e = order[static_cast<size_t>(k)];
      chosen[r * used + k] = e;
      ExpertRows& expert = plan[static_cast<size_t>(e)];
      expert.rows.push_back(r);
      expert.weights.push_back(s[e] * factor);
      expert.slots.push_back(k);
    }
  }
  return plan;
}

}  // namespace tackroom
