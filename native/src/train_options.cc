#include "train_options.h"

#include <limits>

#include "napi_values.h"

namespace tackroom {
namespace {

template <class Value>
struct Name {
  const char* name;
  Value value;
};

constexpr Name<LossKind> kLosses[] = {{"grpo", LossKind::Grpo}, {"bnpo", LossKind::Bnpo},   {"dr_grpo", LossKind::DrGrpo}, {"dapo", LossKind::Dapo},
                                      {"gspo", LossKind::Gspo}, {"cispo", LossKind::Cispo}, {"sft", LossKind::Sft}};
constexpr Name<IsMode> kModes[] = {{"token_truncate", IsMode::TokenTruncate},
                                   {"token_mask", IsMode::TokenMask},
                                   {"sequence_truncate", IsMode::SequenceTruncate},
                                   {"sequence_mask", IsMode::SequenceMask}};

constexpr Name<ExpertAdapters> kExperts[] = {{"none", ExpertAdapters::None}, {"shared", ExpertAdapters::Shared}, {"each", ExpertAdapters::Each}};

template <class Value, size_t N>
Value lookup(const Name<Value> (&names)[N], const std::string& wanted, const char* what) {
  for (const auto& [name, value] : names)
    if (wanted == name) return value;
  fail("BAD_ARGUMENT", "\"%s\" is no %s.", wanted.c_str(), what);
}

std::vector<float> optional_floats(const Napi::Object& sample, const char* key) {
  const Napi::Value value = sample.Get(key);
  return value.IsUndefined() || value.IsNull() ? std::vector<float>() : floats_of(value, key);
}

}  // namespace

std::vector<TrainRow> rows_of(const Napi::Value& samples) {
  if (!samples.IsArray()) fail("BAD_ARGUMENT", "The samples must be an array.");
  const auto array = samples.As<Napi::Array>();
  std::vector<TrainRow> rows;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value item = array.Get(i);
    if (!item.IsObject()) fail("BAD_ARGUMENT", "A sample must be an object.");
    const auto sample = item.As<Napi::Object>();
    TrainRow row;
    row.ids = ids_of(sample.Get("inputIds"), "inputIds");
    const Napi::Value mask = sample.Get("completionMask");
    if (!mask.IsUndefined() && !mask.IsNull()) row.mask = bytes_of(mask, "completionMask");
    row.old_logprobs = optional_floats(sample, "oldLogprobs");
    row.ref_logprobs = optional_floats(sample, "refLogprobs");
    row.sampling_logprobs = optional_floats(sample, "samplingLogprobs");
    row.weights = optional_floats(sample, "weights");
    row.advantage = static_cast<float>(option_number(sample, "advantage", 0));
    rows.push_back(std::move(row));
  }
  return rows;
}

LossConfig loss_of(Napi::Env env, const Napi::Value& value) {
  const Napi::Object options = options_of(env, value, "The loss");
  LossConfig c;
  c.kind = lookup(kLosses, text_of(options.Get("loss"), "loss"), "loss");
  c.clip_low = option_number(options, "clipLow", c.clip_low);
  c.clip_high = option_number(options, "clipHigh", c.clip_high);
  c.temperature = option_number(options, "temperature", c.temperature);
  const Napi::Value longest = options.Get("maxCompletionLength");
  if (!longest.IsUndefined()) c.max_completion_length = integer_of(longest, "maxCompletionLength", 1, std::numeric_limits<int>::max());
  c.beta = option_number(options, "beta", c.beta);
  const Napi::Value bias = options.Get("biasCorr");
  if (!bias.IsUndefined()) c.bias_corr = bias.ToBoolean();
  const Napi::Value mode = options.Get("isMode");
  if (!mode.IsUndefined() && !mode.IsNull()) c.is_mode = lookup(kModes, text_of(mode, "isMode"), "isMode");
  c.is_max = option_number(options, "isMax", c.is_max);
  c.delta = option_number(options, "delta", c.delta);
  c.opsm = option_number(options, "opsm", c.opsm);
  return c;
}

OptimizerConfig optimizer_of(Napi::Env env, const Napi::Value& value) {
  const Napi::Object options = options_of(env, value, "The optimizer options");
  OptimizerConfig c;
  const Napi::Value name = options.Get("optimizer");
  if (!name.IsUndefined()) {
    const std::string text = text_of(name, "optimizer");
    if (text != "adamw" && text != "muon") fail("BAD_ARGUMENT", "\"%s\" is no optimizer.", text.c_str());
    c.muon = text == "muon";
  }
  const Napi::Value betas = options.Get("betas");
  if (!betas.IsUndefined()) {
    if (!betas.IsArray() || betas.As<Napi::Array>().Length() != 2) fail("BAD_ARGUMENT", "betas must be two numbers.");
    c.beta1 = number_of(betas.As<Napi::Array>().Get(0u), "betas");
    c.beta2 = number_of(betas.As<Napi::Array>().Get(1u), "betas");
  }
  c.eps = option_number(options, "eps", c.eps);
  c.weight_decay = option_number(options, "weightDecay", c.weight_decay);
  c.max_grad_norm = option_number(options, "maxGradNorm", c.max_grad_norm);
  return c;
}

TrainOptions training_of(Napi::Env env, const Napi::Value& value) {
  const Napi::Object options = options_of(env, value, "The trainer options");
  TrainOptions t;
  const Napi::Value budget = options.Get("tokenBudget");
  if (!budget.IsUndefined()) t.token_budget = integer_of(budget, "tokenBudget", 1, std::numeric_limits<int>::max());
  const Napi::Value checkpoint = options.Get("checkpoint");
  if (!checkpoint.IsUndefined()) {
    const std::string text = text_of(checkpoint, "checkpoint");
    if (text != "none" && text != "block") fail("BAD_ARGUMENT", "checkpoint must be \"none\" or \"block\".");
    t.checkpoint = text == "block";
  }
  const Napi::Value share = options.Get("share");
  if (!share.IsUndefined()) t.share = share.ToBoolean();
  return t;
}

ExpertAdapters experts_of(const Napi::Object& options) {
  const Napi::Value experts = options.Get("experts");
  return experts.IsUndefined() ? ExpertAdapters::None : lookup(kExperts, text_of(experts, "experts"), "choice of experts; there are none, shared and each");
}

PlanRequest plan_request_of(Napi::Env env, const Napi::Value& value) {
  const Napi::Object options = options_of(env, value, "The plan options");
  PlanRequest request;
  request.options = training_of(env, value);
  constexpr int kMost = std::numeric_limits<int>::max();
  const auto integer = [&](const char* key, int least, int fallback) {
    const Napi::Value given = options.Get(key);
    return given.IsUndefined() ? fallback : integer_of(given, key, least, kMost);
  };
  request.rank = integer("rank", 0, request.rank);
  request.experts = experts_of(options);
  request.tokens = integer("tokens", 1, static_cast<int>(request.tokens));
  request.longest = integer("longest", 1, request.longest);
  request.trained_share = option_number(options, "trainedShare", 1);
  if (!(request.trained_share >= 0 && request.trained_share <= 1)) fail("BAD_ARGUMENT", "trainedShare must lie in [0, 1].");
  return request;
}

Calibration calibration_of(Napi::Env env, const Napi::Value& value) {
  const Napi::Object speeds = options_of(env, value, "The calibration");
  return {option_number(speeds, "layers", 0), option_number(speeds, "attention", 0), option_number(speeds, "head", 0)};
}

Napi::Object to_object(Napi::Env env, const TrainMemory& memory) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("gradients", static_cast<double>(memory.gradients));
  object.Set("optimizer", static_cast<double>(memory.optimizer));
  object.Set("tape", static_cast<double>(memory.tape));
  object.Set("stream", static_cast<double>(memory.stream));
  object.Set("scratch", static_cast<double>(memory.scratch));
  object.Set("head", static_cast<double>(memory.head));
  object.Set("total", static_cast<double>(memory.total()));
  return object;
}

Napi::Object to_object(Napi::Env env, const TrainPlan& plan) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("tokenBudget", plan.token_budget);
  object.Set("microBatches", plan.micro_batches);
  object.Set("weights", static_cast<double>(plan.weights));
  object.Set("adapter", static_cast<double>(plan.adapter));
  object.Set("memory", to_object(env, plan.memory));
  object.Set("bytes", static_cast<double>(plan.total()));
  object.Set("seconds", plan.seconds);
  object.Set("tokensPerSecond", plan.tokens_per_second);
  return object;
}

}  // namespace tackroom
