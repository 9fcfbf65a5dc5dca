/** What this processor can do, and which level of it the kernels use. */
#include <cpuid.h>

#include <cstdlib>
#include <cstring>

#include "../error.h"
#include "kernels.h"
#include "packed_bodies.h"

namespace tackroom {
namespace {

uint64_t enabled_states() {
  uint32_t lo, hi;
  __asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return uint64_t{hi} << 32 | lo;
}

constexpr struct {
  const char* name;
  KernelLevel level;
} kLevels[] = {{"baseline", KernelLevel::baseline}, {"avx2", KernelLevel::avx2}, {"avx512", KernelLevel::avx512}, {"amx", KernelLevel::amx}};

KernelLevel choose_level() {
  const char* wanted = std::getenv("TACKROOM_KERNELS");
  KernelLevel best = KernelLevel::baseline;
  for (const auto& [name, level] : kLevels) {
    if (!runs_here(level)) continue;
    best = level;
    if (wanted != nullptr && std::strcmp(wanted, name) == 0) return level;
  }
  if (wanted == nullptr || *wanted == '\0') return best;
  fail("BAD_ARGUMENT", "TACKROOM_KERNELS=%s names no kernel set that runs on this processor.", wanted);
}

}  // namespace

CpuInfo cpu_info() {
  CpuInfo info = {};
  uint32_t a, b, c, d;
  char vendor[13] = {};
  if (__get_cpuid(0, &a, &b, &c, &d) != 0) std::memcpy(vendor, &b, 4), std::memcpy(vendor + 4, &d, 4), std::memcpy(vendor + 8, &c, 4);
  for (uint32_t leaf = 0; leaf < 3; leaf++) {
    if (__get_cpuid(0x80000002 + leaf, &a, &b, &c, &d) == 0) break;
    const uint32_t words[4] = {a, b, c, d};
    std::memcpy(info.brand + 16 * leaf, words, 16);
  }
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 27 & 1) == 0) return info;
  const bool fma = (c >> 12 & 1) != 0 && (c >> 29 & 1) != 0;  // with conversions of f16
  const uint64_t states = enabled_states();
  const bool ymm = (states & 0x6) == 0x6, zmm = (states & 0xE6) == 0xE6, tiles = (states & 0x60000) == 0x60000;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return info;
  info.avx2 = ymm && fma && (b >> 5 & 1) != 0;
  info.avx512 = zmm && info.avx2 && (b >> 16 & 1) != 0 && (b >> 17 & 1) != 0 && (b >> 30 & 1) != 0 && (b >> 31 & 1) != 0;
  info.avx512vnni = info.avx512 && (c >> 11 & 1) != 0;
  info.amx = tiles && info.avx512 && (d >> 22 & 1) != 0 && (d >> 24 & 1) != 0 && (d >> 25 & 1) != 0 && (c >> 1 & 1) != 0;  // with vpermb
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) info.avx512bf16 = info.avx512 && (a >> 5 & 1) != 0;
  info.fast_bf16 = info.avx512bf16 && std::strcmp(vendor, "AuthenticAMD") == 0;
  return info;
}

bool runs_here(KernelLevel level) {
  static const CpuInfo cpu = cpu_info();
  switch (level) {
    case KernelLevel::baseline: return true;
    case KernelLevel::avx2: return cpu.avx2;
    case KernelLevel::avx512: return cpu.avx512;
    case KernelLevel::amx: return cpu.amx && cpu.avx512vnni && amx_permitted();
  }
  return false;
}

KernelLevel kernel_level() {
  static const KernelLevel level = choose_level();
  return level;
}

}  // namespace tackroom
