// wait_gate.cpp: an epoll of one descriptor, which can itself be waited for.
// SPDX-License-Identifier: MIT
#include "platform/wait_gate.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tandem::inline v0::io::platform {

bool has_wait_gates() noexcept { return true; }

result<native_descriptor> open_wait_gate(native_descriptor watched, bool to_write) noexcept {
  const int made = ::epoll_create1(EPOLL_CLOEXEC);
  if (made < 0) return std::error_code(errno, std::generic_category());
  epoll_event wanted{};
  wanted.events = to_write ? EPOLLOUT : EPOLLIN;  // errors are told unasked
  if (::epoll_ctl(made, EPOLL_CTL_ADD, watched, &wanted) == 0) return made;
  const std::error_code error(errno, std::generic_category());
  ::close(made);
  return error;
}

}  // namespace tandem::inline v0::io::platform
