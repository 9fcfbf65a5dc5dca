/** The table of one instruction set. */
#pragma once
#include "attention_impl.h"
#include "gemm_impl.h"
#include "rows_impl.h"

namespace tackroom::TACKROOM_ISA {

static constexpr Kernels make_table(const char* name) {
  return {name,   NR,   gemm,   pack_panels,     add,           add_scaled,     scale,       dot,               rmsnorm,            rmsnorm_backward,
          rope, swiglu, swiglu_backward, geglu, geglu_backward, argmax, softmax_stats, softmax_scaled, exp_shifted, attention_forward, attention_chunk, attention_merge, attention_backward, adamw};
}

}  // namespace tackroom::TACKROOM_ISA
