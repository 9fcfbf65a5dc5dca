// Command line of sandbox-launch; see launch.cpp for the grammar.
#pragma once

#include <string>
#include <vector>

namespace sandbox {

/// One entry of the private file tree, made in the order given.
struct TreeEntry {
  enum class Kind { kReadOnly, kReadWrite, kSymlink, kTmpfs, kFile };
  Kind kind;
  /// Host path (binds), link text (symlink), size in bytes (tmpfs), content (file).
  std::string source;
  /// Absolute path inside.
  std::string target;
};

struct Limits {
  /// Cgroup folders to join before anything else (v1: one per controller).
  std::vector<std::string> cgroups;
  /// Resource limits by RLIMIT_* number; both soft and hard.
  std::vector<std::pair<int, unsigned long>> rlimits;
};

struct Options {
  std::vector<TreeEntry> tree;
  Limits limits;
  std::string cwd;
  bool harden = false;
  std::vector<std::string> command;
};

/// Parses everything up to "--"; the rest is the command. Throws std::invalid_argument.
Options parse_options(int argc, char** argv);

}  // namespace sandbox
