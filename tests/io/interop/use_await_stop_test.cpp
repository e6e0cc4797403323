// use_await_stop_test.cpp: stops of awaits of operations of Asio: what is emitted, and what hears it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>

#include "io/interop/asio_flavour.hpp"
#include "runtime/support/sync_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::aborted;
using tandem::test::local_pair;
using tandem::test::net_code;
using tandem::test::operation;
using tandem::test::operation_at;
using tandem::test::running_context;
using tandem::test::std_code;
using tandem::test::test_runtime;

TEST(use_await, after_a_stop_nothing_is_started) {
  test_runtime rt;
  bool started = false;
  rt.run([](bool& has_started) -> task<void> {
    auto child = tandem::spawn([](bool& flag) -> task<void> {
      co_await tandem::sleep_for(1h);
      (void)flag;
    }(has_started));
    child.cancel();
    auto inner = tandem::spawn([](bool& flag) -> task<void> {
      try {
        co_await tandem::sleep_for(1h);
      } catch (const tandem::operation_cancelled&) {}
      auto got = co_await as_result(operation<void(int)>([&](auto handler) {
        flag = true;
        std::move(handler)(1);
      }));
      EXPECT_TRUE(got.is_cancelled());
      co_await operation<void(int)>([&](auto handler) {
        flag = true;
        std::move(handler)(1);
      });
    }(has_started));
    inner.cancel();
    EXPECT_TRUE((co_await as_result(std::move(child))).is_cancelled());
    EXPECT_TRUE((co_await as_result(std::move(inner))).is_cancelled());
  }(started));
  EXPECT_FALSE(started);
}

/// Notes what a stop emits, and then ends the operation as aborted, as Asio's do.
template <bool as_asios_slot>
task<void> note_emissions(std::vector<net::cancellation_type>& seen, std::atomic<bool>& started,
                          net::any_io_executor at) {
  co_await operation_at<void(net_code)>(at, [&](auto handler) {
    using kept = std::decay_t<decltype(handler)>;
    auto held = std::make_shared<std::optional<kept>>(std::move(handler));
    const auto hear = [&seen, held](net::cancellation_type type) {
      seen.push_back(type);
      auto ex = net::get_associated_executor(**held, net::system_executor());
      net::post(ex, [held] {
        kept last(std::move(**held));
        std::move(last)(net_code(net::error::operation_aborted));
      });
    };
    if constexpr (as_asios_slot) {
      net::cancellation_slot slot = net::get_associated_cancellation_slot(**held);
      EXPECT_TRUE(slot.is_connected());
      slot.assign(hear);
    } else {
      net::get_associated_cancellation_slot(**held).assign(hear);
    }
    started = true;
  });
}

TEST(use_await, a_stop_emits_all_types_in_one_mask_once) {
  running_context io;
  test_runtime rt;
  const net::any_io_executor places[] = {net::system_executor(), io->get_executor(),
                                         net::make_strand(*io)};
  for (const auto& place : places) {
    for (const bool as_asios_slot : {false, true}) {
      std::vector<net::cancellation_type> seen;
      std::atomic<bool> started = false;
      auto waits = rt->spawn(as_asios_slot ? note_emissions<true>(seen, started, place)
                                           : note_emissions<false>(seen, started, place));
      while (!started) std::this_thread::yield();
      waits.cancel();
      waits.cancel();
      EXPECT_THROW(waits.wait(), tandem::operation_cancelled);
      const auto all = net::cancellation_type::terminal | net::cancellation_type::partial |
                       net::cancellation_type::total;
      EXPECT_EQ(seen, std::vector{all});
    }
  }
}

/// An operation that has begun, told to a test, which does its steps.
template <class Handler>
class begun_operation {
 public:
  explicit begun_operation(Handler&& handler) : handler_(std::move(handler)) {}
  auto executor() const noexcept {
    return net::get_associated_executor(*handler_, net::system_executor());
  }
  template <class F>
  void hang_up(F f) {
    net::get_associated_cancellation_slot(*handler_).assign(std::move(f));
  }
  void complete() {
    Handler last(*std::exchange(handler_, std::nullopt));
    std::move(last)(net_code(net::error::operation_aborted));
  }

 private:
  std::optional<Handler> handler_;
};

/// Hands over a function that does one step, once, and hears of a stop in place.
task<void> hears_in_place(std::function<void()>& step, std::atomic<bool>& started,
                          std::shared_ptr<std::atomic<bool>> ended, int steps) {
  try {
    co_await operation_at<void(net_code)>(net::system_executor(), [&, steps](auto handler) {
      using held = begun_operation<std::decay_t<decltype(handler)>>;
      auto all = std::make_shared<held>(std::move(handler));
      step = [all, ended, steps] {
        net::post(all->executor(), [all, ended, steps] {
          // What hears of the stop goes on in place: to its next step, or to the end.
          auto hear = std::make_shared<std::function<void(int)>>();
          *hear = [all, ended, hear](int left) {
            all->hang_up([all, ended, hear, left](net::cancellation_type) {
              auto hearing = hear;
              auto keeps = all;
              const int rest = left;
              const auto over = ended;
              if (rest > 1) return (*hearing)(rest - 1);
              *hearing = nullptr;
              keeps->complete();
              while (!*over) std::this_thread::yield();  // the await is gone, and its frame
            });
          };
          (*hear)(steps);
        });
      };
      started = true;
    });
  } catch (const tandem::operation_cancelled&) {}
}

TEST(use_await, what_hears_of_a_stop_between_two_steps_may_end_in_place) {
  test_runtime rt;
  for (const int steps : {1, 3}) {
    std::function<void()> step;
    std::atomic<bool> started = false;
    const auto ended = std::make_shared<std::atomic<bool>>(false);
    auto waits =
        rt->spawn([](std::function<void()>& next, std::atomic<bool>& has_started,
                     std::shared_ptr<std::atomic<bool>> has_ended, int count) -> task<void> {
          auto inner = tandem::spawn(hears_in_place(next, has_started, has_ended, count));
          try {
            co_await tandem::sleep_for(1h);
          } catch (const tandem::operation_cancelled&) {
            inner.cancel();
          }
          has_started = false;  // it has been told
          (void)co_await as_result(tandem::shielded(std::move(inner)));
          *has_ended = true;
        }(step, started, ended, steps));
    while (!started) std::this_thread::yield();
    waits.cancel();
    while (started) std::this_thread::yield();
    std::exchange(step, nullptr)();
    (void)waits.wait();
  }
}

TEST(use_await, a_stop_ends_timers_and_reads) {
  running_context io;
  test_runtime rt;
  const net::any_io_executor places[] = {io->get_executor(), net::make_strand(*io)};
  for (const auto& place : places) {
    std::atomic<int> waiting = 0;
    auto timer = rt->spawn([](net::any_io_executor at, std::atomic<int>& count) -> task<void> {
      net::steady_timer never(at, 1h);
      ++count;
      co_await never.async_wait(use_await);
    }(place, waiting));
    auto read = rt->spawn([](net::any_io_executor at, std::atomic<int>& count) -> task<void> {
      local_pair pair(at);
      char bytes[4];
      ++count;
      co_await net::async_read(pair.near, net::buffer(bytes), use_await);
    }(place, waiting));
    while (waiting != 2) std::this_thread::yield();
    timer.cancel();
    read.cancel();
    EXPECT_THROW(timer.wait(), tandem::operation_cancelled);
    EXPECT_THROW(read.wait(), tandem::operation_cancelled);
  }
}

/// Reads a byte each time, and knows nothing of being cancelled.
class deaf_stream {
 public:
  using executor_type = net::any_io_executor;
  deaf_stream(executor_type at, std::function<void(int)> at_step)
      : at_(std::move(at)), at_step_(std::move(at_step)) {}
  executor_type get_executor() const { return at_; }
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& /*buffers*/, Token&& token) {
    return net::async_initiate<Token, void(net_code, std::size_t)>(
        [this](auto handler) {
          at_step_(++steps_);
          auto own = net::get_associated_executor(handler, at_);
          net::post(own, [handler = std::move(handler)]() mutable {
            std::move(handler)(net_code(), std::size_t{1});
          });
        },
        token);
  }
  int steps() const { return steps_; }

 private:
  executor_type at_;
  std::function<void(int)> at_step_;
  int steps_ = 0;
};

TEST(use_await, a_composed_operation_hears_of_a_stop_between_its_steps) {
  running_context io(2);
  test_runtime rt(tandem::test::with_threads(1));
  const net::any_io_executor places[] = {io->get_executor(), net::make_strand(*io)};
  for (const auto& place : places) {
    std::optional<tandem::join_handle<void>> reads;
    std::atomic<bool> waits = false;
    std::atomic<int> steps = 0;
    reads = rt->spawn(
        [](net::any_io_executor at, std::function<void(int)> at_step, std::atomic<int>& stepped)
            -> task<void> {
          deaf_stream stream(at, std::move(at_step));
          char bytes[100];
          auto [code, n] = co_await net::async_read(stream, net::buffer(bytes),
                                                    net::experimental::as_tuple(use_await));
          stepped = stream.steps();
          EXPECT_EQ(std_code(code), aborted());
          EXPECT_EQ(n, static_cast<std::size_t>(stepped));
        }(
                place,
                [&](int step) {
                  if (step == 1)
                    return;  // with plain contexts in the start, which the task has to leave
                  while (!waits) std::this_thread::yield();
                  if (step == 3) reads->cancel();
                },
                steps));
    rt.run(tandem::test::settle());  // one thread: the task waits now
    waits = true;
    reads->wait();
    EXPECT_EQ(steps, 3) << "the stop was lost between two steps, or late";
  }
}

/// Two steps, of which the second never ends by itself; it does not ask whether it was cancelled.
task<void> step_and_wait(net::any_io_executor at) {
  net::steady_timer never(at, 1h);
  co_await operation_at<void(net_code)>(at, [&](auto handler) {
    net::async_compose<decltype(handler), void(net_code)>(
        [&, step = 0](auto& self, net_code code = {}) mutable {
          switch (step++) {
            case 0: return net::post(at, std::move(self));
            case 1: return never.async_wait(std::move(self));
            default: self.complete(code);
          }
        },
        handler, at);
  });
}

TEST(use_await, a_composed_operation_that_does_not_ask_hears_of_a_stop_between_its_steps) {
  net::io_context io(2);
  test_runtime rt(tandem::test::with_threads(1));
  auto waits = rt->spawn(step_and_wait(io.get_executor()));
  rt.run(tandem::test::settle());  // one thread: the task waits now
  waits.cancel();                  // its first step is on its way, and knows nothing of a stop
  std::thread runs([&] { io.run(); });
  EXPECT_THROW(waits.wait(), tandem::operation_cancelled);
  runs.join();
}

/// Counts to `count`, a post each, and enables what Filter says.
template <class Filter>
task<void> count_steps(net::any_io_executor at, int count, std::atomic<int>& steps, Filter filter) {
  co_await operation_at<void(net_code)>(at, [&, filter](auto handler) {
    net::async_compose<decltype(handler), void(net_code)>(
        [&, filter, at, begun = false](auto& self, net_code code = {}) mutable {
          if (!std::exchange(begun, true)) self.reset_cancellation_state(filter);
          if (self.get_cancellation_state().cancelled() != net::cancellation_type::none) {
            code = net::error::operation_aborted;
          }
          if (code || steps++ == count) return self.complete(code);
          net::post(at, std::move(self));
        },
        handler, at);
  });
}

TEST(use_await, a_composed_operation_of_the_users_takes_the_type_that_it_enables) {
  running_context io(2);
  test_runtime rt;
  const auto stopped = [&](auto filter, int count) {
    std::atomic<int> steps = 0;
    auto counts = rt->spawn(count_steps(net::make_strand(*io), count, steps, filter));
    while (steps < 10) std::this_thread::yield();
    counts.cancel();
    EXPECT_THROW(counts.wait(), tandem::operation_cancelled);
  };
  stopped(net::enable_partial_cancellation(), 1 << 30);
  stopped(net::enable_total_cancellation(), 1 << 30);
  stopped(net::enable_terminal_cancellation(), 1 << 30);
  std::atomic<int> steps = 0;
  auto deaf = rt->spawn(count_steps(net::make_strand(*io), 1000, steps, [](net::cancellation_type) {
    return net::cancellation_type::none;
  }));
  deaf.cancel();
  auto end = [&] {
    try {
      deaf.wait();
      return true;
    } catch (const tandem::operation_cancelled&) {
      return false;
    }
  }();
  EXPECT_TRUE(end ? steps == 1001 : steps == 0) << steps;
}

}  // namespace
