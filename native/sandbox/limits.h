// What a sandboxed process may use and do: cgroups, resource limits, capabilities, system calls.
#pragma once

#include "options.h"

namespace sandbox {

/// Moves the calling process into every folder. Throws std::system_error.
void join_cgroups(const std::vector<std::string>& cgroups);

/// Sets every limit soft = hard, never above the hard limit already there; no core files.
void set_rlimits(const Limits& limits);

/// no_new_privs, no capability in any set (bounding and ambient too).
void drop_privileges();

}  // namespace sandbox
