/** Errors of the native engine: `code` is one of NativeErrorCode in native/addon.ts, `what()` is one plain sentence. */
#pragma once
#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace tackroom {

class EngineError : public std::runtime_error {
 public:
  EngineError(const char* error_code, const std::string& message) : std::runtime_error(message), code(error_code) {}
  const char* code;
};

/** Throws an EngineError whose sentence is formatted as by printf. */
[[noreturn]] __attribute__((format(printf, 2, 3))) inline void fail(const char* code, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  throw EngineError(code, text);
}

}  // namespace tackroom
