/** Which kernel set runs here. */
#include "kernels.h"

namespace tackroom {

const Kernels& kernels() {
  static const Kernels& chosen = *(kernel_level() >= KernelLevel::avx512 ? avx512_kernels()
                                   : kernel_level() == KernelLevel::avx2 ? avx2_kernels()
                                                                         : baseline_kernels());
  return chosen;
}

}  // namespace tackroom
