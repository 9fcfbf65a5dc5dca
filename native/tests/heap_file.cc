#include "heap_file.h"

#include <cstdlib>
#include <cstring>

#include "error.h"
#include "file_io.h"

namespace tackroom {

HeapFiles& heap_files() {
  static HeapFiles files;
  return files;
}

MappedFile::MappedFile(const std::string& path, const char* missing_code) {
  const auto found = heap_files().find(path);
  if (found == heap_files().end()) fail(missing_code, "%s does not exist.", path.c_str());
  size_ = found->second.size();
  if (size_ == 0) return;
  // malloc, not new: a mapping is no allocation of the reader's.
  auto* copy = static_cast<char*>(std::malloc(size_));
  std::memcpy(copy, found->second.data(), size_);
  data_ = copy;
}

MappedFile::~MappedFile() { std::free(const_cast<char*>(data_)); }

bool file_exists(const std::string& path) { return heap_files().count(path) != 0; }

std::string read_text(const std::string& path, const char* missing_code) {
  const MappedFile file(path, missing_code);
  return std::string(file.data() == nullptr ? "" : file.data(), file.size());
}

}  // namespace tackroom
