// asio_watch.hpp: one descriptor that Asio watches.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <tandem/config.hpp>

#include "asio/asio_library.hpp"
#include "asio/handler_memory.hpp"
#include "readiness/registration_table.hpp"

namespace tandem::inline v0::io {

class asio_watch final : public registration {
 public:
  using executor = asio::io_context::executor_type;

  /// @throws  std::bad_alloc: the first one of a context makes Asio's service, too
  asio_watch(asio::io_context& context, handler_memory& memory, registration_table& told)
      : handle_(context.get_executor()), memory_(memory), told_(told) {}
  ~asio_watch() override { leave<asio_watch>(); }

 private:
  friend class registration;

  /// Asio keeps it, in our memory, until the wait has ended.
  class handler {
   public:
    using allocator_type = handler_allocator<void>;
    handler(asio_watch& at, direction way) noexcept : at_(&at), memory_(&at.memory_), way_(way) {}
    // Not by way of the watch: what the context drops at its end has outlived that.
    allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }
    void operator()(const asio::error_code& error) const {
      at_->told_.waited(*at_, way_, error.value());
    }

   private:
    asio_watch* at_;
    handler_memory* memory_;
    direction way_;
  };

  TANDEM_ALWAYS_INLINE int begin(native_descriptor descriptor, bool is_our_socket) override {
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
  void end() noexcept override {
    (void)handle_.release();
    int off = 0;
    if (restores_mode_) (void)::ioctl(duplicate_, FIONBIO, &off);
    close_duplicate();
  }
  TANDEM_ALWAYS_INLINE int begin_wait(direction way) noexcept override {
    try {
      handle_.async_wait(way == direction::read ? asio::posix::descriptor_base::wait_read
                                                : asio::posix::descriptor_base::wait_write,
                         handler(*this, way));
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  }

  void close_duplicate() noexcept {
    if (duplicate_ >= 0) ::close(duplicate_);
    duplicate_ = no_descriptor;
  }

  asio::posix::basic_stream_descriptor<executor> handle_;
  handler_memory& memory_;
  registration_table& told_;
  native_descriptor duplicate_ = no_descriptor;  // what Asio watches, if it is no socket of ours
  bool restores_mode_ = false;
};

}  // namespace tandem::inline v0::io
