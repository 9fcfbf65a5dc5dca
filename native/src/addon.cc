/** Registration of the addon: classes and the functions of NativeAddon (native/addon.ts). */
#include <napi.h>

#include "error.h"
#include "json.h"
#include "napi_values.h"
#include "objects.h"

namespace tackroom {
namespace {

int threads_of(const Napi::Object& options) {
  const Napi::Value threads = options.Get("threads");
  return threads.IsUndefined() ? 0 : integer_of(threads, "threads", 0, 256);
}

/** Loads on a pool thread: the model has no engine thread yet. */
class LoadWorker : public Napi::AsyncWorker {
 public:
  LoadWorker(Napi::Env env, std::string dir, int threads)
      : AsyncWorker(env), deferred(Napi::Promise::Deferred::New(env)), dir_(std::move(dir)), threads_(threads) {}
  void Execute() override {
    try {
      model_ = Model::load(dir_, threads_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void OnOK() override {
    if (error_) deferred.Reject(to_js_error(Env(), error_).Value());
    else deferred.Resolve(ModelObject::create(Env(), std::move(model_)));
  }
  Napi::Promise::Deferred deferred;

 private:
  std::string dir_;
  int threads_;
  std::shared_ptr<Model> model_;
  std::exception_ptr error_;
};

Napi::Value load_model(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::string dir = text_of(info[0], "The folder");
    auto* worker = new LoadWorker(info.Env(), dir, threads_of(options_of(info.Env(), info[1], "The options")));
    const Napi::Promise promise = worker->deferred.Promise();
    worker->Queue();
    return promise;
  });
}

Napi::Value init_model(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&] {
    const auto json = env.Global().Get("JSON").As<Napi::Object>();
    const Napi::Value text = json.Get("stringify").As<Napi::Function>().Call(json, {info[0]});
    const ModelConfig config = parse_config(Json::parse(text_of(text, "The config")), "The config", "BAD_ARGUMENT");
    const Napi::Object options = options_of(env, info[1], "The options");
    return ModelObject::create(env, Model::initialise(config, seed_of(options.Get("seed"), "seed"), number_of(options.Get("std"), "std"), threads_of(options)));
  });
}

Napi::Value cpu_features(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const CpuInfo cpu = cpu_info();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("brand", std::string(cpu.brand));
    object.Set("avx2", cpu.avx2);
    object.Set("avx512", cpu.avx512);
    object.Set("avx512bf16", cpu.avx512bf16);
    object.Set("amx", cpu.amx);
    object.Set("kernels", kernels().name);
    object.Set("threads", static_cast<double>(std::thread::hardware_concurrency()));
    return object;
  });
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  auto* data = new AddonData();
  data->model = Napi::Persistent(ModelObject::define(env));
  data->sequence = Napi::Persistent(SequenceObject::define(env));
  data->adapter = Napi::Persistent(AdapterObject::define(env));
  data->trainer = Napi::Persistent(TrainerObject::define(env));
  env.SetInstanceData(data);
  exports.Set("cpuFeatures", Napi::Function::New(env, cpu_features, "cpuFeatures"));
  exports.Set("loadModel", Napi::Function::New(env, load_model, "loadModel"));
  exports.Set("initModel", Napi::Function::New(env, init_model, "initModel"));
  return exports;
}

}  // namespace
}  // namespace tackroom

static Napi::Object register_addon(Napi::Env env, Napi::Object exports) { return tackroom::initialise(env, exports); }
NODE_API_MODULE(engine, register_addon)
