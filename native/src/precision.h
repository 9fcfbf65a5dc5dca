/** The arithmetic of matrix products; everything else (norms, softmax, residual stream, loss) is fp32 in all of them. */
#pragma once
#include <string>

namespace tackroom {

/**
 * Fp32: exact. Bf16: inputs and weights of products rounded to bf16, sums in fp32. Int16: both as integers of 13 bits with a scale for
 * 128 of them, closer than bf16 for most inputs; matrices in F32 and F16 are packed as bf16 before, as for Bf16. Int8: inputs in 8 bits by groups of 32, weights as quantised in the file.
 */
enum class Precision { Fp32, Bf16, Int16, Int8 };

inline const char* precision_name(Precision p) {
  switch (p) {
    case Precision::Fp32: return "fp32";
    case Precision::Bf16: return "bf16";
    case Precision::Int16: return "int16";
    case Precision::Int8: return "int8";
  }
  return "";
}

}  // namespace tackroom
