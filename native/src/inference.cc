#include "inference.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <set>

#include "error.h"

namespace tackroom {
namespace {

constexpr size_t kScoreTokens = 4096;  // tokens in one scoring pass
constexpr size_t kHeadRows = 96;       // logits held at a time

}  // namespace

void check_ids(const ModelConfig& config, const std::vector<int>& ids, int already) {
  if (ids.empty()) fail("BAD_ARGUMENT", "A sequence needs at least one token.");
  for (const int id : ids)
    if (id < 0 || id >= config.vocab) fail("BAD_ARGUMENT", "The token %d is outside the vocabulary of %d.", id, config.vocab);
  if (ids.size() + static_cast<size_t>(already) > static_cast<size_t>(config.context))
    fail("CONTEXT_FULL", "The model's context holds %d tokens; %zu are needed.", config.context, ids.size() + static_cast<size_t>(already));
}

namespace {

/**
 * By the request alone, so that its result does not depend on the batch: a prompt or a piece of one has many rows and may have
 * another arithmetic than a single token.
 */
Precision precision_of(const Model& model, const DecodeRequest& request) {
  const Precision wanted = request.sequence->precision();
  return wanted == Precision::Int8 && request.ids.size() > 1 ? model.prompts() : wanted;
}

/** Requests of one precision, in an order in which neighbours share an adapter. */
void decode_group(Model& model, Forward& forward, const std::vector<DecodeRequest>& requests, const std::vector<size_t>& order, Precision precision,
                  std::vector<Sampled>& answers) {
  std::vector<ForwardItem> items;
  std::vector<int> last_rows;
  std::vector<size_t> sampled;
  int row = 0;
  for (const size_t i : order) {
    items.push_back({requests[i].sequence.get(), requests[i].ids});
    row += static_cast<int>(requests[i].ids.size());
    if (!requests[i].sampled) continue;
    last_rows.push_back(row - 1);
    sampled.push_back(i);
  }
  forward.run(items, precision);
  if (sampled.empty()) return;
  const float* logits = forward.logits(last_rows);
  const size_t vocab = static_cast<size_t>(model.config.vocab);
  std::vector<std::exception_ptr> errors(sampled.size());
  model.pool.run(static_cast<int>(sampled.size()), [&](int task) {
    const size_t j = static_cast<size_t>(task);
    const DecodeRequest& request = requests[sampled[j]];
    try {
      answers[sampled[j]] =
          sample_token(model.kernels, logits + j * vocab, model.config.vocab, request.options, request.sequence->length(), request.sequence->tokens());
    } catch (...) {
      errors[j] = std::current_exception();
    }
  });
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

std::vector<Sampled> decode(Model& model, Forward& forward, const std::vector<DecodeRequest>& requests) {
  std::vector<Sampled> answers(requests.size());
  std::set<const Sequence*> seen;
  for (const DecodeRequest& request : requests) {
    check_ids(model.config, request.ids, request.sequence->length());
    if (!seen.insert(request.sequence.get()).second) fail("BAD_ARGUMENT", "A sequence may appear only once in a batch.");
  }
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t i) { return std::pair(precision_of(model, requests[i]), requests[i].sequence->adapter()); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && key(order[end]).first == key(order[begin]).first) end++;
    decode_group(model, forward, requests, {order.begin() + static_cast<ptrdiff_t>(begin), order.begin() + static_cast<ptrdiff_t>(end)}, key(order[begin]).first,
                 answers);
    begin = end;
  }
  return answers;
}

std::vector<std::vector<float>> score(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<std::vector<int>>& sequences,
                                      const std::shared_ptr<Adapter>& adapter, double temperature, Precision precision) {
  const size_t vocab = static_cast<size_t>(model->config.vocab);
  for (const auto& ids : sequences) check_ids(model->config, ids, 0);
  std::vector<std::vector<float>> results(sequences.size());
  for (size_t first = 0; first < sequences.size();) {
    std::vector<std::unique_ptr<Sequence>> caches;
    std::vector<ForwardItem> items;
    struct Target {
      size_t sequence, position;
    };
    std::vector<int> rows;
    std::vector<Target> targets;
    size_t tokens = 0, next = first;
    for (; next < sequences.size() && (next == first || tokens + sequences[next].size() <= kScoreTokens); next++) {
      caches.push_back(std::make_unique<Sequence>(model, adapter, precision));
      items.push_back({caches.back().get(), sequences[next]});
      results[next].assign(sequences[next].size(), 0);
      for (size_t t = 1; t < sequences[next].size(); t++) {
        rows.push_back(static_cast<int>(tokens + t - 1));
        targets.push_back({next, t});
      }
      tokens += sequences[next].size();
    }
    forward.run(items, precision);
    for (size_t begin = 0; begin < rows.size(); begin += kHeadRows) {
      const size_t end = std::min(rows.size(), begin + kHeadRows);
      const float* logits = forward.logits({rows.begin() + static_cast<ptrdiff_t>(begin), rows.begin() + static_cast<ptrdiff_t>(end)});
      for (size_t i = begin; i < end; i++) {
        const auto [sequence, position] = targets[i];
        results[sequence][position] =
            token_logprob(model->kernels, logits + (i - begin) * vocab, model->config.vocab, sequences[sequence][position], temperature);
      }
    }
    first = next;
  }
  return results;
}

std::vector<float> all_logits(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<int>& ids, const std::shared_ptr<Adapter>& adapter,
                              std::vector<std::vector<float>>* hidden) {
  check_ids(model->config, ids, 0);
  Sequence cache(model, adapter, model->training);
  forward.run({{&cache, ids}}, model->training, hidden);
  std::vector<int> rows(ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const float* logits = forward.logits(rows);
  return std::vector<float>(logits, logits + rows.size() * static_cast<size_t>(model->config.vocab));
}

}  // namespace tackroom
