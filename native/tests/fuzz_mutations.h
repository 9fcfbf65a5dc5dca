/** What the fuzzer does to a valid input. */
#pragma once
#include <random>

#include "fuzz_inputs.h"

namespace tackroom {

using Random = std::mt19937_64;

/**
 * One to four changes to the files of `input`: flipped bits, cut and spliced pieces (also of `other`), lying lengths, JSON
 * with impossible numbers, deep nesting and doubled keys; rarely a whole hostile header.
 */
void mutate(FuzzInput& input, const FuzzInput& other, FuzzKind kind, Random& random);

}  // namespace tackroom
