#include "file_io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "error.h"

namespace tackroom {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_io(const char* what, const std::string& path) {
  fail("IO", "Could not %s %s: %s.", what, path.c_str(), std::strerror(errno));
}

void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

constexpr const char* kStaging = ".tmp-";
constexpr const char* kAside = ".old";

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string staging_name(const std::string& target) {
  static unsigned serial = 0;
  return without_slash(target) + kStaging + std::to_string(::getpid()) + "-" + std::to_string(__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
}

/** The process of a staging name's end, "PID-SERIAL" or "PID-SERIAL.old"; 0 for any other text. */
pid_t owner_of(const std::string& end) {
  int pid = 0, length = 0;
  unsigned serial = 0;
  if (end.empty() || end[0] < '0' || end[0] > '9' || std::sscanf(end.c_str(), "%9d-%9u%n", &pid, &serial, &length) != 2) return 0;
  const std::string rest = end.substr(static_cast<size_t>(length));
  return rest.empty() || rest == kAside ? pid : 0;
}

/** Removes what saves of ended processes left beside `target`; a target that had stepped aside and was never replaced comes back. */
void remove_abandoned(const std::string& target) {
  const fs::path whole = without_slash(target);
  const std::string stem = whole.filename().string() + kStaging;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent_of(whole.string()), ignored)) {
    const std::string name = entry.path().filename().string();
    const pid_t pid = name.rfind(stem, 0) == 0 ? owner_of(name.substr(stem.size())) : 0;
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    if (name.ends_with(kAside) && !fs::exists(whole, ignored)) fs::rename(entry.path(), whole, ignored);
    else fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (fd_ < 0) fail_io("create", path);
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void FileWriter::write(const void* data, size_t bytes) {
  auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_io("write", path_);
    at += written;
    bytes -= static_cast<size_t>(written);
  }
}

void FileWriter::close() {
  if (::fsync(fd_) != 0) fail_io("sync", path_);
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail_io("close", path_);
}

void rename_durably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_io("replace", to);
  sync_folder(parent_of(to));
}

AtomicFolder::AtomicFolder(const std::string& target) : target_(target), staging_(staging_name(target)) {
  remove_abandoned(target);
  std::error_code error;
  fs::create_directories(staging_, error);
  if (error) fail("IO", "Could not create %s: %s.", staging_.c_str(), error.message().c_str());
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
}

namespace {

/** Weights of an earlier save; beside new ones they would describe another model. */
bool is_stale_weight(const std::string& name) {
  return name == "model.safetensors.index.json" || (name.rfind("model-", 0) == 0 && name.find(".safetensors") != std::string::npos);
}

/** Links what the old folder holds beside into the new one, so that a tokenizer stays with its model. */
void keep_others(const fs::path& from, const fs::path& to, bool top) {
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path target = to / entry.path().filename();
    std::error_code error;
    if (entry.is_directory() && !entry.is_symlink()) {
      fs::create_directory(target, error);
      keep_others(entry.path(), target, false);
    } else if (!fs::exists(fs::symlink_status(target)) && !(top && is_stale_weight(entry.path().filename().string()))) {
      fs::create_hard_link(entry.path(), target, error);
      if (error) fs::copy(entry.path(), target, fs::copy_options::copy_symlinks, error);
      if (error) fail("IO", "Could not keep %s beside the new files: %s.", entry.path().c_str(), error.message().c_str());
    }
  }
}

}  // namespace

void AtomicFolder::copy(const std::string& file) {
  const MappedFile from(file, "IO");
  FileWriter to((fs::path(staging_) / fs::path(file).filename()).string());
  to.write(from.data(), from.size());
  to.close();
}

void AtomicFolder::commit() {
  std::error_code error;
  sync_folder(staging_);
  if (!fs::exists(target_) || (fs::is_directory(target_) && fs::is_empty(target_, error))) return rename_durably(staging_, target_);
  if (!fs::is_directory(target_)) fail("IO", "%s exists and is not a folder.", target_.c_str());
  keep_others(target_, staging_, true);
  sync_folder(staging_);
#if defined(SYS_renameat2) && defined(RENAME_EXCHANGE)
  if (::syscall(SYS_renameat2, AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    sync_folder(parent_of(target_));
    fs::remove_all(staging_, error);
    return;
  }
#endif
  // A file system that cannot exchange folders: the old one steps aside, and a kill between the two leaves it there.
  const std::string aside = staging_ + kAside;
  rename_durably(target_, aside);
  rename_durably(staging_, target_);
  fs::remove_all(aside, error);
}

}  // namespace tackroom
