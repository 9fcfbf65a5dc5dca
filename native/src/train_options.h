/** TrainSample, LossOptions and TrainerOptions of native/addon.ts as the engine's types. Each throws BAD_ARGUMENT. */
#pragma once
#include <napi.h>

#include <vector>

#include "train/losses.h"
#include "train/optimizer.h"
#include "train/plan.h"
#include "train/trainer.h"

namespace tackroom {

std::vector<TrainRow> rows_of(const Napi::Value& samples);
LossConfig loss_of(Napi::Env env, const Napi::Value& options);
OptimizerConfig optimizer_of(Napi::Env env, const Napi::Value& options);
TrainOptions training_of(Napi::Env env, const Napi::Value& options);
ExpertAdapters experts_of(const Napi::Object& options);
PlanRequest plan_request_of(Napi::Env env, const Napi::Value& options);
Calibration calibration_of(Napi::Env env, const Napi::Value& speeds);
Napi::Object to_object(Napi::Env env, const TrainMemory& memory);
Napi::Object to_object(Napi::Env env, const TrainPlan& plan);

}  // namespace tackroom
