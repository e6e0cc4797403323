// refused_trains.cpp: takes the place of the library's sendmsg().
// SPDX-License-Identifier: MIT
#include "io/datagram/refused_trains.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tandem::test {

namespace {

std::atomic<int> refusal{0};
std::atomic<std::size_t> refused{0};

bool is_train(const msghdr& message) noexcept {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  return part != nullptr && part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_SEGMENT;
}

}  // namespace

refused_trains::refused_trains(int error) noexcept {
  refused = 0;
  refusal = error;
}
refused_trains::~refused_trains() { refusal = 0; }
std::size_t refused_trains::asked() const noexcept { return refused; }

}  // namespace tandem::test

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  using namespace tandem::test;
  const int error = refusal.load();
  if (error != 0 && is_train(*message)) {
    ++refused;
    errno = error;
    return -1;
  }
  return ::syscall(SYS_sendmsg, socket, message, flags);
}
