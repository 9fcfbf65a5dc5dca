/** Which bodies of the 16-, 8- and 4-bit products run here, and the memory they work in. */
#include <cstdlib>

#include "../error.h"
#include "packed_bodies.h"

namespace tackroom {
namespace {

struct Scratch {
  void* memory = nullptr;
  size_t bytes = 0;
  ~Scratch() { std::free(memory); }
};
thread_local Scratch scratch;

}  // namespace

void* packed_scratch(size_t bytes) {
  Scratch& s = scratch;
  if (s.bytes >= bytes) return s.memory;
  const size_t size = (bytes + bytes / 4 + 4095) / 4096 * 4096;
  std::free(s.memory);
  s.bytes = 0;
  s.memory = std::aligned_alloc(4096, size);
  if (s.memory == nullptr) fail("OUT_OF_MEMORY", "No memory for %zu bytes of work space of a matrix product.", size);
  s.bytes = size;
  return s.memory;
}

PackedKernels packed_table(KernelLevel level) {
  const CpuInfo cpu = cpu_info();
  PackedKernels table = {};
  add_portable_bodies(table);
  if (level >= KernelLevel::avx2) add_avx2_bodies(table);
  if (level >= KernelLevel::avx512) {
    add_avx512_bodies(table);
    if (cpu.avx512bf16 && cpu.fast_bf16) add_avx512bf16_bodies(table);
    if (cpu.avx512vnni) add_vnni_bodies(table), add_int16_bodies(table);
  }
  if (level >= KernelLevel::amx) add_amx_bodies(table);
  return table;
}

const PackedKernels& packed_kernels() {
  static const PackedKernels table = packed_table(kernel_level());
  return table;
}

}  // namespace tackroom
