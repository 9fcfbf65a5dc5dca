/**
 * The engine without Node, for the sanitizers: every architecture with random weights decodes in batches, scores, and is trained.
 *
 * Usage: engine_test. Prints the number of checks; exit 1 when one fails.
 */
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "inference.h"
#include "train/trainer.h"

namespace tackroom {
namespace {

int checks = 0, failures = 0;

void check(bool ok, const char* what, const char* architecture) {
  checks++;
  if (ok) return;
  failures++;
  std::printf("FAILED: %s (%s)\n", what, architecture);
}

/** Widths that are no multiple of a vector, except where quantisation or heads ask for one. */
constexpr const char* kConfigs[] = {
    R"({"model_type":"llama","vocab_size":61,"hidden_size":20,"intermediate_size":27,"num_hidden_layers":2,"num_attention_heads":4,
        "num_key_value_heads":2,"head_dim":6,"tie_word_embeddings":true,"mlp_bias":true,"attention_bias":true})",
    R"({"model_type":"qwen2","vocab_size":50,"hidden_size":24,"intermediate_size":40,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":1})",
    R"({"model_type":"qwen3","vocab_size":50,"hidden_size":33,"intermediate_size":40,"num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":2,"head_dim":10})",
    R"({"model_type":"lfm2","vocab_size":40,"hidden_size":24,"intermediate_size":36,"block_auto_adjust_ff_dim":false,"num_hidden_layers":3,
        "num_attention_heads":4,"num_key_value_heads":2,"conv_L_cache":3,"layer_types":["conv","full_attention","conv"]})",
    R"({"model_type":"lfm2_moe","vocab_size":40,"hidden_size":24,"intermediate_size":36,"num_hidden_layers":3,"num_attention_heads":4,
        "num_key_value_heads":2,"layer_types":["conv","full_attention","conv"],"num_dense_layers":1,"num_experts":5,"num_experts_per_tok":2,"moe_intermediate_size":13})",
    R"({"model_type":"gemma3_text","vocab_size":40,"hidden_size":24,"intermediate_size":36,"num_hidden_layers":3,"num_attention_heads":4,
        "num_key_value_heads":2,"head_dim":6,"sliding_window":7,"sliding_window_pattern":3,"query_pre_attn_scalar":9})"};

std::vector<int> tokens(int count, int seed, int vocab) {
  std::vector<int> ids;
  unsigned state = static_cast<unsigned>(seed) * 2654435761u + 1;
  for (int i = 0; i < count; i++) ids.push_back(static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % vocab);
  for (int& id : ids) id = id < 0 ? -id : id;
  return ids;
}

double worst(const std::vector<float>& a, const std::vector<float>& b) {
  double gap = a.size() == b.size() ? 0 : 1e9;
  for (size_t i = 0; i < a.size() && i < b.size(); i++) gap = std::fmax(gap, std::fabs(a[i] - b[i]));
  return gap;
}

/** Two sequences with different adapters and one without decode together; what they sample is scored again alone. */
void serve(const std::shared_ptr<Model>& model, const std::shared_ptr<Adapter>& adapter, const char* name) {
  Forward forward(*model);
  std::vector<std::shared_ptr<Sequence>> sequences;
  for (const auto& used : {adapter, std::shared_ptr<Adapter>(), adapter->clone()}) sequences.push_back(std::make_shared<Sequence>(model, used, Precision::Fp32));
  std::vector<std::vector<int>> ids;
  std::vector<std::vector<float>> sampled(3);
  std::vector<DecodeRequest> requests(3);
  for (int i = 0; i < 3; i++) {
    ids.push_back(tokens(5 + 9 * i, i + 1, model->config.vocab));
    requests[static_cast<size_t>(i)] = {sequences[static_cast<size_t>(i)], ids.back(), true, {}};
  }
  for (int step = 0; step < 12; step++) {
    const auto answers = decode(*model, forward, requests);
    for (size_t i = 0; i < 3; i++) {
      ids[i].push_back(answers[i].token);
      sampled[i].push_back(answers[i].logprob);
      requests[i].ids = {answers[i].token};
    }
  }
  for (size_t i = 0; i < 3; i++) {
    const std::shared_ptr<Adapter> used = i == 1 ? nullptr : adapter;
    const auto scored = score(model, forward, {ids[i]}, used, 1, Precision::Fp32)[0];
    check(worst(sampled[i], {scored.end() - 12, scored.end()}) < 1e-4, "sampled and scored log-probabilities", name);
  }
  // A copy of a prefix goes on as the whole does.
  const auto copy = sequences[1]->clone(9);
  const std::vector<int> rest(ids[1].begin() + 9, ids[1].end());
  const auto answer = decode(*model, forward, {{copy, rest, true, {0}}})[0];
  const auto whole = std::make_shared<Sequence>(model, nullptr, Precision::Fp32);
  const auto expected = decode(*model, forward, {{whole, ids[1], true, {0}}})[0];
  check(answer.token == expected.token && std::fabs(answer.logprob - expected.logprob) < 1e-5, "a copied prefix", name);
  sequences[1]->truncate(3);
  check(sequences[1]->length() == 3, "truncation", name);
}

std::vector<TrainRow> rows(const Model& model) {
  std::vector<TrainRow> all;
  const std::vector<int> shared = tokens(17, 99, model.config.vocab);
  for (int i = 0; i < 4; i++) {
    TrainRow row;
    row.ids = shared;
    for (const int id : tokens(3 + 8 * i, 50 + i, model.config.vocab)) row.ids.push_back(id);
    row.mask.assign(row.ids.size(), 0);
    for (size_t t = 12; t < row.ids.size(); t++) row.mask[t] = 1;
    row.old_logprobs.assign(row.ids.size(), -3.5f);
    row.advantage = i % 2 == 0 ? 1.0f : -0.7f;
    all.push_back(std::move(row));
  }
  return all;
}

void train(const std::shared_ptr<Model>& model, const std::shared_ptr<Adapter>& adapter, const char* name) {
  const auto batch = rows(*model);
  const auto gradients = [&](const TrainOptions& options) {
    Trainer trainer(model, adapter, {}, options);
    trainer.backward(batch, {});
    return std::vector<float>(trainer.gradients(), trainer.gradients() + trainer.params().floats());
  };
  const auto plain = gradients({0, false, false});
  check(worst(plain, gradients({0, false, true})) < 5e-5, "shared prefixes", name);
  check(worst(plain, gradients({0, true, false})) == 0, "layers computed again", name);
  check(worst(plain, gradients({24, false, true})) < 5e-5, "small micro-batches", name);
  Trainer trainer(model, adapter, {});
  LossConfig loss;
  loss.kind = LossKind::Gspo;
  const double before = trainer.step(batch, loss, 1e-3).loss;
  loss.kind = LossKind::Dapo;
  check(std::isfinite(before) && std::isfinite(trainer.step(batch, loss, 1e-3).loss) && trainer.steps() == 2, "two steps", name);
}

void architecture(const char* text) {
  const ModelConfig config = parse_config(Json::parse(text), "a test config", "BAD_ARGUMENT");
  const char* name = config.architecture->model_type;
  const auto model = Model::initialise(config, 7, 0.2, 2);
  const auto adapter = Adapter::create(*model, 3, 6, 5, config.experts > 0 ? ExpertAdapters::Each : ExpertAdapters::None);
  train(model, adapter, name);  // also makes B differ from zero
  serve(model, adapter, name);
  if (config.experts > 0) train(model, Adapter::create(*model, 2, 4, 5, ExpertAdapters::Shared), name);
  train(model, nullptr, name);
}

}  // namespace
}  // namespace tackroom

int main() {
  try {
    for (const char* config : tackroom::kConfigs) tackroom::architecture(config);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  std::printf("%d checks, %d failed\n", tackroom::checks, tackroom::failures);
  return tackroom::failures == 0 ? 0 : 1;
}
