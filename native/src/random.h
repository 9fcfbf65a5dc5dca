/**
 * Counter-based random numbers: the value at (seed, counter) needs no state, so a draw does not depend on what was drawn
 * before or beside it. Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011).
 */
#pragma once
#include <cstdint>

namespace tackroom {

/** Uniform in [0, 1), 53 bits. */
double random_uniform(uint64_t seed, uint64_t counter);
/** Standard normal (Box-Muller on one Philox block). */
double random_normal(uint64_t seed, uint64_t counter);

}  // namespace tackroom
