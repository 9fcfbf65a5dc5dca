#include "namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "check.h"

namespace sandbox {
namespace {

void write_file(const char* path, const std::string& text) {
  const int fd = check(open(path, O_WRONLY | O_CLOEXEC), std::string("open ") + path);
  const ssize_t written = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  errno = error;
  check(written, std::string("write ") + path);
}

}  // namespace

void enter_namespaces() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  check(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS),
        "create namespaces");
  // Kernels without cgroup namespaces answer EINVAL; the folder tree is not mounted inside either way.
  if (unshare(CLONE_NEWCGROUP) < 0 && errno != EINVAL) check(-1, "create a cgroup namespace");
  const std::string inside = std::to_string(kInsideId);
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", inside + " " + std::to_string(uid) + " 1\n");
  write_file("/proc/self/gid_map", inside + " " + std::to_string(gid) + " 1\n");
  check(sethostname("sandbox", 7), "set the host name");
}

void bring_loopback_up() {
  const int fd = check(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  check(ioctl(fd, SIOCGIFFLAGS, &request), "read the loopback flags");
  request.ifr_flags |= IFF_UP | IFF_RUNNING;
  check(ioctl(fd, SIOCSIFFLAGS, &request), "start the loopback device");
  close(fd);
}

}  // namespace sandbox
