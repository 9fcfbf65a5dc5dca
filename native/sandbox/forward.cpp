#include "forward.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <thread>

#include "check.h"

namespace sandbox {
namespace {

/// Copies until the source ends, then ends the target's input; a broken target ends the source.
void copy_bytes(int from, int to) {
  char buffer[32768];
  for (;;) {
    const ssize_t got = read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    ssize_t done = 0;
    while (done < got) {
      const ssize_t put = send(to, buffer + done, static_cast<size_t>(got - done), MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        shutdown(from, SHUT_RDWR);
        shutdown(to, SHUT_RDWR);
        return;
      }
      done += put;
    }
  }
  shutdown(to, SHUT_WR);
}

void relay(int client, const sockaddr_un& address) {
  const int upstream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (upstream >= 0 && connect(upstream, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::thread answers(copy_bytes, upstream, client);
    copy_bytes(client, upstream);
    answers.join();
  }
  if (upstream >= 0) close(upstream);
  close(client);
}

[[noreturn]] void accept_forever(int listener, const sockaddr_un& address) {
  for (;;) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      usleep(10'000);
      continue;
    }
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::thread(relay, client, address).detach();
  }
}

}  // namespace

void start_forwarder(unsigned short port, const std::string& socket_path) {
  sockaddr_un upstream{};
  upstream.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof upstream.sun_path) throw std::invalid_argument("socket path too long");
  std::strncpy(upstream.sun_path, socket_path.c_str(), sizeof upstream.sun_path - 1);

  const int listener = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a socket");
  const int on = 1;
  check(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "set up the model port");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), "take the model port");
  check(listen(listener, 64), "listen on the model port");

  // Two forks: process 1 becomes the parent, so the command never sees a child it did not start.
  const pid_t middle = check(fork(), "start the forwarder");
  if (middle > 0) {
    close(listener);
    check(waitpid(middle, nullptr, 0), "start the forwarder");
    return;
  }
  if (fork() != 0) _exit(0);
  setsid();
  prctl(PR_SET_NAME, "model-forward", 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3 && null >= 0; ++fd) dup2(null, fd);
  accept_forever(listener, upstream);
}

}  // namespace sandbox
