#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "error.h"
#include "file_io.h"

namespace tackroom {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_io(const char* what, const std::string& path) {
  fail("IO", "Could not %s %s: %s.", what, path.c_str(), std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path, const char* missing_code) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must be refused, not waited for
  if (fd < 0 && errno == ENOENT) fail(missing_code, "%s does not exist.", path.c_str());
  if (fd < 0) fail_io("open", path);
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    fail("IO", "%s is not a file.", path.c_str());
  }
  size_ = static_cast<size_t>(info.st_size);
  void* address = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (address == MAP_FAILED) fail_io("map", path);
  data_ = static_cast<const char*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string read_text(const std::string& path, const char* missing_code) {
  const MappedFile file(path, missing_code);
  return std::string(file.data() == nullptr ? "" : file.data(), file.size());
}

}  // namespace tackroom
