// socket_stream.cpp: reading, writing and ending a connection.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <memory>
#include <tandem/io/socket_stream.hpp>
#include <tandem/job.hpp>

#include "engine/completion_engine.hpp"
#include "engine/completion_thread.hpp"
#include "net/checked.hpp"
#include "platform/attempt.hpp"
#include "platform/error_number.hpp"
#include "platform/sockets.hpp"

namespace tandem::inline v0::io {

std::size_t transfer_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> transfer_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<std::size_t>(operation_.outcome());
}

void write_all_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
}

result<void> write_all_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

bool zero_copy_awaiter::pays(detail::socket& socket, std::size_t bytes) noexcept {
  constexpr std::size_t least = std::size_t{32} << 10;
  const detail::socket_record& record = socket.record();
  return bytes >= least && socket.is_open() && !record.is_copied_anyway &&
         socket.thread()->implementation().lends_memory();
}

zero_copy_awaiter::zero_copy_awaiter(detail::socket& socket,
                                     std::span<const std::byte> bytes) noexcept
    : socket_awaiter(pays(socket, bytes.size()) ? detail::operation_kind::send_zero_copy
                                                : detail::operation_kind::send_all,
                     socket,
                     const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
                     bytes.size()) {}

void zero_copy_awaiter::end() {
  end_operation();
  if (operation_.is_copied_anyway) socket_->record().is_copied_anyway = true;
}

void zero_copy_awaiter::await_resume() {
  end();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
}

result<void> zero_copy_awaiter::await_resume_result() {
  end();
  if (operation_.failed()) return operation_.error();
  return {};
}

std::size_t vectored_read_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> vectored_read_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<std::size_t>(operation_.outcome());
}

void vectored_write_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
}

result<void> vectored_write_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

result<std::size_t> socket_stream::try_read(std::span<std::byte> buffer) noexcept {
  TANDEM_ASSERT(socket_.source() == nullptr,
                "try_read() after receive(): the runtime reads ahead on that socket");
  if (!is_open()) return std::make_error_code(std::errc::bad_file_descriptor);
  const auto& reader = socket_.user(detail::socket_side::taking);
  // Relaxed: as socket_awaiter's check, by the task of this side.
  if (reader.load(std::memory_order_relaxed) != nullptr) {
    return std::make_error_code(std::errc::operation_in_progress);
  }
  std::int32_t outcome = -EINTR;
  while (outcome == -EINTR) {
    outcome = platform::receive_now(socket_.descriptor(), buffer.data(), buffer.size());
  }
  if (outcome == platform::would_block) {
    return std::make_error_code(std::errc::operation_would_block);
  }
  if (outcome < 0) return platform::error_of(-outcome);
  return static_cast<std::size_t>(outcome);
}

namespace {

/// readiness/look_again, on the socket's thread. Frees itself.
class second_look : public job {
 public:
  second_look(completion_thread::impl& thread, native_descriptor socket) noexcept
      : job(&second_look::run), thread_(&thread), socket_(socket) {}

 private:
  static void run(job* self) noexcept {
    const std::unique_ptr<second_look> look(static_cast<second_look*>(self));
    look->thread_->engine().ring().look_again(look->socket_);
  }

  completion_thread::impl* thread_;
  native_descriptor socket_;
};

}  // namespace

void socket_stream::shutdown(shutdown_kind kind) {
  const bool is_local = socket_.record().family == detail::socket_family::local;
  const bool ends_reading = kind != shutdown_kind::write;
  completion_thread::impl* thread = nullptr;
  std::unique_ptr<second_look> look;
  if (ends_reading && is_open() && !platform::tells_own_shut_down()) {
    // Before the call: where there is no memory nothing has been done.
    thread = &socket_.thread()->implementation();
    look = std::make_unique<second_look>(*thread, socket_.descriptor());
  }
  check(platform::shut_down(socket_.descriptor(), ends_reading, kind != shutdown_kind::read),
        is_local ? "unix_stream::shutdown" : "tcp_stream::shutdown");
  if (look != nullptr) thread->post(look.release(), post_kind::spawn);
}

}  // namespace tandem::inline v0::io
