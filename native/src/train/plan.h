/**
 * What a training step will need, said before it starts: bytes by what they are for, and seconds from measured speeds.
 *
 * Bytes follow from the shapes that the buffers are reserved with; they are those of the largest micro-batch. Seconds are the
 * multiply-adds of each kind of work over the speed that `calibrate` measured for it on this machine, with this model's shapes.
 */
#pragma once
#include "trainer.h"

namespace tackroom {

/** Speeds of the parts of a step, in 1e9 multiply-adds a second; 0: not measured. */
struct Calibration {
  double layers = 0;     // linear layers and all else a token costs there, forward and backward
  double attention = 0;  // the products of attention that grow with the length
  double head = 0;       // output head and loss, of trained tokens
};

struct PlanRequest {
  int rank = 32;  // 0: every weight is trained
  ExpertAdapters experts = ExpertAdapters::None;
  int64_t tokens = 2048;      // distinct tokens of a step
  int longest = 512;          // of its rows
  double trained_share = 1;   // of the tokens
  TrainOptions options;
};

struct TrainPlan {
  int token_budget = 0, micro_batches = 0;
  size_t weights = 0, adapter = 0;
  TrainMemory memory;
  double seconds = 0, tokens_per_second = 0;  // 0 without a calibration

  size_t total() const { return weights + adapter + memory.total(); }
};

/** Throws BAD_ARGUMENT for an adapter that the model cannot have, and for training every weight of a model that is not dense. */
TrainPlan plan_training(const ModelOutline& model, const PlanRequest& request, const Calibration& speeds);

/** Runs one layer of each kind and the head on a few hundred tokens, about a second for a small model. Engine thread only. */
Calibration calibrate(Model& model, int rank);

}  // namespace tackroom
