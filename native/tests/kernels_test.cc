/**
 * Every body of the packed products that runs on this processor, compared with plain references in double precision and,
 * where exactness is promised, with each other bit by bit.
 *
 * usage: kernels_test [--quick]
 * Prints the bodies, the number of checks and of failures; exits 1 when one failed.
 */
#include "emulated_tiles.h"
#include "support.h"

using namespace tackroom;
using namespace tackroom::test;

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  std::vector<Body> all = bodies();
  if (cpu_info().avx512vnni && !runs_here(KernelLevel::amx)) {
    all.push_back({"amx", packed_table(KernelLevel::avx512)});
    add_emulated_tile_bodies(all.back().table);
  }
  for (const Body& b : all)
    std::printf("level %s: bf16 %s, int16 %s, int8 %s\n", b.name.c_str(), b.table.bf16.body == nullptr ? "none" : b.table.bf16.body, b.table.int16.body, b.table.int8_body);
  test_conversions(all, quick);
  test_bf16(all, quick);
  test_int16(all, quick);
  test_int8(all, quick);
  std::printf("%lld checks, %lld failed\n", static_cast<long long>(checks), static_cast<long long>(failures));
  return failures == 0 ? 0 : 1;
}
