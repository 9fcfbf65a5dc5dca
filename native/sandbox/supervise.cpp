#include "supervise.h"

#include <signal.h>
#include <sys/wait.h>

#include "check.h"

namespace sandbox {
sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

void block_signals() {
  const sigset_t set = handled_signals();
  check(sigprocmask(SIG_BLOCK, &set, nullptr), "block signals");
}

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  check(sigprocmask(SIG_SETMASK, &none, nullptr), "unblock signals");
}

int supervise(int child) {
  const sigset_t set = handled_signals();
  for (;;) {
    const int signal = sigwaitinfo(&set, nullptr);
    if (signal < 0) continue;
    if (signal != SIGCHLD) {
      kill(child, signal);
      continue;
    }
    int status = 0;
    for (int pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      if (pid != child) continue;
      return exit_code(status);
    }
  }
}

}  // namespace sandbox
