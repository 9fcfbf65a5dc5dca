#include "syscall_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <vector>

#include "check.h"

namespace sandbox {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "sandbox-launch knows the system calls of x86-64 and arm64 only"
#endif

/// A worker's sandbox outlives a rollout, so what a rollout could leave outside the file system is refused as well.
constexpr unsigned kDenied[] = {
    // other processes' memory and file descriptors
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
    // objects that live on without a process: System V IPC, POSIX queues, keys
    SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_add_key, SYS_request_key, SYS_keyctl,
    // namespaces and mounts
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    // large kernel surfaces no task needs
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_kexec_load, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl};

/// Families that stay within the sandbox's own network. AF_VSOCK above all knows no namespaces: it reaches the host of a
/// virtual machine.
constexpr unsigned kFamilies[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

/// Refuses a socket of any other family. Expects the system call's number in the accumulator, and leaves it there.
void limit_families(std::vector<sock_filter>& program, unsigned number) {
  constexpr unsigned char families = std::size(kFamilies);
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, families + 3));
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])));
  for (unsigned char at = 0; at < families; at++)
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kFamilies[at], static_cast<unsigned char>(families - at), 0));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

constexpr int kAlways = -1;
constexpr unsigned kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

/// Refuses set-user-id and set-group-id bits in the mode of a call. A worker's files lie on the host, where such a file
/// of root's would give root to whoever reaches it. `flags_at`: the call sets a mode only when these create a file.
/// Expects the system call's number in the accumulator, and leaves it there.
void refuse_privilege_bits(std::vector<sock_filter>& program, unsigned number, int mode_at, int flags_at = kAlways) {
  const auto argument = [](int at) -> sock_filter { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * at)); };
  const unsigned char checks = flags_at == kAlways ? 0 : 2;
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, static_cast<unsigned char>(checks + 4)));
  if (flags_at != kAlways) {
    program.push_back(argument(flags_at));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kCreates, 0, 3));
  }
  program.push_back(argument(mode_at));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

void refuse_privilege_bits(std::vector<sock_filter>& program) {
  constexpr unsigned fchmodat2 = 452;  // the same number on all architectures, younger than some headers
#if defined(__x86_64__)
  refuse_privilege_bits(program, SYS_chmod, 1);
  refuse_privilege_bits(program, SYS_creat, 1);
  refuse_privilege_bits(program, SYS_mknod, 1);
  refuse_privilege_bits(program, SYS_open, 2, 1);
#endif
  refuse_privilege_bits(program, SYS_fchmod, 1);
  refuse_privilege_bits(program, SYS_fchmodat, 2);
  refuse_privilege_bits(program, fchmodat2, 2);
  refuse_privilege_bits(program, SYS_mknodat, 2);
  refuse_privilege_bits(program, SYS_openat, 3, 2);
  // Its mode lies in memory, where a filter cannot look; callers fall back to openat.
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
}

}  // namespace

void filter_system_calls() {
  std::vector<sock_filter> program{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
      // x32 numbers would slip past the list.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
  };
  for (const unsigned number : kDenied) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  limit_families(program, SYS_socket);
  limit_families(program, SYS_socketpair);
  refuse_privilege_bits(program);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), "install the system call filter");
}

}  // namespace sandbox
