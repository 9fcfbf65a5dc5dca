#include "limits.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "check.h"

namespace sandbox {

void join_cgroups(const std::vector<std::string>& cgroups) {
  for (const std::string& dir : cgroups) {
    const std::string file = dir + "/cgroup.procs";
    const int fd = check(open(file.c_str(), O_WRONLY | O_CLOEXEC), "open " + file);
    const ssize_t written = write(fd, "0", 1);
    const int error = errno;
    close(fd);
    errno = error;
    check(written, "join " + dir);
  }
}

void set_rlimits(const Limits& limits) {
  const rlimit none{0, 0};
  check(setrlimit(RLIMIT_CORE, &none), "limit core files");
  for (const auto& [resource, wanted] : limits.rlimits) {
    const auto id = static_cast<__rlimit_resource>(resource);
    rlimit now{};
    check(getrlimit(id, &now), "read a resource limit");
    const rlim_t value = std::min<rlim_t>(wanted, now.rlim_max);
    const rlimit limit{value, value};
    check(setrlimit(id, &limit), "set a resource limit");
  }
}

void drop_privileges() {
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear ambient capabilities");
  // Fails with EPERM where the process holds no capability to begin with, and with EINVAL past the last one.
  for (int capability = 0; capability <= 63; ++capability)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) break;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  check(syscall(SYS_capset, &header, data), "drop capabilities");
}

}  // namespace sandbox
