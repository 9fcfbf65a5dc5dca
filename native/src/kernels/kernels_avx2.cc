#include "table_impl.h"

namespace tackroom {

const Kernels* avx2_kernels() {
  static constexpr Kernels table = TACKROOM_ISA::make_table("avx2");
  return &table;
}

}  // namespace tackroom
