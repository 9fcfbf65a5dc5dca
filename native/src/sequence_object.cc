#include "error.h"
#include "napi_values.h"
#include "objects.h"

namespace tackroom {
namespace {

struct Parts {
  std::shared_ptr<EngineCore> core;
  std::shared_ptr<Sequence> sequence;
};

}  // namespace

Napi::Function SequenceObject::define(Napi::Env env) {
  return DefineClass(env, "NativeSequence",
                     {InstanceAccessor<&SequenceObject::length>("length"), InstanceMethod<&SequenceObject::truncate>("truncate"),
                      InstanceMethod<&SequenceObject::clone>("clone"), InstanceMethod<&SequenceObject::free>("free")});
}

Napi::Value SequenceObject::create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Sequence> sequence) {
  Parts parts{std::move(core), std::move(sequence)};
  return env.GetInstanceData<AddonData>()->sequence.New({Napi::External<Parts>::New(env, &parts)});
}

SequenceObject::SequenceObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Sequences are made by model.newSequence().");
  Parts& parts = *info[0].As<Napi::External<Parts>>().Data();
  core_ = std::move(parts.core);
  sequence_ = std::move(parts.sequence);
}

std::shared_ptr<Sequence> SequenceObject::unwrap(Napi::Env env, const Napi::Value& value, const EngineCore& core) {
  if (!value.IsObject() || !value.As<Napi::Object>().InstanceOf(env.GetInstanceData<AddonData>()->sequence.Value()))
    fail("BAD_ARGUMENT", "\"sequence\" must be a sequence of this engine.");
  const SequenceObject* object = Unwrap(value.As<Napi::Object>());
  if (object->sequence_ == nullptr) fail("BAD_ARGUMENT", "The sequence was freed.");
  if (object->core_.get() != &core) fail("BAD_ARGUMENT", "The sequence belongs to another model.");
  return object->sequence_;
}

Sequence& SequenceObject::idle() {
  if (sequence_ == nullptr) fail("BAD_ARGUMENT", "The sequence was freed.");
  if (sequence_->busy.load() != 0) fail("BAD_ARGUMENT", "The sequence is being decoded; wait for that first.");
  return *sequence_;
}

Napi::Value SequenceObject::length(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (sequence_ == nullptr) fail("BAD_ARGUMENT", "The sequence was freed.");
    return Napi::Number::New(info.Env(), sequence_->length());
  });
}

Napi::Value SequenceObject::truncate(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    Sequence& sequence = idle();
    sequence.truncate(integer_of(info[0], "The length", 0, sequence.length()));
    return info.Env().Undefined();
  });
}

Napi::Value SequenceObject::clone(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const Sequence& sequence = idle();
    const int n = info[0].IsUndefined() ? sequence.length() : integer_of(info[0], "The length", 0, sequence.length());
    return create(info.Env(), core_, sequence.clone(n));
  });
}

Napi::Value SequenceObject::free(const Napi::CallbackInfo& info) {
  sequence_.reset();
  core_.reset();
  return info.Env().Undefined();
}

}  // namespace tackroom
