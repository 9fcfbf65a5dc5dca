/** Registration of the addon: classes and the functions of NativeAddon (native/addon.ts). */
#include <napi.h>

#include "error.h"
#include "inspect.h"
#include "json.h"
#include "napi_values.h"
#include "objects.h"
#include "quants.h"
#include "read_bandwidth.h"
#include "train_options.h"

namespace tackroom {
namespace {

int threads_of(const Napi::Object& options) {
  const Napi::Value threads = options.Get("threads");
  return threads.IsUndefined() ? 0 : integer_of(threads, "threads", 0, 256);
}

/** `threads` and `precision` of LoadOptions. */
LoadOptions load_options_of(const Napi::Object& given) {
  LoadOptions options;
  options.threads = threads_of(given);
  if (!given.Get("precision").IsUndefined()) options.precision = text_of(given.Get("precision"), "precision");
  return options;
}

/** Loads on a pool thread: the model has no engine thread yet. */
class LoadWorker : public Napi::AsyncWorker {
 public:
  LoadWorker(Napi::Env env, std::string path, LoadOptions options)
      : AsyncWorker(env), deferred(Napi::Promise::Deferred::New(env)), path_(std::move(path)), options_(std::move(options)) {}
  void Execute() override {
    try {
      model_ = Model::load(path_, options_);
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
  std::string path_;
  LoadOptions options_;
  std::shared_ptr<Model> model_;
  std::exception_ptr error_;
};

Napi::Value load_model(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::string path = text_of(info[0], "The model's path");
    const Napi::Object given = options_of(info.Env(), info[1], "The options");
    LoadOptions options = load_options_of(given);
    options.trainable = given.Get("trainable").ToBoolean();
    auto* worker = new LoadWorker(info.Env(), path, std::move(options));
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
    object.Set("bf16Body", packed_kernels().bf16.body == nullptr ? "" : packed_kernels().bf16.body);
    object.Set("int16Body", packed_kernels().int16.body);
    object.Set("int8Body", packed_kernels().int8_body);
    object.Set("threads", static_cast<double>(std::thread::hardware_concurrency()));
    return object;
  });
}

Napi::Value dequantize_values(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const std::string name = text_of(info[0], "The type");
    const std::vector<uint8_t> data = bytes_of(info[1], "The blocks");
    const int count = integer_of(info[2], "The number of values", 0, 1 << 28);
    const QuantFormat* format = quant_format(name);
    if (format == nullptr) fail("BAD_ARGUMENT", "The type %.40s is not one that this engine reads.", name.c_str());
    if (count % format->block != 0 || static_cast<size_t>(count / format->block) * static_cast<size_t>(format->bytes) != data.size())
      fail("BAD_ARGUMENT", "%d values of %s do not take %zu bytes.", count, format->name, data.size());
    std::vector<float> values(static_cast<size_t>(count));
    dequantize(format->type, data.data(), count, values.data());
    return to_float_array(info.Env(), values.data(), values.size());
  });
}

Napi::Value inspect(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&] {
    const ModelSummary s = inspect_model(text_of(info[0], "The path"));
    Napi::Object object = Napi::Object::New(env), types = Napi::Object::New(env);
    object.Set("format", s.format);
    object.Set("architecture", s.architecture);
    for (const auto& [key, value] : {std::pair{"layers", s.layers}, {"hiddenSize", s.hidden}, {"heads", s.heads}, {"kvHeads", s.kv_heads}, {"headDim", s.head_dim},
                                     {"ffnSize", s.ffn}, {"vocabSize", s.vocab}, {"contextLength", s.context}, {"experts", s.experts},
                                     {"expertsPerToken", s.experts_per_token}, {"parameters", s.parameters}, {"fileBytes", s.file_bytes}})
      object.Set(key, static_cast<double>(value));
    object.Set("tied", s.tied);
    for (const auto& [name, share] : s.types) {
      Napi::Object entry = Napi::Object::New(env);
      entry.Set("tensors", static_cast<double>(share.tensors));
      entry.Set("bytes", static_cast<double>(share.bytes));
      types.Set(name, entry);
    }
    object.Set("types", types);
    return object;
  });
}

Napi::Value read_speed(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const int bytes = integer_of(info[0], "The number of bytes", 1, 1 << 30);
    return Napi::Number::New(info.Env(), read_bandwidth(static_cast<size_t>(bytes), threads_of(options_of(info.Env(), info[1], "The options"))));
  });
}

Napi::Value check_model(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Model::check(text_of(info[0], "The path"));
    return info.Env().Undefined();
  });
}

Napi::Value plan_from_files(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&] {
    const PlanRequest request = plan_request_of(env, info[1]);
    LoadOptions options = load_options_of(options_of(env, info[1], "The plan options"));
    options.trainable = request.rank == 0;
    return to_object(env, plan_training(Model::outline(text_of(info[0], "The path"), options), request, calibration_of(env, info[2])));
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
  exports.Set("inspectModel", Napi::Function::New(env, inspect, "inspectModel"));
  exports.Set("readBandwidth", Napi::Function::New(env, read_speed, "readBandwidth"));
  exports.Set("checkModel", Napi::Function::New(env, check_model, "checkModel"));
  exports.Set("planTraining", Napi::Function::New(env, plan_from_files, "planTraining"));
  exports.Set("dequantize", Napi::Function::New(env, dequantize_values, "dequantize"));
  return exports;
}

}  // namespace
}  // namespace tackroom

static Napi::Object register_addon(Napi::Env env, Napi::Object exports) { return tackroom::initialise(env, exports); }
NODE_API_MODULE(engine, register_addon)
