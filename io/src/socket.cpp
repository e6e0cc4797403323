// socket.cpp: owning, moving and closing a descriptor.
// SPDX-License-Identifier: MIT
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tandem/io/detail/socket.hpp>
#include <utility>

#include "multishot.hpp"

namespace tandem::inline v0::io {

detail::socket::socket(socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      thread_(other.thread_),
      listens_(other.listens_),
      source_(std::exchange(other.source_, nullptr)) {
  TANDEM_ASSERT(other.in_flight_.load(std::memory_order_relaxed) == 0,
                "a socket was moved while an operation was in flight on it");
}

detail::socket& detail::socket::operator=(socket&& other) noexcept {
  if (this != &other) {
    TANDEM_ASSERT(other.in_flight_.load(std::memory_order_relaxed) == 0,
                  "a socket was moved while an operation was in flight on it");
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    thread_ = other.thread_;
    listens_ = other.listens_;
    source_ = std::exchange(other.source_, nullptr);
  }
  return *this;
}

int detail::socket::release() noexcept {
  TANDEM_ASSERT(in_flight_.load(std::memory_order_relaxed) == 0,
                "a socket was released while an operation was in flight on it");
  TANDEM_ASSERT(source_ == nullptr,
                "a socket was released after receive() or incoming(): the runtime reads, or "
                "accepts, ahead on it");
  int off = 0;
  if (descriptor_ >= 0) (void)::ioctl(descriptor_, FIONBIO, &off);  // a backend may have set it
  return std::exchange(descriptor_, -1);
}

void detail::socket::close() noexcept {
  if (descriptor_ < 0) return;
  TANDEM_ASSERT(
      in_flight_.load(std::memory_order_relaxed) == 0,
      "a socket was closed while an operation was in flight on it: stop and await it first");
  const int descriptor = std::exchange(descriptor_, -1);
  multishot* const open = std::exchange(source_, nullptr);
  if (open != nullptr && !open->is_parents()) {
    if (listens_) (void)::shutdown(descriptor, SHUT_RDWR);  // M6 closes it, in its time
    open->close();
  } else {
    ::close(descriptor);
  }
}

}  // namespace tandem::inline v0::io
