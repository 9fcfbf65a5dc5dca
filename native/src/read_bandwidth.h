/** How fast this machine reads memory: what bounds decoding. */
#pragma once
#include <cstddef>

namespace tackroom {

/** Bytes a second of a sum over a buffer of `bytes`, split over the threads (0: number of cores); best of half a second. */
double read_bandwidth(size_t bytes, int threads);

}  // namespace tackroom
