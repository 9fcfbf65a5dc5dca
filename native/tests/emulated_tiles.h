#pragma once
#include "../src/kernels/packed_bodies.h"

namespace tackroom::test {

/** Puts the bodies for tile registers into a table of the AVX-512 level, with tiles in memory. Needs AVX-512 and VNNI. */
void add_emulated_tile_bodies(PackedKernels& table);

}  // namespace tackroom::test
