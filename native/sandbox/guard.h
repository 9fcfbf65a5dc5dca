// The outermost process of a sandbox: whatever happens, nothing of it stays behind.
#pragma once

#include <string>
#include <vector>

namespace sandbox {

/// Runs `command` and waits for it. When the other end of `lifeline` is closed, because the caller gave the sandbox up
/// or was itself killed, everything that descends from here is killed, also processes that lost their parents while
/// the sandbox was being made. Returns the command's exit code, 128 + signal for a killed one, 137 after a kill.
int guard(int lifeline, const std::vector<std::string>& command);

}  // namespace sandbox
