#include "options.h"

#include <sys/resource.h>

#include <stdexcept>
#include <string_view>

namespace sandbox {
namespace {

int rlimit_of(std::string_view flag) {
  if (flag == "--cpu") return RLIMIT_CPU;
  if (flag == "--fsize") return RLIMIT_FSIZE;
  if (flag == "--data") return RLIMIT_DATA;
  if (flag == "--nproc") return RLIMIT_NPROC;
  if (flag == "--nofile") return RLIMIT_NOFILE;
  return -1;
}

bool tree_kind_of(std::string_view flag, TreeEntry::Kind& kind) {
  if (flag == "--ro") kind = TreeEntry::Kind::kReadOnly;
  else if (flag == "--rw") kind = TreeEntry::Kind::kReadWrite;
  else if (flag == "--symlink") kind = TreeEntry::Kind::kSymlink;
  else if (flag == "--tmpfs") kind = TreeEntry::Kind::kTmpfs;
  else if (flag == "--file") kind = TreeEntry::Kind::kFile;
  else return false;
  return true;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  int at = 0;
  auto value = [&](std::string_view flag) -> std::string {
    if (at >= argc) throw std::invalid_argument("no value after " + std::string(flag));
    return argv[at++];
  };
  while (at < argc) {
    const std::string flag = argv[at++];
    TreeEntry::Kind kind{};
    if (flag == "--") {
      options.command.assign(argv + at, argv + argc);
      break;
    }
    if (tree_kind_of(flag, kind)) {
      std::string source = value(flag);
      options.tree.push_back({kind, std::move(source), value(flag)});
    } else if (const int resource = rlimit_of(flag); resource >= 0) {
      options.limits.rlimits.emplace_back(resource, std::stoul(value(flag)));
    } else if (flag == "--cgroup") {
      options.limits.cgroups.push_back(value(flag));
    } else if (flag == "--chdir") {
      options.cwd = value(flag);
    } else if (flag == "--harden") {
      options.harden = true;
    } else {
      throw std::invalid_argument("unknown option " + flag);
    }
  }
  if (options.command.empty()) throw std::invalid_argument("no command after --");
  return options;
}

}  // namespace sandbox
