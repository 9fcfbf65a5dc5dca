#include "execute.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sandbox {

void execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw std::system_error(errno, std::generic_category(), "run " + command[0]);
}

}  // namespace sandbox
