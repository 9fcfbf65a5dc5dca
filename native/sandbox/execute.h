// Becoming another program.
#pragma once

#include <string>
#include <vector>

namespace sandbox {

/// Replaces the process by `command`, found on PATH. Throws std::system_error when that fails.
[[noreturn]] void execute(const std::vector<std::string>& command);

}  // namespace sandbox
