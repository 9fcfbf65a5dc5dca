#include "error.h"
#include "napi_values.h"
#include "objects.h"
#include "train_options.h"

namespace tackroom {
namespace {

struct Parts {
  std::shared_ptr<EngineCore> core;
  std::shared_ptr<Trainer> trainer;
};

Napi::Object to_object(Napi::Env env, const StepMetrics& m) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("loss", m.loss);
  object.Set("gradNorm", m.grad_norm);
  object.Set("clipLowFrac", m.clip_low_frac);
  object.Set("clipHighFrac", m.clip_high_frac);
  object.Set("kl", m.kl);
  object.Set("entropy", m.entropy);
  object.Set("trainedTokens", static_cast<double>(m.trained_tokens));
  object.Set("forwardedTokens", static_cast<double>(m.forwarded_tokens));
  object.Set("seconds", m.seconds);
  return object;
}

}  // namespace

Napi::Function TrainerObject::define(Napi::Env env) {
  return DefineClass(env, "NativeTrainer",
                     {InstanceAccessor<&TrainerObject::steps>("steps"), InstanceMethod<&TrainerObject::step>("step"),
                      InstanceMethod<&TrainerObject::gradients>("gradients"), InstanceMethod<&TrainerObject::save_state>("saveState"),
                      InstanceMethod<&TrainerObject::load_state>("loadState"), InstanceMethod<&TrainerObject::memory>("memory"),
                      InstanceMethod<&TrainerObject::cancel>("cancel"), InstanceMethod<&TrainerObject::free>("free")});
}

Napi::Value TrainerObject::create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Trainer> trainer) {
  Parts parts{std::move(core), std::move(trainer)};
  return env.GetInstanceData<AddonData>()->trainer.New({Napi::External<Parts>::New(env, &parts)});
}

TrainerObject::TrainerObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Trainers are made by model.newTrainer().");
  Parts& parts = *info[0].As<Napi::External<Parts>>().Data();
  core_ = std::move(parts.core);
  trainer_ = std::move(parts.trainer);
}

std::shared_ptr<Trainer> TrainerObject::live() {
  if (trainer_ == nullptr) fail("BAD_ARGUMENT", "The trainer was freed.");
  return trainer_;
}

Napi::Value TrainerObject::steps(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(live()->steps())); });
}

Napi::Value TrainerObject::step(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const double lr = number_of(info[2], "The learning rate");
    return core_->queue.push(
        info.Env(),
        [core = core_, trainer = live(), rows = rows_of(info[0]), loss = loss_of(info.Env(), info[1]), lr, pause = pause()] {
          return trainer->step(rows, loss, lr, pause);
        },
        [](Napi::Env env, const StepMetrics& metrics) { return to_object(env, metrics); }, false);
  });
}

Napi::Value TrainerObject::gradients(const Napi::CallbackInfo& info) {
  struct Result {
    StepMetrics metrics;
    std::vector<float> flat;
    std::vector<Param> params;
  };
  return guarded(info.Env(), [&]() -> Napi::Value {
    return core_->queue.push(
        info.Env(),
        [core = core_, trainer = live(), rows = rows_of(info[0]), loss = loss_of(info.Env(), info[1]), pause = pause()] {
          const StepMetrics metrics = trainer->backward(rows, loss, pause);
          const ParamSet& params = trainer->params();
          return Result{metrics, {trainer->gradients(), trainer->gradients() + params.floats()}, params.params()};
        },
        [](Napi::Env env, const Result& result) {
          Napi::Object tensors = Napi::Object::New(env), object = Napi::Object::New(env);
          for (const Param& param : result.params) tensors.Set(param.name, to_float_array(env, result.flat.data() + param.offset, param.size));
          object.Set("loss", result.metrics.loss);
          object.Set("gradNorm", result.metrics.grad_norm);
          object.Set("forwardedTokens", static_cast<double>(result.metrics.forwarded_tokens));
          object.Set("tensors", tensors);
          return object;
        },
        false);
  });
}

Napi::Value TrainerObject::save_state(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return core_->queue.push(
        info.Env(),
        [core = core_, trainer = live(), file = text_of(info[0], "The file")] {
          trainer->save_state(file);
          return true;
        },
        [](Napi::Env env, bool) { return env.Undefined(); }, false);
  });
}

Napi::Value TrainerObject::load_state(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return core_->queue.push(
        info.Env(),
        [core = core_, trainer = live(), file = text_of(info[0], "The file")] {
          trainer->load_state(file);
          return true;
        },
        [](Napi::Env env, bool) { return env.Undefined(); }, false);
  });
}

Napi::Value TrainerObject::memory(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return core_->queue.push(
        info.Env(), [core = core_, trainer = live()] { return trainer->memory(); },
        [](Napi::Env env, const TrainMemory& memory) { return to_object(env, memory); }, false);
  });
}

Napi::Value TrainerObject::cancel(const Napi::CallbackInfo& info) {
  ++*cancels_;
  return info.Env().Undefined();
}

Pause TrainerObject::pause() {
  // A weak reference: the job holds the core, and the core's queue holds the job.
  return [core = std::weak_ptr(core_), cancels = cancels_, before = cancels_->load()] {
    if (cancels->load() != before) fail("CANCELLED", "The training step was cancelled; the weights are as before it.");
    if (const auto live = core.lock()) live->queue.pause();
  };
}

Napi::Value TrainerObject::free(const Napi::CallbackInfo& info) {
  trainer_.reset();
  core_.reset();
  return info.Env().Undefined();
}

}  // namespace tackroom
