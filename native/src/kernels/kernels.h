/**
 * The arithmetic of the engine, compiled once per instruction set and chosen at run time.
 *
 * All tensors are fp32, row-major. Every function is single-threaded and re-entrant; callers split work over threads.
 * A row of a product is computed with the same sequence of operations whatever the number of rows beside it, so the
 * result for one token does not depend on the batch it travels in.
 */
#pragma once
#include <cstdint>

namespace tackroom {

/** C[m,n] (+)= A[m,k] B[k,n]. A has any strides; B is read in panels of `panel_width` columns. */
struct GemmArgs {
  int m, n, k;
  const float* a;
  int64_t a_row, a_k;  // element (i, p) of A at a[i * a_row + p * a_k]
  const float* b;
  int64_t b_k, b_panel;  // row p of panel j at b + j * b_panel + p * b_k
  float* c;
  int64_t c_row;
  bool accumulate;
};

/** One block of query rows of one head against the keys [0, first_limit + (rows - 1) * limit_step]. */
struct AttentionForwardArgs {
  int rows, head_dim;  // rows <= kAttentionRows
  const float* q;
  int64_t q_row;
  int first_limit, limit_step;  // row r sees the keys [0, first_limit + r * limit_step]
  const float* key_panels;      // [ceil(keys / panel_width)][head_dim][panel_width]
  const float* v;
  int64_t v_row;
  float* out;
  int64_t out_row;
  float* lse;  // [rows] log of the softmax denominator, or null
  float scale;
  float* scratch;  // attention_scratch_floats(head_dim)
};

/** Causal self-attention of one head over one sequence, backward. Gradients are added to dq, dk, dv. */
struct AttentionBackwardArgs {
  int tokens, head_dim;
  const float *q, *k, *v, *out, *dout;
  int64_t q_row, kv_row;                   // row strides of q/out/dout and of k/v
  const float *key_panels, *value_panels;  // [ceil(tokens / panel_width)][head_dim][panel_width]
  const float* lse;                        // [tokens]
  float *dq, *dk, *dv;                     // strides as q, k, v
  float scale;
  float* scratch;
};

struct AdamArgs {
  float lr, beta1, beta2, eps, weight_decay;
  float bias1, bias2;  // 1 - beta^step
  float grad_scale;    // clip coefficient
};

struct SoftmaxStats {
  float max;      // of logits * scale
  float sum;      // of exp(logits * scale - max)
  float entropy;  // nats
};

constexpr int kAttentionRows = 96;
constexpr int kAttentionKeys = 96;
inline int64_t attention_scratch_floats(int head_dim) {
  return 2 * kAttentionRows * kAttentionKeys + kAttentionRows * (head_dim + 64) + 3 * kAttentionRows + 256;
}

struct Kernels {
  const char* name;
  int panel_width;

  void (*gemm)(const GemmArgs&);
  /** Transposes w[n,k] (row stride ldw) into panels [ceil(n / panel_width)][k][panel_width], zero-padded. */
  void (*pack_panels)(const float* w, int64_t ldw, int n, int k, float* panels);

  void (*add)(float* y, const float* x, int64_t n);
  void (*add_scaled)(float* y, const float* x, float scale, int64_t n);
  void (*scale)(float* y, float scale, int64_t n);
  float (*dot)(const float* x, const float* y, int64_t n);

  /** y = w * x / sqrt(mean(x^2) + eps); returns 1 / sqrt(...). */
  float (*rmsnorm)(const float* x, const float* w, float* y, int n, float eps);
  /** dx += gradient; dw += gradient when not null. */
  void (*rmsnorm_backward)(const float* dy, const float* x, const float* w, float rstd, float* dx, float* dw, int n);

  /** Rotates the two halves of a head by the angles whose cosines and sines are given [head_dim / 2]. */
  void (*rope)(float* x, const float* cosines, const float* sines, int half, float direction);

  /** out = silu(gate) * up. */
  void (*swiglu)(const float* gate, const float* up, float* out, int64_t n);
  /** dgate and dup overwrite; they may alias gate and up. */
  void (*swiglu_backward)(const float* dout, const float* gate, const float* up, float* dgate, float* dup, int64_t n);

  SoftmaxStats (*softmax_stats)(const float* logits, int n, float scale);
  /** x = coefficient * exp(x * scale - lse), in place. */
  void (*softmax_scaled)(float* x, int n, float scale, float lse, float coefficient);
  /** out = exp(x * scale - max). */
  void (*exp_shifted)(const float* x, float* out, int n, float scale, float max);

  void (*attention_forward)(const AttentionForwardArgs&);
  void (*attention_backward)(const AttentionBackwardArgs&);

  void (*adamw)(float* p, const float* g, float* m, float* v, int64_t n, const AdamArgs&);
};

/** Kernel sets; null where the processor lacks the instructions. */
const Kernels* baseline_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();

/** The best set of this processor, or the one named by TACKROOM_KERNELS (an error when it cannot run here). */
const Kernels& kernels();

struct CpuInfo {
  char brand[49];
  bool avx2, avx512, avx512bf16, amx;
};
CpuInfo cpu_info();

}  // namespace tackroom
