// stream_pumps.hpp: tasks beside a stream that make its items: what merge, buffered and chunks stand on.
// SPDX-License-Identifier: MIT
//
// A pump has one item at a time, which stays where it is until the consumer has done with it.
// Whoever has an item takes a ticket; the consumer takes items in the order of tickets. Protocol
// pumps: runtime/src/stream/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/detail/stream_coroutine.hpp>
#include <tandem/detail/stream_cursor.hpp>
#include <tandem/event.hpp>
#include <tandem/shielded.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>

namespace tandem::inline v0::detail {

/// Lives in the frame of the stream, which stops the pumps before it ends.
class TANDEM_API stream_pumps {
 public:
  /// @throws  std::bad_alloc
  explicit stream_pumps(std::size_t count);
  stream_pumps(const stream_pumps&) = delete;
  stream_pumps& operator=(const stream_pumps&) = delete;
  ~stream_pumps();

  // The pumps, on any thread.
  /// pumps/draw
  std::uint64_t draw() noexcept { return drawn_.fetch_add(1, std::memory_order_acq_rel); }
  /// pumps/put. The item stays until `taken` is set.
  void put(std::uint64_t ticket, const void* item, event& taken) noexcept;
  void put_failure(std::uint64_t ticket, std::exception_ptr failure) noexcept;
  /// pumps/end. Its last act. @param failure  null: none
  void pump_ends(std::exception_ptr failure) noexcept;

  // The stream.
  /// Once. @throws what spawning throws; then none of them runs
  void start(executor& home, std::vector<task<void>>&& pumps);
  /// pumps/take. When it has ended, take() follows.
  event_awaiter arrival() noexcept { return place_of(next_).full.wait(); }
  bool has_arrived() noexcept { return place_of(next_).full.is_set(); }
  /// @returns  null at the end, or for a failure
  void* take() noexcept;
  std::exception_ptr take_failure() noexcept { return std::exchange(failure_, nullptr); }
  /// pumps/release. The item that was taken last may go.
  void release() noexcept { std::exchange(taken_, nullptr)->set(); }
  /// pumps/stop. Awaited before the stream ends, whether they were started or not.
  shielded_awaiter<void> stop() noexcept { return shielded(std::move(stopping_)); }

 private:
  struct place {
    event full;
    void* item = nullptr;
    event* taken = nullptr;
    std::exception_ptr failure;
  };

  place& place_of(std::uint64_t ticket) noexcept { return places_[ticket % place_count_]; }
  static task<void> run_in_scope(stream_pumps& self, std::vector<task<void>> pumps);
  static task<void> run_body(stream_pumps& self, std::vector<task<void>>& pumps, task_scope& scope);
  static task<void> stop_all(stream_pumps& self);
  void report_left() noexcept;

  const std::size_t place_count_;  // one more than there are pumps: pumps/end
  std::unique_ptr<place[]> places_;
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<std::size_t> running_;
  std::atomic<bool> is_closing_{false};
  std::uint64_t next_ = 0;  // the stream's, as the two below
  event* taken_ = nullptr;
  std::exception_ptr failure_;
  event begun_;                  // scope_ is set, or nothing has begun
  event finished_;               // the body may end
  task_scope* scope_ = nullptr;  // null: it has not begun
  join_handle<void> runs_;
  task<void> stopping_;  // made before, so that stopping does not fail
};

/// Where the frame that awaits it goes on.
class current_home {
 public:
  using tandem_awaiter = void;

  current_home() noexcept {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    home_ = self.promise().home;
    return false;
  }
  executor& await_resume() const noexcept { return *home_; }

 private:
  executor* home_ = nullptr;
};

/// Hands the items of a stream over, one at a time.
template <class T>
task<void> pump_stream(stream<T> source, stream_pumps& to) {
  stream_cursor<T> from(std::move(source));
  event taken;
  while (auto* const item = co_await from.next()) {
    to.put(to.draw(), item, taken);
    auto wait = taken.wait();
    co_await wait_for(wait);
    if (wait.await_failure() != nullptr) break;  // pumps/stop
    taken.reset();
  }
  co_await from.leave();
  to.pump_ends(from.conclude());
}

/// Looks at no item.
struct unnoticed {
  void operator()(void* /*item*/) const noexcept {}
};

/// All that the pumps make. `make(pumps)` is called once, and returns them; `notice(item)` before
/// each item is yielded.
template <class T, class Make, class Notice = unnoticed>
stream<T> run_pumped(std::size_t count, Make make, Notice notice = Notice()) {
  stream_pumps pumps(count);
  std::exception_ptr failure;
  executor& home = co_await current_home();
  try {
    pumps.start(home, make(pumps));
    while (true) {
      auto arrival = pumps.arrival();
      co_await wait_for(arrival);
      failure = arrival.await_failure();
      if (failure != nullptr) break;
      void* const item = pumps.take();
      if (item == nullptr) {
        failure = pumps.take_failure();
        break;
      }
      notice(item);
      // Not assigned to a variable that exists: on that g++ 12 breaks, in a template.
      const bool goes_on = co_yield pass_item(item);
      if (!goes_on) break;
      pumps.release();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await pumps.stop();
  co_await end_with(std::move(failure));
}

}  // namespace tandem::inline v0::detail
