/**
 * Files in memory, in the place of mapped ones: each is a heap block of exactly its size, so that the address sanitizer
 * notices the first byte read past the end, which the rest of a mapped page would hide.
 */
#pragma once
#include <map>
#include <string>

namespace tackroom {

using HeapFiles = std::map<std::string, std::string>;
HeapFiles& heap_files();

}  // namespace tackroom
