#include <algorithm>

#include "error.h"
#include "inference.h"
#include "napi_values.h"
#include "objects.h"
#include "train_options.h"

namespace tackroom {
namespace {

/** The bits of the tokens that may be drawn; those beyond the vocabulary are cleared. */
std::vector<uint32_t> allowed_of(const Napi::Value& value, int vocab) {
  if (value.IsUndefined() || value.IsNull()) return {};
  std::vector<uint32_t> allowed = words_of(value, "allowed");
  const size_t words = (static_cast<size_t>(vocab) + 31) / 32;
  if (allowed.size() != words) fail("BAD_ARGUMENT", "allowed must have %zu words for a vocabulary of %d.", words, vocab);
  if (vocab % 32 != 0) allowed.back() &= (1u << (vocab % 32)) - 1;
  if (std::all_of(allowed.begin(), allowed.end(), [](uint32_t word) { return word == 0; })) fail("BAD_ARGUMENT", "allowed leaves no token to draw.");
  return allowed;
}

SampleOptions sample_options_of(const Napi::Object& o, int vocab) {
  SampleOptions s;
  s.temperature = option_number(o, "temperature", 1);
  s.top_p = option_number(o, "topP", 1);
  s.min_p = option_number(o, "minP", 0);
  s.repetition_penalty = option_number(o, "repetitionPenalty", 1);
  s.top_k = static_cast<int>(option_number(o, "topK", 0));
  s.seed = seed_of(o.Get("seed"), "seed");
  s.allowed = allowed_of(o.Get("allowed"), vocab);
  if (!(s.temperature >= 0)) fail("BAD_ARGUMENT", "The temperature must be at least 0.");
  // Below this the most likely token takes all, and 1 / temperature would leave the range of a float.
  constexpr double kGreedy = 1e-4;
  if (s.temperature < kGreedy) s.temperature = 0;
  if (!(s.top_p > 0 && s.top_p <= 1)) fail("BAD_ARGUMENT", "topP must lie in (0, 1].");
  if (!(s.min_p >= 0 && s.min_p <= 1)) fail("BAD_ARGUMENT", "minP must lie in [0, 1].");
  if (!(s.repetition_penalty > 0)) fail("BAD_ARGUMENT", "repetitionPenalty must be positive.");
  return s;
}

/** "serving" or "training": the path whose precision a call wants. */
Precision path_of(const Napi::Value& value, const Model& model, Precision fallback) {
  if (value.IsUndefined() || value.IsNull()) return fallback;
  const std::string path = text_of(value, "path");
  if (path != "serving" && path != "training") fail("BAD_ARGUMENT", "The path must be \"serving\" or \"training\".");
  return path == "serving" ? model.serving : model.training;
}

/** Keeps the sequences of a batch marked as busy from the call until its answer. */
struct BusyBatch {
  explicit BusyBatch(std::vector<DecodeRequest> batch) : requests(std::move(batch)) {
    for (const auto& request : requests) request.sequence->busy++;
  }
  ~BusyBatch() {
    for (const auto& request : requests) request.sequence->busy--;
  }
  std::vector<DecodeRequest> requests;
};

}  // namespace

Napi::Function ModelObject::define(Napi::Env env) {
  return DefineClass(env, "NativeModel",
                     {InstanceAccessor<&ModelObject::info>("info"), InstanceMethod<&ModelObject::new_sequence>("newSequence"),
                      InstanceMethod<&ModelObject::decode>("decode"), InstanceMethod<&ModelObject::logprobs>("logprobs"),
                      InstanceMethod<&ModelObject::logits>("logits"), InstanceMethod<&ModelObject::hidden_states>("hiddenStates"),
                      InstanceMethod<&ModelObject::create_adapter>("createAdapter"),
                      InstanceMethod<&ModelObject::load_adapter>("loadAdapter"), InstanceMethod<&ModelObject::new_trainer>("newTrainer"),
                      InstanceMethod<&ModelObject::plan_training>("planTraining"), InstanceMethod<&ModelObject::calibrate>("calibrate"),
                      InstanceMethod<&ModelObject::save>("save"), InstanceMethod<&ModelObject::free>("free")});
}

Napi::Value ModelObject::create(Napi::Env env, std::shared_ptr<Model> model) {
  auto core = std::make_shared<EngineCore>(env, std::move(model));
  return env.GetInstanceData<AddonData>()->model.New({Napi::External<std::shared_ptr<EngineCore>>::New(env, &core)});
}

ModelObject::ModelObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Models are made by loadModel() and initModel().");
  core_ = *info[0].As<Napi::External<std::shared_ptr<EngineCore>>>().Data();
}

std::shared_ptr<EngineCore> ModelObject::live() {
  if (core_ == nullptr) fail("BAD_ARGUMENT", "The model was freed.");
  return core_;
}

Napi::Value ModelObject::info(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&] {
    const auto core = live();
    const ModelConfig& c = core->model->config;
    Napi::Object object = Napi::Object::New(call.Env());
    object.Set("architecture", c.architecture->model_type);
    object.Set("parameters", static_cast<double>(core->model->parameters()));
    object.Set("vocabSize", c.vocab);
    object.Set("hiddenSize", c.hidden);
    object.Set("layers", c.layers);
    object.Set("heads", c.heads);
    object.Set("kvHeads", c.kv_heads);
    object.Set("headDim", c.head_dim);
    object.Set("contextLength", c.context);
    object.Set("tied", c.tied);
    object.Set("bytes", static_cast<double>(core->model->bytes()));
    object.Set("stepBytes", static_cast<double>(core->model->step_bytes()));
    object.Set("kvBytesPerToken", static_cast<double>(Sequence::bytes_per_token(*core->model, core->model->serving)));
    object.Set("quantisation", core->model->quantisation);
    object.Set("servingPrecision", precision_name(core->model->serving));
    object.Set("trainingPrecision", precision_name(core->model->training));
    object.Set("experts", c.experts);
    return object;
  });
}

Napi::Value ModelObject::new_sequence(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&] {
    const auto core = live();
    const Precision precision = path_of(options_of(call.Env(), call[1], "The options").Get("path"), *core->model, core->model->serving);
    return SequenceObject::create(call.Env(), core, std::make_shared<Sequence>(core->model, AdapterObject::unwrap(call.Env(), call[0], *core), precision));
  });
}

Napi::Value ModelObject::decode(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    if (!call[0].IsArray()) fail("BAD_ARGUMENT", "decode takes an array of items.");
    const auto items = call[0].As<Napi::Array>();
    std::vector<DecodeRequest> requests;
    for (uint32_t i = 0; i < items.Length(); i++) {
      const Napi::Object item = options_of(call.Env(), items.Get(i), "A decode item");
      DecodeRequest request;
      request.sequence = SequenceObject::unwrap(call.Env(), item.Get("sequence"), *core);
      request.ids = ids_of(item.Get("ids"), "ids");
      const Napi::Value sample = item.Get("sample");
      request.sampled = !sample.IsUndefined() && !sample.IsNull();
      if (request.sampled) request.options = sample_options_of(options_of(call.Env(), sample, "sample"), core->model->config.vocab);
      requests.push_back(std::move(request));
    }
    return core->queue.push(
        call.Env(),
        [core, batch = std::make_shared<BusyBatch>(std::move(requests))]() mutable {
          auto answers = tackroom::decode(*core->model, core->forward, batch->requests);
          batch.reset();
          return answers;
        },
        [](Napi::Env env, const std::vector<Sampled>& answers) {
          Napi::Array array = Napi::Array::New(env, answers.size());
          for (uint32_t i = 0; i < answers.size(); i++) {
            Napi::Object object = Napi::Object::New(env);
            object.Set("token", answers[i].token);
            object.Set("logprob", static_cast<double>(answers[i].logprob));
            array.Set(i, object);
          }
          return array;
        });
  });
}

Napi::Value ModelObject::logprobs(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    if (!call[0].IsArray()) fail("BAD_ARGUMENT", "logprobs takes an array of Int32Arrays.");
    const auto arrays = call[0].As<Napi::Array>();
    std::vector<std::vector<int>> sequences;
    for (uint32_t i = 0; i < arrays.Length(); i++) sequences.push_back(ids_of(arrays.Get(i), "A sequence"));
    const double temperature = call[2].IsUndefined() ? 1 : number_of(call[2], "The temperature");
    if (!(temperature > 0)) fail("BAD_ARGUMENT", "The temperature must be positive.");
    return core->queue.push(
        call.Env(),
        [core, sequences = std::move(sequences), adapter = AdapterObject::unwrap(call.Env(), call[1], *core), temperature,
         precision = path_of(call[3], *core->model, core->model->training)] { return score(core->model, core->forward, sequences, adapter, temperature, precision); },
        [](Napi::Env env, const std::vector<std::vector<float>>& results) {
          Napi::Array array = Napi::Array::New(env, results.size());
          for (uint32_t i = 0; i < results.size(); i++) array.Set(i, to_float_array(env, results[i].data(), results[i].size()));
          return array;
        });
  });
}

Napi::Value ModelObject::logits(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    return core->queue.push(
        call.Env(),
        [core, ids = ids_of(call[0], "ids"), adapter = AdapterObject::unwrap(call.Env(), call[1], *core)] {
          return all_logits(core->model, core->forward, ids, adapter, nullptr);
        },
        [](Napi::Env env, const std::vector<float>& values) { return to_float_array(env, values.data(), values.size()); });
  });
}

Napi::Value ModelObject::hidden_states(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    return core->queue.push(
        call.Env(),
        [core, ids = ids_of(call[0], "ids"), adapter = AdapterObject::unwrap(call.Env(), call[1], *core)] {
          std::vector<std::vector<float>> hidden;
          all_logits(core->model, core->forward, ids, adapter, &hidden);
          return hidden;
        },
        [](Napi::Env env, const std::vector<std::vector<float>>& layers) {
          Napi::Array array = Napi::Array::New(env, layers.size());
          for (uint32_t i = 0; i < layers.size(); i++) array.Set(i, to_float_array(env, layers[i].data(), layers[i].size()));
          return array;
        });
  });
}

Napi::Value ModelObject::create_adapter(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&] {
    const auto core = live();
    const Napi::Object options = options_of(call.Env(), call[0], "The adapter options");
    const int rank = integer_of(options.Get("rank"), "rank", 1, core->model->config.hidden);
    auto adapter = Adapter::create(*core->model, rank, number_of(options.Get("alpha"), "alpha"), seed_of(options.Get("seed"), "seed"), experts_of(options));
    return AdapterObject::create(call.Env(), core, std::move(adapter));
  });
}

Napi::Value ModelObject::load_adapter(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    return core->queue.push(
        call.Env(), [core, dir = text_of(call[0], "The folder")] { return Adapter::load(*core->model, dir); },
        [core](Napi::Env env, const std::shared_ptr<Adapter>& adapter) { return AdapterObject::create(env, core, adapter); });
  });
}

Napi::Value ModelObject::new_trainer(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&] {
    const auto core = live();
    auto trainer = std::make_shared<Trainer>(core->model, AdapterObject::unwrap(call.Env(), call[0], *core), optimizer_of(call.Env(), call[1]),
                                             training_of(call.Env(), call[1]));
    return TrainerObject::create(call.Env(), core, std::move(trainer));
  });
}

Napi::Value ModelObject::plan_training(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    return to_object(call.Env(), tackroom::plan_training(live()->model->outline(), plan_request_of(call.Env(), call[0]), calibration_of(call.Env(), call[1])));
  });
}

Napi::Value ModelObject::calibrate(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    const int rank = call[0].IsUndefined() ? 32 : integer_of(call[0], "rank", 1, core->model->config.hidden);
    return core->queue.push(
        call.Env(), [core, rank] { return tackroom::calibrate(*core->model, rank); },
        [](Napi::Env env, const Calibration& speeds) {
          Napi::Object object = Napi::Object::New(env);
          object.Set("layers", speeds.layers);
          object.Set("attention", speeds.attention);
          object.Set("head", speeds.head);
          return object;
        },
        false);
  });
}

Napi::Value ModelObject::save(const Napi::CallbackInfo& call) {
  return guarded(call.Env(), [&]() -> Napi::Value {
    const auto core = live();
    const std::string dtype = call[1].IsUndefined() ? "F32" : text_of(call[1], "dtype");
    if (dtype != "F32" && dtype != "BF16") fail("BAD_ARGUMENT", "dtype must be F32 or BF16.");
    return core->queue.push(
        call.Env(),
        [core, dir = text_of(call[0], "The folder"), bf16 = dtype == "BF16", beside = texts_of(call[2], "The files beside")] {
          core->model->save(dir, bf16, beside);
          return true;
        },
        [](Napi::Env env, bool) { return env.Undefined(); });
  });
}

Napi::Value ModelObject::free(const Napi::CallbackInfo& call) {
  core_.reset();
  return call.Env().Undefined();
}

}  // namespace tackroom
