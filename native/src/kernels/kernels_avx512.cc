#include "table_impl.h"

namespace tackroom {

const Kernels* avx512_kernels() {
  static constexpr Kernels table = TACKROOM_ISA::make_table("avx512");
  return &table;
}

}  // namespace tackroom
