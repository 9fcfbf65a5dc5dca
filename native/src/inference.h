/** Decoding and scoring in terms of Forward: what the addon's methods do, without JavaScript. */
#pragma once
#include <memory>
#include <vector>

#include "forward.h"
#include "sampler.h"

namespace tackroom {

struct DecodeRequest {
  std::shared_ptr<Sequence> sequence;
  std::vector<int> ids;
  bool sampled = false;
  SampleOptions options;
};

/** Throws BAD_ARGUMENT for an id outside the vocabulary and CONTEXT_FULL for a sequence that would grow past the context. */
void check_ids(const ModelConfig& config, const std::vector<int>& ids, int already);

/** Appends and samples, all requests of one precision in one forward pass. Nothing changes when a request is wrong. */
std::vector<Sampled> decode(Model& model, Forward& forward, const std::vector<DecodeRequest>& requests);

/** Entry t = log p(ids[t] | ids before t) at `temperature`, entry 0 = 0, for each sequence. */
std::vector<std::vector<float>> score(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<std::vector<int>>& sequences,
                                      const std::shared_ptr<Adapter>& adapter, double temperature, Precision precision);

/** Logits of every position, [ids, vocab], on the training path; `hidden` (if not null) receives the stream before each layer and after the last. */
std::vector<float> all_logits(const std::shared_ptr<Model>& model, Forward& forward, const std::vector<int>& ids, const std::shared_ptr<Adapter>& adapter,
                              std::vector<std::vector<float>>* hidden);

}  // namespace tackroom
