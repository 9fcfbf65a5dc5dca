#include "guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "check.h"
#include "execute.h"
#include "supervise.h"

namespace sandbox {
namespace {

constexpr int kKilled = 128 + SIGKILL;

/// Parent of a process by /proc/PID/stat, 0 when it is gone. The name before it may hold any character.
pid_t parent_of(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  const std::string stat(text, static_cast<size_t>(length));
  const size_t end = stat.rfind(')');
  return end == std::string::npos || end + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + end + 4);
}

void kill_children() {
  const pid_t self = getpid();
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (!proc) return;
  while (const dirent* entry = readdir(proc.get())) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0 && parent_of(pid) == self) kill(pid, SIGKILL);
  }
}

/// The guard adopts every orphan below it, so killing children until there are none ends the whole tree.
void kill_all() {
  for (;;) {
    const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0 && errno == ECHILD) return;
    if (reaped > 0) continue;
    kill_children();
    usleep(1000);
  }
}

int watch(pid_t child, int lifeline, int signals) {
  pollfd ends[2] = {{signals, POLLIN, 0}, {lifeline, POLLIN, 0}};
  for (;;) {
    if (poll(ends, 2, -1) < 0) continue;
    if (ends[1].revents != 0) return kKilled;
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo != SIGCHLD) {
      kill(child, static_cast<int>(info.ssi_signo));
      continue;
    }
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG))
      if (pid == child) return exit_code(status);
  }
}

}  // namespace

int guard(int lifeline, const std::vector<std::string>& command) {
  check(fcntl(lifeline, F_SETFD, FD_CLOEXEC), "keep the lifeline");
  check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "adopt orphans");
  block_signals();
  const sigset_t set = handled_signals();
  const int signals = check(signalfd(-1, &set, SFD_CLOEXEC), "watch signals");
  const pid_t child = check(fork(), "start the sandbox");
  if (child == 0) {
    unblock_signals();
    execute(command);
  }
  const int code = watch(child, lifeline, signals);
  kill_all();
  return code;
}

}  // namespace sandbox
