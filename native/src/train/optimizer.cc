#include "optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../error.h"
#include "muon.h"

namespace tackroom {
namespace {

constexpr size_t kPiece = 1 << 14;  // elements of one AdamW task

}  // namespace

Optimizer::Optimizer(const OptimizerConfig& config, const ParamSet& params) : config_(config) {
  const auto beta_ok = [](double b) { return b >= 0 && b < 1; };
  if (!beta_ok(config.beta1) || !beta_ok(config.beta2)) fail("BAD_ARGUMENT", "The betas of an optimizer must lie in [0, 1).");
  if (!(config.eps > 0) || !(config.weight_decay >= 0) || !(config.max_grad_norm >= 0))
    fail("BAD_ARGUMENT", "eps must be positive, weight decay and the largest gradient norm at least 0.");
  first.reserve(params.floats());
  second.reserve(params.floats());
  first.zero();
  second.zero();
}

double Optimizer::clip_coefficient(double norm) const {
  return config_.max_grad_norm > 0 ? std::min(1.0, config_.max_grad_norm / (norm + 1e-6)) : 1.0;
}

void Optimizer::update(const Kernels& kernels, ThreadPool& pool, ParamSet& params, const float* gradients, double norm, double lr) {
  steps++;
  const float coefficient = static_cast<float>(clip_coefficient(norm));
  const AdamArgs adam{static_cast<float>(lr),
                      static_cast<float>(config_.beta1),
                      static_cast<float>(config_.beta2),
                      static_cast<float>(config_.eps),
                      static_cast<float>(config_.weight_decay),
                      static_cast<float>(1 - std::pow(config_.beta1, static_cast<double>(steps))),
                      static_cast<float>(1 - std::pow(config_.beta2, static_cast<double>(steps))),
                      coefficient};
  const MuonArgs muon{static_cast<float>(lr), static_cast<float>(config_.weight_decay), coefficient};
  struct Piece {
    const Param* param;
    size_t begin, count;
  };
  std::vector<Piece> pieces;
  for (const Param& param : params.params()) {
    if (param.kind == ParamKind::Buffer) continue;
    const size_t step = by_matrix(param) ? param.size : kPiece;
    for (size_t begin = 0; begin < param.size; begin += step) pieces.push_back({&param, begin, std::min(step, param.size - begin)});
  }
  pool.run(static_cast<int>(pieces.size()), [&](int i) {
    const Piece& piece = pieces[static_cast<size_t>(i)];
    const Param& param = *piece.param;
    const size_t at = param.offset + piece.begin;
    if (by_matrix(param))
      return muon_update(kernels, params.at(at), gradients + at, first.data() + at, static_cast<int>(param.shape[0]), static_cast<int>(param.shape[1]), muon);
    kernels.adamw(params.at(at), gradients + at, first.data() + at, second.data() + at, static_cast<int64_t>(piece.count), adam);
  });
}

}  // namespace tackroom
