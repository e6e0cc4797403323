// asio_stream_state.hpp: the two tasks of a stream of tandem that is used through Asio.
// SPDX-License-Identifier: MIT
//
// Protocol stream_requests: io/src/interop/README.md.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/detail/stream_request.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/with_stop.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

/// What an asio_stream shares with its two tasks.
template <class Stream>
class asio_stream_state : public std::enable_shared_from_this<asio_stream_state<Stream>> {
 public:
  asio_stream_state(Stream&& stream, asio_executor home)
      : stream_(std::move(stream)), home_(std::move(home)) {}

  Stream& stream() noexcept { return stream_; }
  const asio_executor& home() const noexcept { return home_; }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  /// Any thread. Unless it is taken, the request has to be completed by the caller.
  /// @throws  what spawning the task throws
  request_lane::answer ask(stream_request& asked) {
    const bool reads = asked.what != stream_request::kind::write;
    side& own = reads ? reader_ : writer_;
    if (!own.has_begun.load(std::memory_order_acquire)) begin(own);
    return own.lane.ask(asked);
  }

  /// What the peer has reset has no direction to end.
  void end_writing() noexcept {
    try {
      stream_.shutdown();
    } catch (const std::system_error&) {  // the reads that follow tell
    }
  }

  /// stream_requests/close. Any thread, more than once.
  void close() noexcept {
    const std::lock_guard hold(lock_);
    if (closed_.exchange(true, std::memory_order_acq_rel)) return;
    for (side* each : {&reader_, &writer_}) {
      if (!each->has_begun.load(std::memory_order_relaxed)) {
        (void)each->lane.close();
      } else if (each->runs) {
        (void)each->task.cancel();
      }
    }
    if (running_ == 0) stream_.close();
  }

 private:
  struct side {
    request_lane lane;
    std::atomic<bool> has_begun{false};
    // Under the lock
    join_handle<void> task;
    bool runs = false;  // else a cancelled task would never run, nor close its lane
  };

  static constexpr bool gathers =
      requires(Stream& stream) { stream.write_all(std::span<const std::span<const std::byte>>()); };

  void begin(side& own) {
    const std::lock_guard hold(lock_);
    if (own.has_begun.load(std::memory_order_relaxed) || is_closed()) return;
    executor& home = home_.target();
    own.task = home.owner()->spawn(home, serve(this->shared_from_this(), own));
    ++running_;
    // release: pairs with ask(), which needs no more than the lane.
    own.has_begun.store(true, std::memory_order_release);
  }

  void side_runs(side& own) noexcept {
    const std::lock_guard hold(lock_);
    own.runs = true;
    if (is_closed()) (void)own.task.cancel();
  }

  static task<void> serve(std::shared_ptr<asio_stream_state> self, side& own) {
    self->side_runs(own);
    while (stream_request* const asked = co_await own.lane.next()) {
      std::exception_ptr refused;
      try {
        // The usual cases make no frame of ours. The stream may make one, and find no memory.
        if (asked->is_plain_read()) {
          tell(*asked, co_await as_result(self->stream_.read(asked->room(0))));
        } else if (asked->is_plain_write()) {
          tell(*asked, co_await as_result(self->stream_.write(asked->buffers[0])));
        } else if (gathers && asked->is_gathering_write()) {
          if constexpr (gathers) {
            // All at once, where how much went counts only if all went: a stop of its own needs the
            // count.
            tell_all(*asked, co_await as_result(self->stream_.write_all(asked->all_buffers())));
          }
        } else {
          tell(*asked, co_await as_result(self->transfer(*asked)));
        }
      } catch (...) {  // tell() throws nothing, so nobody was told yet
        refused = std::current_exception();
      }
      if (refused != nullptr) tell(*asked, result<std::size_t>(std::move(refused)));
    }
    if (stream_request* const late = own.lane.close()) late->complete(aborted_code(), 0);
    self->side_ended();
  }

  template <class Count>
  static void tell(stream_request& asked, result<Count> got) noexcept {
    if (got) {
      asked.complete({}, static_cast<std::size_t>(got.value()));
    } else {
      asked.complete(got.error(), 0);
    }
  }
  static void tell_all(stream_request& asked, const result<void>& sent) noexcept {
    if (sent) {
      asked.complete({}, asked.bytes);
    } else {
      asked.complete(sent.error(), 0);
    }
  }
  /// @throws  std::bad_alloc
  task<std::size_t> transfer(stream_request& asked) {
    if (!asked.stop) return move_bytes(asked);
    return move_bytes_until(asked.stop->get_token(), move_bytes(asked));
  }
  static task<std::size_t> move_bytes_until(std::stop_token token, task<std::size_t> body) {
    co_return co_await with_stop(std::move(token), std::move(body));
  }
  task<std::size_t> move_bytes(stream_request& asked) {
    if (asked.what == stream_request::kind::read) {
      if constexpr (requires { stream_.read(std::span<const std::span<std::byte>>()); }) {
        if (asked.buffer_count > 1) {
          std::array<std::span<std::byte>, stream_request::most_buffers> parts;
          for (std::size_t i = 0; i < asked.buffer_count; ++i) parts[i] = asked.room(i);
          co_return co_await stream_.read(
              std::span<const std::span<std::byte>>(parts.data(), asked.buffer_count));
        }
      }
      co_return co_await stream_.read(asked.room(0));
    }
    if (asked.what == stream_request::kind::drain) {
      std::array<std::byte, 512> thrown_away;
      while (co_await stream_.read(thrown_away) != 0) {}
      co_return 0;
    }
    co_return co_await stream_.write(asked.buffers[0]);
  }

  void side_ended() noexcept {
    const std::lock_guard hold(lock_);
    if (--running_ == 0 && is_closed()) stream_.close();
  }
  static std::error_code aborted_code() noexcept { return make_error_code(stop_reason::user); }

  Stream stream_;
  const asio_executor home_;
  side reader_;
  side writer_;
  std::mutex lock_;
  int running_ = 0;  // under it: tasks that have begun and not ended
  std::atomic<bool> closed_{false};
};

}  // namespace tandem::inline v0::detail
