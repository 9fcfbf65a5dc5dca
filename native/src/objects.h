/**
 * The JavaScript objects of the addon. Each holds shared ownership of what it needs; `free` lets go early and makes every
 * later call throw BAD_ARGUMENT.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <memory>

#include "forward.h"
#include "job_queue.h"
#include "train/trainer.h"

namespace tackroom {

/** A model with its engine thread; alive as long as any object or job uses it. */
struct EngineCore {
  EngineCore(Napi::Env env, std::shared_ptr<Model> loaded) : model(std::move(loaded)), forward(*model), queue(env) {}
  std::shared_ptr<Model> model;
  Forward forward;  // engine thread only
  JobQueue queue;   // last: its thread ends before the rest goes
};

/** Constructors of the classes below, one set per environment. */
struct AddonData {
  Napi::FunctionReference model, sequence, adapter, trainer;
};

class SequenceObject : public Napi::ObjectWrap<SequenceObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Value create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Sequence> sequence);
  explicit SequenceObject(const Napi::CallbackInfo& info);
  /** The live sequence behind a JavaScript value, which must belong to `core`. */
  static std::shared_ptr<Sequence> unwrap(Napi::Env env, const Napi::Value& value, const EngineCore& core);

 private:
  Napi::Value length(const Napi::CallbackInfo& info);
  Napi::Value truncate(const Napi::CallbackInfo& info);
  Napi::Value clone(const Napi::CallbackInfo& info);
  Napi::Value free(const Napi::CallbackInfo& info);
  Sequence& idle();

  std::shared_ptr<EngineCore> core_;
  std::shared_ptr<Sequence> sequence_;
};

class AdapterObject : public Napi::ObjectWrap<AdapterObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Value create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Adapter> adapter);
  explicit AdapterObject(const Napi::CallbackInfo& info);
  /** Null for undefined and null; otherwise an adapter of the same model. */
  static std::shared_ptr<Adapter> unwrap(Napi::Env env, const Napi::Value& value, const EngineCore& core);

 private:
  Napi::Value rank(const Napi::CallbackInfo& info);
  Napi::Value alpha(const Napi::CallbackInfo& info);
  Napi::Value hash(const Napi::CallbackInfo& info);
  Napi::Value clone(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value free(const Napi::CallbackInfo& info);
  Adapter& live() const;

  std::shared_ptr<EngineCore> core_;
  std::shared_ptr<Adapter> adapter_;
};

class TrainerObject : public Napi::ObjectWrap<TrainerObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Value create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Trainer> trainer);
  explicit TrainerObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value steps(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value gradients(const Napi::CallbackInfo& info);
  Napi::Value save_state(const Napi::CallbackInfo& info);
  Napi::Value load_state(const Napi::CallbackInfo& info);
  Napi::Value free(const Napi::CallbackInfo& info);
  Napi::Value memory(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);
  std::shared_ptr<Trainer> live();
  /** Serves waiting decodes; throws CANCELLED once `cancel` was called after this. */
  Pause pause();

  std::shared_ptr<EngineCore> core_;
  std::shared_ptr<Trainer> trainer_;
  std::shared_ptr<std::atomic<int>> cancels_ = std::make_shared<std::atomic<int>>(0);
};

class ModelObject : public Napi::ObjectWrap<ModelObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Value create(Napi::Env env, std::shared_ptr<Model> model);
  explicit ModelObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value info(const Napi::CallbackInfo& info);
  Napi::Value new_sequence(const Napi::CallbackInfo& info);
  Napi::Value decode(const Napi::CallbackInfo& info);
  Napi::Value logprobs(const Napi::CallbackInfo& info);
  Napi::Value logits(const Napi::CallbackInfo& info);
  Napi::Value hidden_states(const Napi::CallbackInfo& info);
  Napi::Value create_adapter(const Napi::CallbackInfo& info);
  Napi::Value load_adapter(const Napi::CallbackInfo& info);
  Napi::Value new_trainer(const Napi::CallbackInfo& info);
  Napi::Value plan_training(const Napi::CallbackInfo& info);
  Napi::Value calibrate(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value free(const Napi::CallbackInfo& info);
  std::shared_ptr<EngineCore> live();

  std::shared_ptr<EngineCore> core_;
};

}  // namespace tackroom
