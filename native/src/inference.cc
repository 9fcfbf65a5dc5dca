#include "inference.h"

#include <algorithm>
#include <numeric>

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

std::vector<Sampled> decode(Model& model, Forward& forward, const std::vector<DecodeRequest>& requests) {
  std::vector<Sampled> answers(requests.size());
  if (requests.empty()) return answers;
  // Neighbours with one adapter share its products.
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::less<Adapter*>()(requests[a].sequence->adapter(), requests[b].sequence->adapter());
  });
  std::vector<ForwardItem> items;
  std::vector<int> last_rows;
  std::vector<size_t> sampled;
  int row = 0;
  for (const size_t i : order) {
    check_ids(model.config, requests[i].ids, requests[i].sequence->length());
    for (const ForwardItem& item : items)
      if (item.sequence == requests[i].sequence.get()) fail("BAD_ARGUMENT", "A sequence may appear only once in a batch.");
    items.push_back({requests[i].sequence.get(), requests[i].ids});
    row += static_cast<int>(requests[i].ids.size());
    if (!requests[i].sampled) continue;
    last_rows.push_back(row - 1);
    sampled.push_back(i);
  }
  forward.run(items);
  if (sampled.empty()) return answers;
  const float* logits = forward.logits(last_rows);
  const size_t vocab = static_cast<size_t>(model.config.vocab);
  for (size_t j = 0; j < sampled.size(); j++) {
    const DecodeRequest& request = requests[sampled[j]];
    answers[sampled[j]] =
        sample_token(model.kernels, logits + j * vocab, model.config.vocab, request.options, request.sequence->length(), request.sequence->tokens());
  }
  return answers;
}

std::vector<std::vector<float>> score(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<std::vector<int>>& sequences,
                                      const std::shared_ptr<Adapter>& adapter, double temperature) {
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
      caches.push_back(std::make_unique<Sequence>(model, adapter));
      items.push_back({caches.back().get(), sequences[next]});
      results[next].assign(sequences[next].size(), 0);
      for (size_t t = 1; t < sequences[next].size(); t++) {
        rows.push_back(static_cast<int>(tokens + t - 1));
        targets.push_back({next, t});
      }
      tokens += sequences[next].size();
    }
    forward.run(items);
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

std::vector<float> all_logits(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<int>& ids, const std::shared_ptr<Adapter>& adapter) {
  check_ids(model->config, ids, 0);
  Sequence cache(model, adapter);
  forward.run({{&cache, ids}});
  std::vector<int> rows(ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const float* logits = forward.logits(rows);
  return std::vector<float>(logits, logits + rows.size() * static_cast<size_t>(model->config.vocab));
}

}  // namespace tackroom
