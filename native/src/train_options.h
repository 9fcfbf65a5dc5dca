/** TrainSample, LossOptions and OptimizerOptions of native/addon.ts as the engine's types. Each throws BAD_ARGUMENT. */
#pragma once
#include <napi.h>

#include <vector>

#include "losses.h"
#include "optimizer.h"

namespace tackroom {

std::vector<TrainRow> rows_of(const Napi::Value& samples);
LossConfig loss_of(Napi::Env env, const Napi::Value& options);
OptimizerConfig optimizer_of(Napi::Env env, const Napi::Value& options);

}  // namespace tackroom
