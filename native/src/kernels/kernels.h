/**
 * The arithmetic of the engine, compiled once per instruction set and chosen at run time.
 *
 * All tensors are fp32, row-major. Every function is single-threaded and re-entrant; callers split work over threads.
 * A row of a product is computed with the same sequence of operations whatever the number of rows beside it, so the
 * result for one token does not depend on the batch it travels in.
 */
#pragma once
#include <cstdint>

#include "packed.h"

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

/** One block of query rows of one head against the keys [0, first_limit + (rows - 1) * limit_step], or the last `window` of them. */
struct AttentionForwardArgs {
  int rows, head_dim;  // rows <= kAttentionRows
  const float* q;
  int64_t q_row;
  int first_limit, limit_step;  // row r sees the keys up to its limit, first_limit + r * limit_step
  int window;                   // 0: all of them; otherwise those above limit - window
  const float* key_panels;      // [ceil(keys / panel_width)][head_dim][panel_width]
  const float* v;
  int64_t v_row;
  float* out;
  int64_t out_row;
  float* lse;  // [rows] log of the softmax denominator, or null
  float scale;
  float* scratch;  // attention_scratch_floats(head_dim)
  /** Not null: both products in bf16, from keys and values packed as attention16.h says; q, key_panels and v are not read. */
  const PackedKernels* narrow;
  const uint16_t *q16, *keys16, *values16;  // q16 [rows][bf16_depth(head_dim)]
  uint16_t* probabilities16;                // scratch [kAttentionRows][kAttentionKeys]
};

/**
 * Causal attention of one head, backward: `rows` queries, the keys before them and their own. Query r sees the keys
 * [0, before + r], or the last `window` of them. Gradients are added to dq, dk, dv.
 */
struct AttentionBackwardArgs {
  int rows, before, window, head_dim;
  const float *q, *k, *v, *out, *dout;
  int64_t q_row, kv_row;                   // row strides of q/out/dout and of k/v
  const float *key_panels, *value_panels;  // [ceil((before + rows) / panel_width)][head_dim][panel_width]
  const float* lse;                        // [rows]
  float *dq, *dk, *dv;                     // strides as q, k, v
  float scale;
  float* scratch;
  /** Not null: all products in bf16; the panels are not read. scratch16: attention_scratch16(before + rows, head_dim). */
  const PackedKernels* narrow;
  uint16_t* scratch16;
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
/** Keys after which the running maximum starts anew: a multiple of kAttentionKeys. */
constexpr int kAttentionChunk = 4 * kAttentionKeys;
/** What a chunk of keys leaves of `rows` queries: padded values, maxima and sums. A multiple of 16. */
[[gnu::always_inline]] inline int64_t attention_state_floats(int rows, int head_dim) { return (int64_t{rows} * (head_dim + 66) + 15) / 16 * 16; }
[[gnu::always_inline]] inline int64_t attention_scratch_floats(int head_dim) {
  return 2 * kAttentionRows * kAttentionKeys + 2 * attention_state_floats(kAttentionRows, head_dim) + 256;
}

[[gnu::always_inline]] inline int64_t attention_key16(int64_t keys, int head_dim) { return panel_count(keys) * kPanelColumns * bf16_depth(head_dim); }
[[gnu::always_inline]] inline int64_t attention_value_block16(int head_dim) { return panel_count(head_dim) * kPanelColumns * kAttentionKeys; }
[[gnu::always_inline]] inline int64_t attention_value16(int64_t keys, int head_dim) { return (keys + kAttentionKeys - 1) / kAttentionKeys * attention_value_block16(head_dim); }
/** bf16 numbers: keys and values as scores read them, keys as gradients read them, four forms of a block of rows, two of scores. */
[[gnu::always_inline]] inline int64_t attention_scratch16(int64_t keys, int head_dim) {
  const int64_t rows = kAttentionRows * bf16_depth(head_dim);
  return 2 * attention_key16(keys, head_dim) + attention_value16(keys, head_dim) + 2 * rows + 2 * attention_value_block16(head_dim) + kAttentionRows * kAttentionKeys;
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

  /** y = (offset + w) * x / sqrt(mean(x^2) + eps); returns 1 / sqrt(...). y may be x. */
  float (*rmsnorm)(const float* x, const float* w, float* y, int n, float eps, float offset);
  /** dx += gradient; dw += gradient when not null. */
  void (*rmsnorm_backward)(const float* dy, const float* x, const float* w, float rstd, float* dx, float* dw, int n, float offset);

  /** Rotates the two halves of a head by the angles whose cosines and sines are given [head_dim / 2]. */
  void (*rope)(float* x, const float* cosines, const float* sines, int half, float direction);

  /** out = silu(gate) * up. */
  void (*swiglu)(const float* gate, const float* up, float* out, int64_t n);
  /** dgate and dup overwrite; they may alias gate and up. */
  void (*swiglu_backward)(const float* dout, const float* gate, const float* up, float* dgate, float* dup, int64_t n);

  /** The same with gelu (tanh approximation, Hendrycks & Gimpel 2016) in place of silu. */
  void (*geglu)(const float* gate, const float* up, float* out, int64_t n);
  void (*geglu_backward)(const float* dout, const float* gate, const float* up, float* dgate, float* dup, int64_t n);

  /** Index of the largest of n > 0 numbers, the first of equals. */
  int (*argmax)(const float* x, int n);
  SoftmaxStats (*softmax_stats)(const float* logits, int n, float scale);
  /** x = coefficient * exp(x * scale - lse), in place. */
  void (*softmax_scaled)(float* x, int n, float scale, float lse, float coefficient);
  /** out = exp(x * scale - max). */
  void (*exp_shifted)(const float* x, float* out, int n, float scale, float max);

  void (*attention_forward)(const AttentionForwardArgs&);
  /** The keys of one chunk into a state of attention_state_floats(rows, head_dim); `out` is not written. */
  void (*attention_chunk)(const AttentionForwardArgs&, int chunk, float* state);
  /** Joins the states of successive chunks, one after the other in memory, into `out`: the bits of attention_forward. */
  void (*attention_merge)(const AttentionForwardArgs&, int chunks, float* states);
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
  bool avx2, avx512, avx512bf16, amx, avx512vnni;
  bool fast_bf16;  // vdpbf16ps does twice the multiply-adds of fp32 (AMD); Intel's does half as many
};
CpuInfo cpu_info();

/** avx512 stands for AVX-512 with what else of it there is (BF16, VNNI), amx for the same and tiles of bf16 and int8. */
enum class KernelLevel { baseline, avx2, avx512, amx };
/** The highest level that runs here, or the one named by TACKROOM_KERNELS (an error when it cannot run here). */
KernelLevel kernel_level();
bool runs_here(KernelLevel level);

}  // namespace tackroom
