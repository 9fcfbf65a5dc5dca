#include "error.h"
#include "napi_values.h"
#include "objects.h"

namespace tackroom {
namespace {

struct Parts {
  std::shared_ptr<EngineCore> core;
  std::shared_ptr<Adapter> adapter;
};

}  // namespace

Napi::Function AdapterObject::define(Napi::Env env) {
  return DefineClass(env, "NativeAdapter",
                     {InstanceAccessor<&AdapterObject::rank>("rank"), InstanceAccessor<&AdapterObject::alpha>("alpha"),
                      InstanceMethod<&AdapterObject::hash>("hash"), InstanceMethod<&AdapterObject::clone>("clone"),
                      InstanceMethod<&AdapterObject::save>("save"), InstanceMethod<&AdapterObject::free>("free")});
}

Napi::Value AdapterObject::create(Napi::Env env, std::shared_ptr<EngineCore> core, std::shared_ptr<Adapter> adapter) {
  Parts parts{std::move(core), std::move(adapter)};
  return env.GetInstanceData<AddonData>()->adapter.New({Napi::External<Parts>::New(env, &parts)});
}

AdapterObject::AdapterObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Adapters are made by model.createAdapter() and model.loadAdapter().");
  Parts& parts = *info[0].As<Napi::External<Parts>>().Data();
  core_ = std::move(parts.core);
  adapter_ = std::move(parts.adapter);
}

std::shared_ptr<Adapter> AdapterObject::unwrap(Napi::Env env, const Napi::Value& value, const EngineCore& core) {
  if (value.IsUndefined() || value.IsNull()) return nullptr;
  if (!value.IsObject() || !value.As<Napi::Object>().InstanceOf(env.GetInstanceData<AddonData>()->adapter.Value()))
    fail("BAD_ARGUMENT", "The adapter must be an adapter of this engine.");
  const AdapterObject* object = Unwrap(value.As<Napi::Object>());
  if (object->adapter_ == nullptr) fail("BAD_ARGUMENT", "The adapter was freed.");
  if (object->core_.get() != &core) fail("ADAPTER_MISMATCH", "The adapter belongs to another model.");
  return object->adapter_;
}

Adapter& AdapterObject::live() const {
  if (adapter_ == nullptr) fail("BAD_ARGUMENT", "The adapter was freed.");
  return *adapter_;
}

Napi::Value AdapterObject::rank(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), live().rank()); });
}

Napi::Value AdapterObject::alpha(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), live().alpha()); });
}

Napi::Value AdapterObject::hash(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::String::New(info.Env(), live().hash()); });
}

Napi::Value AdapterObject::clone(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return create(info.Env(), core_, live().clone()); });
}

Napi::Value AdapterObject::free(const Napi::CallbackInfo& info) {
  adapter_.reset();
  core_.reset();
  return info.Env().Undefined();
}

Napi::Value AdapterObject::save(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    live();
    const std::string dir = text_of(info[0], "The folder"), base = text_of(info[1], "The base model's name");
    return core_->queue.push(
        info.Env(),
        [core = core_, adapter = adapter_, dir, base] {
          adapter->save(dir, base);
          return true;
        },
        [](Napi::Env env, bool) { return env.Undefined(); });
  });
}

}  // namespace tackroom
