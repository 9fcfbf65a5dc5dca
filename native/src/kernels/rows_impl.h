/** Row-wise operations: vector arithmetic, RMSNorm, RoPE, SwiGLU, softmax, AdamW. One pass over memory each. */
#pragma once
#include "simd.h"

namespace tackroom::TACKROOM_ISA {

static void add(float* y, const float* x, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) { store_n(y + i, c, load_n(y + i, c) + load_n(x + i, c)); });
}
static void add_scaled(float* y, const float* x, float s, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) { store_n(y + i, c, fma(set1(s), load_n(x + i, c), load_n(y + i, c))); });
}
static void scale(float* y, float s, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) { store_n(y + i, c, set1(s) * load_n(y + i, c)); });
}
static float dot(const float* x, const float* y, int64_t n) {
  Vec sum = set1(0);
  for_vectors(n, [&](int64_t i, int c) { sum = fma(load_n(x + i, c), load_n(y + i, c), sum); });
  return reduce_add(sum);
}

static float rmsnorm(const float* x, const float* w, float* y, int n, float eps, float offset) {
  const float rstd = 1.0f / __builtin_sqrtf(dot(x, x, n) / static_cast<float>(n) + eps);
  for_vectors(n, [=](int64_t i, int c) { store_n(y + i, c, (set1(offset) + load_n(w + i, c)) * (set1(rstd) * load_n(x + i, c))); });
  return rstd;
}

// With xhat = x * rstd and g = dy * (offset + w): dx = rstd * (g - xhat * mean(g * xhat)), dw = dy * xhat.
static void rmsnorm_backward(const float* dy, const float* x, const float* w, float rstd, float* dx, float* dw, int n, float offset) {
  Vec sum = set1(0);
  for_vectors(n, [&](int64_t i, int c) { sum = fma(load_n(dy + i, c) * (set1(offset) + load_n(w + i, c)), load_n(x + i, c), sum); });
  const float mean = reduce_add(sum) * rstd / static_cast<float>(n);
  for_vectors(n, [=](int64_t i, int c) {
    const Vec xhat = load_n(x + i, c) * set1(rstd), d = load_n(dy + i, c);
    const Vec inner = fma(set1(-mean), xhat, d * (set1(offset) + load_n(w + i, c)));
    store_n(dx + i, c, fma(set1(rstd), inner, load_n(dx + i, c)));
    if (dw != nullptr) store_n(dw + i, c, fma(d, xhat, load_n(dw + i, c)));
  });
}

static void rope(float* x, const float* cosines, const float* sines, int half, float direction) {
  for_vectors(half, [=](int64_t i, int n) {
    const Vec c = load_n(cosines + i, n), s = set1(direction) * load_n(sines + i, n);
    const Vec lo = load_n(x + i, n), hi = load_n(x + half + i, n);
    store_n(x + i, n, lo * c - hi * s);
    store_n(x + half + i, n, hi * c + lo * s);
  });
}

static inline Vec sigmoid(Vec x) { return set1(1.0f) / (set1(1.0f) + exp(set1(0) - x)); }

static void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) {
    const Vec g = load_n(gate + i, c);
    store_n(out + i, c, g * sigmoid(g) * load_n(up + i, c));
  });
}

static void swiglu_backward(const float* dout, const float* gate, const float* up, float* dgate, float* dup, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) {
    const Vec g = load_n(gate + i, c), u = load_n(up + i, c), d = load_n(dout + i, c), s = sigmoid(g);
    store_n(dup + i, c, d * g * s);
    store_n(dgate + i, c, d * u * s * fma(g, set1(1.0f) - s, set1(1.0f)));
  });
}

// gelu(x) = x * sigmoid(2 z), z = sqrt(2 / pi) * (x + 0.044715 x^3): the tanh form rewritten, since 1 + tanh(z) = 2 sigmoid(2 z).
constexpr float kGeluSlope = 1.5957691216057308f, kGeluCube = 0.044715f;
static inline Vec gelu_gate(Vec x) { return sigmoid(set1(kGeluSlope) * fma(set1(kGeluCube) * x * x, x, x)); }

static void geglu(const float* gate, const float* up, float* out, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) {
    const Vec g = load_n(gate + i, c);
    store_n(out + i, c, g * gelu_gate(g) * load_n(up + i, c));
  });
}

static void geglu_backward(const float* dout, const float* gate, const float* up, float* dgate, float* dup, int64_t n) {
  for_vectors(n, [=](int64_t i, int c) {
    const Vec g = load_n(gate + i, c), u = load_n(up + i, c), d = load_n(dout + i, c), s = gelu_gate(g);
    const Vec inner = set1(kGeluSlope) * fma(set1(3 * kGeluCube) * g, g, set1(1.0f));
    store_n(dup + i, c, d * g * s);
    store_n(dgate + i, c, d * u * s * fma(g * (set1(1.0f) - s), inner, set1(1.0f)));
  });
}

static int argmax(const float* x, int n) {
  constexpr int kBlock = 512;
  float best = -__builtin_inff();
  int found = 0;
  for (int begin = 0; begin < n; begin += kBlock) {
    Vec top = set1(-__builtin_inff());
    for_vectors(n - begin < kBlock ? n - begin : kBlock, [&](int64_t i, int c) { top = max(top, load_n(x + begin + i, c, -__builtin_inff())); });
    const float highest = reduce_max(top);
    if (highest > best) best = highest, found = begin;
  }
  while (found < n && x[found] != best) found++;
  return found < n ? found : 0;
}

static SoftmaxStats softmax_stats(const float* logits, int n, float scale) {
  Vec top = set1(-__builtin_inff());
  for_vectors(n, [&](int64_t i, int c) { top = max(top, load_n(logits + i, c, -__builtin_inff())); });
  const float highest = reduce_max(top) * scale;
  Vec sum = set1(0), weighted = set1(0);
  for_vectors(n, [&](int64_t i, int c) {
    const Vec z = fma(load_n(logits + i, c, -1e30f), set1(scale), set1(-highest));
    const Vec e = exp(z);
    sum = sum + e;
    weighted = fma(e, max(z, set1(-88.0f)), weighted);
  });
  const float total = reduce_add(sum);
  return {highest, total, __builtin_logf(total) - reduce_add(weighted) / total};
}

static void softmax_scaled(float* x, int n, float scale, float lse, float coefficient) {
  for_vectors(n, [=](int64_t i, int c) { store_n(x + i, c, set1(coefficient) * exp(fma(load_n(x + i, c), set1(scale), set1(-lse)))); });
}

static void exp_shifted(const float* x, float* out, int n, float scale, float highest) {
  for_vectors(n, [=](int64_t i, int c) { store_n(out + i, c, exp(fma(load_n(x + i, c), set1(scale), set1(-highest)))); });
}

// Loshchilov & Hutter 2019, as torch.optim.AdamW orders it: decay, moments, step.
static void adamw(float* p, const float* g, float* m, float* v, int64_t n, const AdamArgs& o) {
  const float keep = 1.0f - o.lr * o.weight_decay, step = o.lr / o.bias1, root = 1.0f / __builtin_sqrtf(o.bias2);
  for_vectors(n, [=, &o](int64_t i, int c) {
    const Vec grad = load_n(g + i, c) * set1(o.grad_scale);
    const Vec m1 = fma(set1(1.0f - o.beta1), grad - load_n(m + i, c), load_n(m + i, c));
    const Vec v1 = fma(set1(1.0f - o.beta2) * grad, grad, load_n(v + i, c) * set1(o.beta2));
    store_n(m + i, c, m1);
    store_n(v + i, c, v1);
    store_n(p + i, c, load_n(p + i, c) * set1(keep) - set1(step) * m1 / fma(sqrt(v1), set1(root), set1(o.eps)));
  });
}

}  // namespace tackroom::TACKROOM_ISA
