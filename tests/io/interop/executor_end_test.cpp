// executor_end_test.cpp: no executor, strand or home of Asio's is touched when its context may be gone.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

#include "io/interop/asio_flavour.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::test_runtime;

/// Whoever posts to it comes back when the function has run, on a thread that is gone then.
class joined_executor {
 public:
  explicit joined_executor(net::io_context& io) noexcept : io_(&io) {}
  joined_executor require(net::execution::blocking_t::never_t /*how*/) const noexcept {
    return *this;
  }
  net::execution_context& query(net::execution::context_t /*which*/) const noexcept { return *io_; }
  net::execution::blocking_t query(net::execution::blocking_t /*which*/) const noexcept {
    return net::execution::blocking.never;
  }
  template <class F>
  void execute(F&& f) const {
    std::thread([now = std::forward<F>(f)]() mutable { now(); }).join();
  }
  [[maybe_unused]] friend bool operator==(const joined_executor& a,
                                          const joined_executor& b) noexcept {
    return a.io_ == b.io_;
  }

 private:
  net::io_context* io_;
};

// foreign_homes/post: the lock is left after the loop has run the last task.
TEST(spawn_into, whoever_calls_the_loop_leaves_it_before_the_home_goes) {
  test_runtime rt;
  net::io_context io;
  tandem::event go;
  std::atomic<int> ran = 0;
  constexpr auto wait_and_count = [](tandem::event& waited, std::atomic<int>& count) -> task<void> {
    co_await waited.wait();
    ++count;
  };
  tandem::spawn_into(
      *rt, joined_executor(io), wait_and_count(go, ran),
      net::bind_executor(net::system_executor(), [](const std::exception_ptr& /*failed*/) {}));
  go.set();  // the task ends inside
  EXPECT_EQ(ran, 1);
}

task<void> wait_bound(net::steady_timer& timer,
                      const net::strand<net::io_context::executor_type>& at,
                      std::optional<tandem::result<void>>& ended) {
  // The token's own copy of the strand is gone before the wait.
  auto waits = timer.async_wait(net::bind_executor(at, use_await));
  ended.emplace(co_await as_result(std::move(waits)));
}

/// Keeps the only worker busy, so that what ended does not go on.
class busy_worker {
 public:
  explicit busy_worker(test_runtime& rt)
      : task_(rt->spawn([](busy_worker& self) -> task<void> {
          self.is_busy_.count_down();
          self.may_end_.wait();
          co_return;
        }(*this))) {
    is_busy_.wait();
  }
  void end() {
    may_end_.count_down();
    task_.wait();
  }

 private:
  tandem::test::latch is_busy_{1};
  tandem::test::latch may_end_{1};
  tandem::join_handle<void> task_;
};

/// A bound await of a timer, whose context goes before the task goes on.
void end_context_early(std::chrono::milliseconds after, bool runs_to_its_end,
                       std::optional<tandem::result<void>>& ended) {
  test_runtime rt(1);
  auto io = std::make_unique<net::io_context>();
  auto at_work = std::make_optional(net::make_work_guard(*io));
  auto timer = std::make_unique<net::steady_timer>(*io, after);
  auto bound = std::make_unique<net::strand<net::io_context::executor_type>>(net::make_strand(*io));
  auto waits = rt->spawn(wait_bound(*timer, *bound, ended));
  // The start comes to the strand.
  while (io->poll_one() == 0) std::this_thread::yield();
  busy_worker busy(rt);
  at_work.reset();
  if (runs_to_its_end) io->run();
  bound.reset();
  timer.reset();
  io.reset();
  busy.end();
  waits.wait();
}

TEST(use_await, a_bound_strand_goes_with_a_context_that_drops_the_handler) {
  std::optional<tandem::result<void>> ended;
  end_context_early(std::chrono::hours(1), false, ended);
  ASSERT_TRUE(ended.has_value());
  EXPECT_FALSE(*ended);
}

TEST(use_await, a_bound_strand_goes_when_the_handler_was_called) {
  std::optional<tandem::result<void>> ended;
  end_context_early(20ms, true, ended);
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(*ended);
}

/// Starts nothing. Whoever asks for its executor has the task stopped.
class stopping_start {
 public:
  using executor_type = net::io_context::executor_type;
  stopping_start(net::io_context& io, std::atomic<tandem::join_handle<void>*>& whom) noexcept
      : io_(&io), whom_(&whom) {}
  executor_type get_executor() const noexcept {
    while (whom_->load() == nullptr) std::this_thread::yield();
    whom_->load()->cancel();
    return io_->get_executor();
  }
  template <class Handler>
  void operator()(Handler&& /*handler*/) {
    ADD_FAILURE();
  }

 private:
  net::io_context* io_;
  std::atomic<tandem::join_handle<void>*>* whom_;
};

task<void> await_stopping(net::io_context& io, std::atomic<tandem::join_handle<void>*>& whom) {
  tandem::use_await_t token;
  auto waits = net::async_initiate<tandem::use_await_t, void(tandem::test::net_code)>(
      stopping_start(io, whom), token);
  co_await std::move(waits);
}

TEST(use_await, a_stop_while_the_start_is_refused_finds_nothing_to_tell) {
  test_runtime rt;
  for (const int hint : {1, 2}) {
    net::io_context io(hint);
    io.run();
    ASSERT_TRUE(io.stopped());
    std::atomic<tandem::join_handle<void>*> whom = nullptr;
    auto waits = rt->spawn(await_stopping(io, whom));
    whom = &waits;
    EXPECT_THROW(waits.wait(), std::logic_error);
  }
}

/// A stream that has no memory for its frames.
class frameless_stream {
 public:
  task<std::size_t> read(std::span<std::byte> /*buffer*/) { throw std::bad_alloc(); }
  task<std::size_t> write(std::span<const std::byte> /*bytes*/) { throw std::bad_alloc(); }
  task<void> write_all(std::span<const std::byte> /*bytes*/) { throw std::bad_alloc(); }
  void shutdown() {}
  void close() {}
};

TEST(asio_stream, a_stream_without_memory_for_a_frame_fails_the_operation_only) {
  test_runtime rt;
  auto stream = tandem::as_asio_stream(frameless_stream(), rt.workers());
  char byte = 'x';
  for (int i = 0; i < 3; ++i) {
    auto got = stream.async_read_some(net::buffer(&byte, 1), net::use_future);
    EXPECT_THROW(got.get(), net_error::system_error);
    auto sent = stream.async_write_some(net::buffer(&byte, 1), net::use_future);
    EXPECT_THROW(sent.get(), net_error::system_error);
  }
}

}  // namespace
