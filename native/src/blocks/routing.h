/** Routing of a mixture of experts: which experts a token goes to, and with which weights. */
#pragma once
#include <vector>

#include "../model.h"

namespace tackroom {

/** The tokens of one expert in a batch. */
struct ExpertRows {
  std::vector<int> rows;      // of the batch
  std::vector<float> weights; // of the expert's output for each
  std::vector<int> slots;     // which of the token's experts_used choices it is
};

/**
 * lfm2_moe: s = sigmoid(W_g h), experts = top-k of s + bias, p = s of the chosen ones, divided by their sum + 1e-6 when the config
 * says so, times the routing scale. The bias only selects. `scores` [rows, experts] receives s, `chosen` [rows, k] the experts.
 */
std::vector<ExpertRows> route(const Model& model, const ExpertsWeights& w, const float* h, int rows, float* scores, int* chosen);

}  // namespace tackroom
