#include "random.h"

#include <array>
#include <cmath>

namespace tackroom {
namespace {

std::array<uint64_t, 2> philox(uint64_t seed, uint64_t counter) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0, p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return {uint64_t{c1} << 32 | c0, uint64_t{c3} << 32 | c2};
}

double to_unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

double random_uniform(uint64_t seed, uint64_t counter) { return to_unit(philox(seed, counter)[0]); }

double random_normal(uint64_t seed, uint64_t counter) {
  const auto [first, second] = philox(seed, counter);
  return std::sqrt(-2 * std::log(1 - to_unit(first))) * std::cos(2 * M_PI * to_unit(second));
}

}  // namespace tackroom
