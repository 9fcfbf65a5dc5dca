/**
 * The bodies behind packed.h, one translation unit an instruction set. Each function below replaces in the table what its
 * instructions do better and leaves the rest, so a table is made by calling them from the plainest up.
 */
#pragma once
#include <cstddef>

#include "kernels.h"
#include "packed.h"

namespace tackroom {

void add_portable_bodies(PackedKernels& table);
void add_avx2_bodies(PackedKernels& table);
void add_avx512_bodies(PackedKernels& table);
void add_avx512bf16_bodies(PackedKernels& table);
void add_vnni_bodies(PackedKernels& table);
void add_int16_bodies(PackedKernels& table);
void add_amx_bodies(PackedKernels& table);

/** The bodies of a level that runs here, and of the plainer ones for what it lacks. */
PackedKernels packed_table(KernelLevel level);

/** Asks the kernel once for the tile registers; false where it has none to give. */
bool amx_permitted();

/** At least `bytes` of this thread's own memory, at a multiple of 64. The next call on the thread ends its use; fails with OUT_OF_MEMORY. */
void* packed_scratch(size_t bytes);

void gemm_int8_vnni(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate);

}  // namespace tackroom
