/** Bodies for processors with tile registers, and the permission to use them. */
#include <sys/syscall.h>
#include <unistd.h>

#include "amx_bf16_impl.h"
#include "amx_int8_impl.h"

namespace tackroom {

bool amx_permitted() {
#if defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM and the state component, asm/prctl.h
  static const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return permitted;
#else
  return false;
#endif
}

void add_amx_bodies(PackedKernels& table) {
  table.bf16.body = table.int8_body = "amx";
  table.bf16.gains = true;
  table.bf16.gemm = TACKROOM_ISA::gemm_bf16;
  table.gemm_int8 = TACKROOM_ISA::gemm_int8;
  table.laid_rows = TACKROOM_ISA::kLeastTileRows - 1;  // more rows go through tiles, which want another form
}

}  // namespace tackroom
