#include "mount_tree.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "check.h"

namespace sandbox {
namespace {

// While the tree is built the namespace's root is a scratch tmpfs with these two folders.
const std::string kOld = "/old";
const std::string kNew = "/new";

void make_dirs(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), 0755);
  if (mkdir(path.c_str(), 0755) < 0 && errno != EEXIST) check(-1, "make " + path);
}

void make_parent(const std::string& path) { make_dirs(path.substr(0, path.rfind('/'))); }

/// Sets flags on a mount and everything below it; needs Linux 5.12.
void set_flags(const std::string& path, unsigned long long flags, unsigned how = AT_RECURSIVE) {
  mount_attr attributes{};
  attributes.attr_set = flags;
  check(syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), how, &attributes, sizeof attributes),
        "restrict " + path);
}

void bind(const std::string& source, const std::string& target, unsigned long long flags) {
  struct stat info{};
  check(stat(source.c_str(), &info), "find " + source.substr(kOld.size()));
  if (S_ISDIR(info.st_mode)) {
    make_dirs(target);
  } else {
    make_parent(target);
    const int fd = check(open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0444), "make " + target);
    close(fd);
  }
  check(mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr), "mount " + target);
  set_flags(target, flags);
}

void write_file(const std::string& content, const std::string& target) {
  make_parent(target);
  const int fd = check(open(target.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444), "make " + target);
  check(write(fd, content.data(), content.size()), "write " + target);
  close(fd);
}

void mount_tmpfs(const std::string& target, const std::string& size, const char* mode) {
  make_dirs(target);
  const std::string data = "size=" + size + ",mode=" + mode;
  check(mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, data.c_str()), "mount " + target);
}

void add_entry(const TreeEntry& entry) {
  const std::string target = kNew + entry.target;
  switch (entry.kind) {
    case TreeEntry::Kind::kReadOnly:
      return bind(kOld + entry.source, target, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    case TreeEntry::Kind::kReadWrite:
      return bind(kOld + entry.source, target, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    case TreeEntry::Kind::kTmpfs:
      return mount_tmpfs(target, entry.source, "1777");
    case TreeEntry::Kind::kFile:
      return write_file(entry.source, target);
    case TreeEntry::Kind::kSymlink:
      make_parent(target);
      check(symlink(entry.source.c_str(), target.c_str()), "link " + entry.target);
  }
}

void mount_dev() {
  const std::string dev = kNew + "/dev";
  mount_tmpfs(dev, "65536", "0755");
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"})
    bind(kOld + "/dev/" + name, dev + "/" + name, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  check(symlink("/proc/self/fd", (dev + "/fd").c_str()), "link /dev/fd");
  check(symlink("/proc/self/fd/0", (dev + "/stdin").c_str()), "link /dev/stdin");
  check(symlink("/proc/self/fd/1", (dev + "/stdout").c_str()), "link /dev/stdout");
  check(symlink("/proc/self/fd/2", (dev + "/stderr").c_str()), "link /dev/stderr");
  make_dirs(dev + "/pts");
  check(mount("devpts", (dev + "/pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"),
        "mount /dev/pts");
  check(symlink("pts/ptmx", (dev + "/ptmx").c_str()), "link /dev/ptmx");
  make_dirs(dev + "/shm");
}

void mount_proc() {
  const std::string proc = kNew + "/proc";
  make_dirs(proc);
  check(mount("proc", proc.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "mount /proc");
}

/// Global switches that a process of root's user id could write even without capabilities.
void protect_proc() {
  for (const char* name : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
    const std::string path = kNew + name;
    if (access(path.c_str(), F_OK) < 0) continue;
    check(mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr), std::string("cover ") + name);
    set_flags(path, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  }
}

/// No user namespace inside, hence no way back to capabilities. The limit belongs to this user namespace only.
void forbid_user_namespaces() {
  const std::string path = kNew + "/proc/sys/user/max_user_namespaces";
  const int fd = check(open(path.c_str(), O_WRONLY | O_CLOEXEC), "open " + path);
  check(write(fd, "0", 1), "forbid user namespaces");
  close(fd);
}

int pivot_root(const char* root, const char* old) { return static_cast<int>(syscall(SYS_pivot_root, root, old)); }

}  // namespace

void build_mount_tree(const std::vector<TreeEntry>& tree) {
  umask(0022);
  check(mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "detach the mounts from the host's");
  check(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), "mount the scratch root");
  check(mkdir("/tmp/old", 0755), "make the scratch root");
  check(mkdir("/tmp/new", 0755), "make the scratch root");
  check(pivot_root("/tmp", "/tmp/old"), "enter the scratch root");
  check(chdir("/"), "enter the scratch root");
  check(mount("tmpfs", kNew.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=16777216"), "mount the root");

  mount_dev();
  mount_proc();
  for (const TreeEntry& entry : tree) add_entry(entry);
  forbid_user_namespaces();
  protect_proc();
  set_flags(kNew + "/dev", MOUNT_ATTR_RDONLY, 0);
  set_flags(kNew, MOUNT_ATTR_RDONLY, 0);

  check(umount2(kOld.c_str(), MNT_DETACH), "detach the host's files");
  check(chdir(kNew.c_str()), "enter the root");
  check(pivot_root(".", "."), "enter the root");
  check(umount2(".", MNT_DETACH), "detach the scratch root");
  check(chdir("/"), "enter the root");
}

}  // namespace sandbox
