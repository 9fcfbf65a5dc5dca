// sandbox-launch: starts a command with fewer rights than its parent has. Linux only.
//
//   sandbox-launch guard FD -- COMMAND...    runs it, and kills all that came of it when the other end of FD is closed
//   sandbox-launch isolate [TREE...] [LIMIT...] [--chdir DIR] -- COMMAND...   own namespaces and file tree
//   sandbox-launch limit [LIMIT...] [--harden] -- COMMAND...                  only limits (used around bubblewrap)
//   sandbox-launch forward PORT SOCKET -- COMMAND...                          loopback port -> unix socket, then exec
//
//   TREE:  --ro HOST INSIDE | --rw HOST INSIDE | --symlink TEXT INSIDE | --tmpfs BYTES INSIDE |
//          --file CONTENT INSIDE
//   LIMIT: --cgroup DIR | --cpu SECONDS | --fsize BYTES | --data BYTES | --nproc N | --nofile N
//
// Exit code: the command's, 128 + signal when it was killed, 125 when the sandbox could not be made (reason on stderr).
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "execute.h"
#include "forward.h"
#include "guard.h"
#include "limits.h"
#include "mount_tree.h"
#include "namespaces.h"
#include "options.h"
#include "supervise.h"
#include "syscall_filter.h"

namespace sandbox {
namespace {

constexpr int kSetupFailed = 125;

/// /proc/1/cmdline is readable inside; it must not tell where things lie on the host.
void hide_arguments(int argc, char** argv) {
  for (int at = 0; at < argc; ++at) std::memset(argv[at], 0, std::strlen(argv[at]));
}

/// The launcher ends when its parent does, even when that is killed.
void die_with(pid_t parent) {
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "follow the parent");
  if (getppid() != parent) _exit(kSetupFailed);
}

/// Process 1 inside. `start` is a pipe from the launcher: its end without a byte means that the launcher is gone.
int run_init(const Options& options, int start) {
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "follow the launcher");
  char go = 0;
  if (read(start, &go, 1) != 1) return kSetupFailed;
  close(start);
  bring_loopback_up();
  build_mount_tree(options.tree);
  if (!options.cwd.empty()) check(chdir(options.cwd.c_str()), "enter " + options.cwd);
  setsid();
  drop_privileges();
  filter_system_calls();
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "protect process 1");
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "follow the launcher");
  const pid_t child = check(fork(), "start the command");
  if (child == 0) {
    set_rlimits(options.limits);
    unblock_signals();
    execute(options.command);
  }
  return supervise(child);
}

int isolate(int argc, char** argv) {
  const Options options = parse_options(argc - 2, argv + 2);
  const pid_t parent = getppid();
  die_with(parent);
  join_cgroups(options.limits.cgroups);
  enter_namespaces();
  die_with(parent);
  int start[2];
  check(pipe2(start, O_CLOEXEC), "make a pipe");
  block_signals();
  const pid_t init = check(fork(), "start process 1");
  if (init == 0) {
    hide_arguments(argc, argv);
    close(start[1]);
    return run_init(options, start[0]);
  }
  close(start[0]);
  check(write(start[1], "1", 1), "start process 1");
  close(start[1]);
  return supervise(init);
}

int limit(int argc, char** argv) {
  const Options options = parse_options(argc - 2, argv + 2);
  join_cgroups(options.limits.cgroups);
  if (!options.cwd.empty()) check(chdir(options.cwd.c_str()), "enter " + options.cwd);
  if (options.harden) {
    drop_privileges();
    filter_system_calls();
  }
  set_rlimits(options.limits);
  execute(options.command);
}

int forward(int argc, char** argv) {
  if (argc < 6 || std::string(argv[4]) != "--") throw std::invalid_argument("usage: forward PORT SOCKET -- COMMAND...");
  start_forwarder(static_cast<unsigned short>(std::stoul(argv[2])), argv[3]);
  execute({argv + 5, argv + argc});
}

int run_guard(int argc, char** argv) {
  if (argc < 5 || std::string(argv[3]) != "--") throw std::invalid_argument("usage: guard FD -- COMMAND...");
  return guard(std::stoi(argv[2]), {argv + 4, argv + argc});
}

int dispatch(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "guard") return run_guard(argc, argv);
  if (mode == "isolate") return isolate(argc, argv);
  if (mode == "limit") return limit(argc, argv);
  if (mode == "forward") return forward(argc, argv);
  throw std::invalid_argument("first argument must be guard, isolate, limit or forward");
}

}  // namespace
}  // namespace sandbox

int main(int argc, char** argv) {
  try {
    return sandbox::dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sandbox-launch: %s\n", error.what());
    return sandbox::kSetupFailed;
  }
}
