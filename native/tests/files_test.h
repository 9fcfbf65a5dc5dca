/** Counting of checks for files_test. */
#pragma once
#include <string>

namespace tackroom {

/** Prints the message when `good` is false, and counts. Returns `good`. */
__attribute__((format(printf, 2, 3))) bool check(bool good, const char* format, ...);

/** GGUF files and adapters of ../shared/golden against the folders of the same weights. */
void test_golden_sources(const std::string& golden);
/** Files written by the test: adapters with stacks of experts, versions, and what must be refused. */
void test_written_sources(const std::string& scratch, const std::string& golden);

}  // namespace tackroom
