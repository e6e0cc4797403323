// stream_request.hpp: one operation of Asio on a stream of tandem, and how it gets to the task that does it.
// SPDX-License-Identifier: MIT
//
// Protocol stream_requests: io/src/interop/README.md. The word of a lane is one of
//   null           the task is at work, or has not begun
//   waiting_mark   the task waits for a request
//   a request      which the task will take
//   stopped_mark   the task is about to wait, and its stop has come already
//   closed_mark    the task has ended, or will not begin: nothing is taken any more
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <system_error>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::detail {

/// Lives in the operation of Asio, with its handler.
class stream_request {
 public:
  enum class kind : std::uint8_t { read, write, drain };
  static constexpr std::size_t most_buffers = 16;

  /// Calls the handler; the request is gone then.
  virtual void complete(const std::error_code& code, std::size_t bytes) noexcept = 0;

  bool is_plain_read() const noexcept { return what == kind::read && buffer_count == 1 && !stop; }
  bool is_plain_write() const noexcept { return what == kind::write && buffer_count == 1 && !stop; }
  bool is_gathering_write() const noexcept {
    return what == kind::write && buffer_count > 1 && !stop;
  }
  /// pre: of a read, whose buffers are writable
  std::span<std::byte> room(std::size_t i) const noexcept {
    return {const_cast<std::byte*>(buffers[i].data()), buffers[i].size()};  // NOLINT
  }
  std::span<const std::span<const std::byte>> all_buffers() const noexcept {
    return {buffers.data(), buffer_count};
  }

  const kind what;
  std::size_t buffer_count = 0;
  std::size_t bytes = 0;
  std::array<std::span<const std::byte>, most_buffers> buffers;
  std::optional<std::stop_source> stop;  // if it can be cancelled by itself

 protected:
  explicit stream_request(kind asked) noexcept : what(asked) {}
  stream_request(const stream_request&) = delete;
  stream_request& operator=(const stream_request&) = delete;
  ~stream_request() = default;
};

/// One direction of a stream: requests from any thread, one at a time, for one task.
class TANDEM_IO_API request_lane {
 public:
  request_lane() noexcept = default;
  request_lane(const request_lane&) = delete;
  request_lane& operator=(const request_lane&) = delete;

  /// Awaiter of next(): a request, or null after a stop.
  class TANDEM_IO_API next_awaiter : private leaf {
   public:
    using tandem_awaiter = void;

    explicit next_awaiter(request_lane& lane) noexcept : leaf(waits_for_request), lane_(&lane) {}

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return start(self.promise());
    }
    stream_request* await_resume() noexcept { return cancelled() ? nullptr : lane_->take(); }

   private:
    friend class request_lane;
    bool start(promise_base& waiting) noexcept;
    static bool on_stop(stop_waiter& stopped) noexcept;
    static const wait_kind waits_for_request;

    request_lane* lane_;
  };

  /// By the task. The awaited value is null if it was stopped.
  next_awaiter next() noexcept { return next_awaiter(*this); }

  enum class answer : std::uint8_t { taken, closed, busy };
  /// stream_requests/ask. @returns busy: another one waits already
  [[nodiscard]] answer ask(stream_request& asked) noexcept;
  /// stream_requests/close. By the task, at its end, or instead of its begin. @returns a request
  /// that came meanwhile
  stream_request* close() noexcept;

 private:
  stream_request* take() noexcept;

  std::atomic<void*> word_{nullptr};
  next_awaiter* waiting_ = nullptr;  // written by the task before the mark, read by who takes it
};

}  // namespace tandem::inline v0::detail
