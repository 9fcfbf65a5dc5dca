/** Gated MLP in training: y = down(act(gate h) * up h). The product is computed again in backward. */
#include "train_layer.h"

namespace tackroom {

void dense_mlp_forward(TrainContext& context, int l, DenseMlpTape& tape, const float* h, float* y, bool accumulate) {
  const ModelConfig& c = context.config();
  const DenseMlpWeights& w = context.model.layers[static_cast<size_t>(l)].mlp;
  float *gate = sized(tape.gate, context.rows, c.ffn), *up = sized(tape.up, context.rows, c.ffn);
  context.linear.forward(h, context.rows, {{&w.gate, gate, c.ffn, &tape.low[0]}, {&w.up, up, c.ffn, &tape.low[1]}});
  float* product = sized(context.scratch.a, context.rows, c.ffn);
  activate(context.model, context.model.pool, gate, up, c.ffn, product, context.rows, c.ffn);
  context.linear.forward(product, context.rows, {{&w.down, y, c.hidden, &tape.low[2], accumulate}});
}

void dense_mlp_backward(TrainContext& context, int l, DenseMlpTape& tape, const float* dy, const float* h, float* dh) {
  const ModelConfig& c = context.config();
  const DenseMlpWeights& w = context.model.layers[static_cast<size_t>(l)].mlp;
  float* product = sized(context.scratch.a, context.rows, c.ffn);
  activate(context.model, context.model.pool, tape.gate.data(), tape.up.data(), c.ffn, product, context.rows, c.ffn);
  float* d_product = sized(context.scratch.b, context.rows, c.ffn);
  context.linear.backward(product, context.rows, {{&w.down, dy, c.hidden, &tape.low[2]}}, d_product);
  float *d_gate = product, *d_up = sized(context.scratch.c, context.rows, c.ffn);
  activate_backward(context.model, context.model.pool, d_product, tape.gate.data(), tape.up.data(), c.ffn, d_gate, d_up, c.ffn, context.rows, c.ffn);
  context.linear.backward(h, context.rows, {{&w.gate, d_gate, c.ffn, &tape.low[0]}, {&w.up, d_up, c.ffn, &tape.low[1]}}, dh);
}

}  // namespace tackroom
