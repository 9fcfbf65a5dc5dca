/** Loops whose speed is the limit the kernels are measured against. */
#pragma once
#include <cstdint>

namespace tackroom::test {

/** 16 vpdpbusd (2048 operations) an iteration. */
void vnni_peak_loop(int64_t iterations);
/** 16 vdpbf16ps (1024 operations) an iteration. */
void bf16_peak_loop(int64_t iterations);
/** Reads memory once, with AVX-512 loads and prefetches. */
int64_t read_loop(const void* memory, int64_t bytes);
/** The same with 8-byte loads, for other processors. */
int64_t read_loop_plain(const void* memory, int64_t bytes);

}  // namespace tackroom::test
