/** Which kernel set runs here. */
#include <cpuid.h>

#include <cstdlib>
#include <cstring>

#include "../error.h"
#include "kernels.h"

namespace tackroom {
namespace {

uint64_t enabled_states() {
  uint32_t lo, hi;
  __asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return uint64_t{hi} << 32 | lo;
}

const Kernels& choose() {
  const CpuInfo cpu = cpu_info();
  const char* wanted = std::getenv("TACKROOM_KERNELS");
  if (wanted == nullptr || *wanted == '\0') return *(cpu.avx512 ? avx512_kernels() : cpu.avx2 ? avx2_kernels() : baseline_kernels());
  if (std::strcmp(wanted, "baseline") == 0) return *baseline_kernels();
  if (std::strcmp(wanted, "avx2") == 0 && cpu.avx2) return *avx2_kernels();
  if (std::strcmp(wanted, "avx512") == 0 && cpu.avx512) return *avx512_kernels();
  fail("BAD_ARGUMENT", "TACKROOM_KERNELS=%s names no kernel set that runs on this processor.", wanted);
}

}  // namespace

CpuInfo cpu_info() {
  CpuInfo info = {};
  uint32_t a, b, c, d;
  for (uint32_t leaf = 0; leaf < 3; leaf++) {
    if (__get_cpuid(0x80000002 + leaf, &a, &b, &c, &d) == 0) break;
    const uint32_t words[4] = {a, b, c, d};
    std::memcpy(info.brand + 16 * leaf, words, 16);
  }
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 27 & 1) == 0) return info;
  const bool fma = (c >> 12 & 1) != 0;
  const uint64_t states = enabled_states();
  const bool ymm = (states & 0x6) == 0x6, zmm = (states & 0xE6) == 0xE6, tiles = (states & 0x60000) == 0x60000;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return info;
  info.avx2 = ymm && fma && (b >> 5 & 1) != 0;
  info.avx512 = zmm && info.avx2 && (b >> 16 & 1) != 0 && (b >> 17 & 1) != 0 && (b >> 30 & 1) != 0 && (b >> 31 & 1) != 0;
  info.amx = tiles && (d >> 24 & 1) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) info.avx512bf16 = info.avx512 && (a >> 5 & 1) != 0;
  return info;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace tackroom
