// registration.hpp: one descriptor that Asio watches, and the operations that wait for it.
// SPDX-License-Identifier: MIT
//
// It lives while an operation waits: the descriptor is closed by its owner, who knows nothing of
// us, and its number may be another one's a moment later. At most one wait of each direction is
// with Asio, however many operations wait. Given back early, it is used again when Asio's last
// handler has run.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "asio/asio_library.hpp"
#include "asio/operation_list.hpp"

namespace tandem::inline v0::io {

class registration {
 public:
  using executor = asio::io_context::executor_type;
  struct side {
    operation_list waiting;
    bool armed = false;  // a wait is with Asio, or has ended and was not looked at
    int error = 0;       // of that wait
  };

  /// @throws  std::bad_alloc: the first one of a context makes Asio's service, too
  explicit registration(asio::io_context& context) : handle_(context.get_executor()) {}
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  ~registration() { leave(); }

  /// @returns  0 or an error number. @throws std::bad_alloc
  int enter(native_descriptor descriptor, bool is_our_socket) {
    number_ = descriptor;
    // readiness/enter. Of somebody else's a number of our own.
    if (!is_our_socket) duplicate_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (!is_our_socket && duplicate_ < 0) return errno;
    asio::error_code error;
    try {
      handle_.assign(is_our_socket ? descriptor : duplicate_, error);
    } catch (...) {
      close_duplicate();
      throw;
    }
    if (error) close_duplicate();
    // Asio makes what it watches non-blocking. What others may share is given back as it was.
    restores_mode_ = duplicate_ >= 0 && (::fcntl(duplicate_, F_GETFL) & O_NONBLOCK) == 0;
    return error.value();
  }
  /// Asio's waits end, their handlers run later.
  void leave() noexcept {
    if (!handle_.is_open()) return;
    (void)handle_.release();
    int off = 0;
    if (restores_mode_) (void)::ioctl(duplicate_, FIONBIO, &off);
    close_duplicate();
    sides = {};
  }

  bool is_entered() const noexcept { return handle_.is_open(); }
  bool is_idle() const noexcept { return sides[0].waiting.empty() && sides[1].waiting.empty(); }
  /// Its owner's number.
  native_descriptor descriptor() const noexcept { return number_; }
  side& of(direction way) noexcept { return sides[static_cast<std::size_t>(way)]; }

  /// @throws  std::bad_alloc
  template <class Handler>
  void wait(direction way, Handler handler) {
    ++handlers;
    try {
      handle_.async_wait(way == direction::read ? asio::posix::descriptor_base::wait_read
                                                : asio::posix::descriptor_base::wait_write,
                         std::move(handler));
    } catch (...) {
      --handlers;
      throw;
    }
    of(way).armed = true;
  }

  unsigned handlers = 0;   // that have not run
  bool is_listed = false;  // among those that reap() looks at, since they may be idle

 private:
  void close_duplicate() noexcept {
    if (duplicate_ >= 0) ::close(duplicate_);
    duplicate_ = no_descriptor;
  }

  asio::posix::basic_stream_descriptor<executor> handle_;
  std::array<side, 2> sides;
  native_descriptor number_ = no_descriptor;     // its owner's
  native_descriptor duplicate_ = no_descriptor;  // what Asio watches, if it is no socket of ours
  bool restores_mode_ = false;
};

}  // namespace tandem::inline v0::io
