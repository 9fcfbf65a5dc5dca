/** The arithmetic of matrix products; everything else (norms, softmax, residual stream, loss) is fp32 in all of them. */
#pragma once
#include <string>

namespace tackroom {

/**
 * Fp32: exact. Bf16: inputs and weights of products rounded to bf16, sums in fp32. Int8: inputs in 8 bits by groups of 32,
 * weights as quantised in the file.
 */
enum class Precision { Fp32, Bf16, Int8 };

inline const char* precision_name(Precision p) { return p == Precision::Fp32 ? "fp32" : p == Precision::Bf16 ? "bf16" : "int8"; }

}  // namespace tackroom
