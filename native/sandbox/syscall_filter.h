// Seccomp filter against calls that reach into another process or leave something behind in the kernel.
#pragma once

namespace sandbox {

/// Needs no_new_privs. From here on, in this process and all its children, the listed calls fail with EPERM.
void filter_system_calls();

}  // namespace sandbox
