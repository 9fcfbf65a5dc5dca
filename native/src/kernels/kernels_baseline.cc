#include "table_impl.h"

namespace tackroom {

const Kernels* baseline_kernels() {
  static constexpr Kernels table = TACKROOM_ISA::make_table("baseline");
  return &table;
}

}  // namespace tackroom
