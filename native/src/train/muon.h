/**
 * Muon (Jordan et al. 2024): momentum whose update of a matrix is made orthogonal by Newton-Schulz iterations.
 *
 * Scaled by 0.2 * sqrt(max(rows, columns)) so that its root mean square matches AdamW's (Liu et al. 2025, Moonlight), hence
 * one learning rate for both. Weight decay is decoupled.
 */
#pragma once
#include "../kernels/kernels.h"

namespace tackroom {

struct MuonArgs {
  float lr, weight_decay, grad_scale;
};

/** One update of p [rows, columns] in place; `momentum` has the same shape. */
void muon_update(const Kernels& kernels, float* p, const float* gradient, float* momentum, int rows, int columns, const MuonArgs& args);

}  // namespace tackroom
