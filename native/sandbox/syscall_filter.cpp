#include "syscall_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), "install the system call filter");
}

}  // namespace sandbox
