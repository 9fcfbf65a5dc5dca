/** Files: whole-file mapping for reading, and writing that leaves either the old state or the new one. */
#pragma once
#include <cstddef>
#include <string>

namespace tackroom {

/** A read-only memory mapping of a file. Throws IO (or `missing_code` when the file does not exist). */
class MappedFile {
 public:
  MappedFile(const std::string& path, const char* missing_code);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

bool file_exists(const std::string& path);
std::string read_text(const std::string& path, const char* missing_code);

/** Appends to a new file; `close` syncs it to the disk. Throws IO with the system's reason. */
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(const void* data, size_t bytes);
  void close();

 private:
  std::string path_;
  int fd_;
};

/**
 * A folder that appears complete or not at all: files are written to `path()`, a sibling, and `commit` renames it over
 * the target. A target that already holds other files (a tokenizer beside the weights) keeps them: they are linked into the
 * new folder, and the two folders change places in one step. Siblings that a killed process left are removed first.
 */
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& target);
  ~AtomicFolder();
  const std::string& path() const { return staging_; }
  /** Copies a file into the folder under its own name. */
  void copy(const std::string& file);
  void commit();

 private:
  std::string target_, staging_;
};

/** Renames `from` over `to` and syncs the folder that holds them. */
void rename_durably(const std::string& from, const std::string& to);

}  // namespace tackroom
