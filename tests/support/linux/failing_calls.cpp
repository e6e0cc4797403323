// failing_calls.cpp: recv() and accept() of Linux, and of POSIX.
// SPDX-License-Identifier: MIT
#include "failing_calls.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<int> aborted{-1};
std::atomic<int> resets{0};

int accept_or_fail(int listener, sockaddr* address, socklen_t* size, int flags) noexcept {
  int left = resets.load();
  while (left > 0) {
    if (!resets.compare_exchange_weak(left, left - 1)) continue;
    errno = ECONNABORTED;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, listener, address, size, flags));
}

}  // namespace

extern "C" {

ssize_t recv(int socket, void* data, size_t bytes, int flags) {
  if (socket == aborted.load()) {
    errno = ECONNABORTED;
    return -1;
  }
  return ::recvfrom(socket, data, bytes, flags, nullptr, nullptr);
}
int accept(int listener, sockaddr* address, socklen_t* size) {
  return accept_or_fail(listener, address, size, 0);
}
int accept4(int listener, sockaddr* address, socklen_t* size, int flags) {
  return accept_or_fail(listener, address, size, flags);
}

}  // extern "C"

namespace tandem::test {

io::io_backend backend_by_calls() noexcept { return io::io_backend::asio; }
void abort_reads_of(io::native_descriptor socket) noexcept { aborted.store(socket); }
void reset_before_accept(int times) noexcept { resets.store(times); }
int resets_left() noexcept { return resets.load(); }
// None of these makes a difference here.
void has_more_to_send(io::native_descriptor /*socket*/) noexcept {}
void hide_failed_connects(bool /*hides*/) noexcept {}
void has_no_network(bool /*has_none*/) noexcept {}

}  // namespace tandem::test
