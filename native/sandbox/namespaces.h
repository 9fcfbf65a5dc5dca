// New namespaces for the calling process and its children.
#pragma once

namespace sandbox {

/// User id and group id every sandboxed process sees; the caller's own ids stand behind them outside.
inline constexpr unsigned kInsideId = 1000;

/// Leaves the caller in new user, mount, IPC, UTS, network and (where the kernel has them) cgroup namespaces; its next
/// child is process 1 of a new process namespace. Throws std::system_error.
void enter_namespaces();

/// Starts the loopback device, the only one there is.
void bring_loopback_up();

}  // namespace sandbox
