// asio_watch.hpp: one descriptor that Asio watches.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <tandem/config.hpp>
#include <tandem/io/owned_descriptor.hpp>

#include "asio/asio_library.hpp"
#include "asio/handler_memory.hpp"
#include "platform/wait_gate.hpp"
#include "readiness/registration_table.hpp"

namespace tandem::inline v0::io {

class asio_watch final : public registration {
 public:
  using executor = asio::io_context::executor_type;

  /// @throws  std::bad_alloc: the first one of a context makes Asio's service, too
  asio_watch(asio::io_context& context, handler_memory& memory, registration_table& told)
      : handle_(context.get_executor()),
        write_gate_(context.get_executor()),
        memory_(memory),
        told_(told) {}
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

  TANDEM_ALWAYS_INLINE int begin(native_descriptor descriptor, bool is_ours) override {
    // readiness/enter. Of somebody else's a number of our own.
    if (!is_ours) duplicate_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (!is_ours && duplicate_ < 0) return errno;
    if (is_gated()) return 0;
    asio::error_code error;
    try {
      handle_.assign(is_ours ? descriptor : duplicate_, error);
    } catch (...) {
      close_duplicate();
      throw;
    }
    if (error) close_duplicate();
    // Where there are no gates: what others may share is given back as it was.
    restores_mode_ = duplicate_ >= 0 && (::fcntl(duplicate_, F_GETFL) & O_NONBLOCK) == 0;
    return error.value();
  }
  void end() noexcept override {
    if (is_gated()) {
      asio::error_code ignored;
      handle_.close(ignored);
      write_gate_.close(ignored);
      close_duplicate();
      return;
    }
    (void)handle_.release();
    int off = 0;
    if (restores_mode_) (void)::ioctl(duplicate_, FIONBIO, &off);
    close_duplicate();
  }
  TANDEM_ALWAYS_INLINE int begin_wait(direction way) noexcept override {
    using descriptor = asio::posix::descriptor_base;
    try {
      if (is_gated()) return wait_at_gate(way == direction::read ? handle_ : write_gate_, way);
      handle_.async_wait(way == direction::read ? descriptor::wait_read : descriptor::wait_write,
                         handler(*this, way));
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  }

  using watched = asio::posix::basic_stream_descriptor<executor>;

  /// Asio makes what it watches non-blocking, so of somebody else's it watches a gate, where there
  /// are such.
  bool is_gated() const noexcept { return duplicate_ >= 0 && platform::has_wait_gates(); }
  /// @throws  std::bad_alloc
  int wait_at_gate(watched& gate, direction way) {
    if (!gate.is_open()) {
      const auto opened = platform::open_wait_gate(duplicate_, way == direction::write);
      if (!opened) return opened.error().value();
      owned_descriptor made(opened.value());
      asio::error_code error;
      gate.assign(made.native_handle(), error);
      if (error) return error.value();
      (void)made.release();
    }
    gate.async_wait(asio::posix::descriptor_base::wait_read, handler(*this, way));
    return 0;
  }
  void close_duplicate() noexcept {
    if (duplicate_ >= 0) ::close(duplicate_);
    duplicate_ = no_descriptor;
  }

  watched handle_;      // of somebody else's: the gate to read
  watched write_gate_;  // open if somebody waits to write what is somebody else's
  handler_memory& memory_;
  registration_table& told_;
  native_descriptor duplicate_ = no_descriptor;  // of what is no socket of ours
  bool restores_mode_ = false;
};

}  // namespace tandem::inline v0::io
