// Turns a failed system call into an exception that says what was tried.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace sandbox {

/// Returns `result` unchanged, or throws std::system_error ("<what>: <strerror>") when it is negative.
template <typename Integer>
Integer check(Integer result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace sandbox
