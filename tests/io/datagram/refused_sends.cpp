// refused_sends.cpp: takes the place of the library's sendmsg() and sendmmsg().
// SPDX-License-Identifier: MIT
#include "io/datagram/refused_sends.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tandem::test {

namespace {

std::atomic<int> refusal_of_trains{0};
std::atomic<std::size_t> refused{0};
std::atomic<int> refusal{0};
std::atomic<std::size_t> still_taken{0};

bool is_train(const msghdr& message) noexcept {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  return part != nullptr && part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_SEGMENT;
}

}  // namespace

refused_trains::refused_trains(int error) noexcept {
  refused = 0;
  refusal_of_trains = error;
}
refused_trains::~refused_trains() { refusal_of_trains = 0; }
std::size_t refused_trains::asked() const noexcept { return refused; }

refused_sends::refused_sends(int error, std::size_t after) noexcept {
  still_taken = after;
  refusal = error;
}
refused_sends::~refused_sends() { refusal = 0; }

}  // namespace tandem::test

using namespace tandem::test;

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  const int train_error = refusal_of_trains.load();
  if (train_error != 0 && is_train(*message)) {
    ++refused;
    errno = train_error;
    return -1;
  }
  if (refusal != 0 && still_taken == 0) {
    errno = refusal;
    return -1;
  }
  if (refusal != 0) --still_taken;
  return ::syscall(SYS_sendmsg, socket, message, flags);
}

extern "C" int sendmmsg(int socket, mmsghdr* all, unsigned count, int flags) {
  if (refusal != 0) {
    if (still_taken == 0) {
      errno = refusal;
      return -1;
    }
    if (count > still_taken) count = static_cast<unsigned>(still_taken);
    still_taken -= count;
  }
  return static_cast<int>(::syscall(SYS_sendmmsg, socket, all, count, flags));
}
