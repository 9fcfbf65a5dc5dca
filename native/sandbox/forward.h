// A byte relay from a loopback port inside the sandbox to a unix socket of the host.
#pragma once

#include <string>

namespace sandbox {

/// Listens on 127.0.0.1:`port`, then leaves a background process that joins every connection with a new connection to
/// `socket_path`. Returns once connections are accepted. A socket that cannot be reached closes the connection.
void start_forwarder(unsigned short port, const std::string& socket_path);

}  // namespace sandbox
