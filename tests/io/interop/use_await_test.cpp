// use_await_test.cpp: what an await of an operation of Asio gives, where it runs, and how it ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/when_all.hpp>

#include "io/interop/asio_flavour.hpp"
#include "runtime/support/sync_support.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

TANDEM_TEST_COUNT_NEW

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

struct no_default {
  explicit no_default(int number) : value(number) {}
  int value;
};

template <class Signature, class... Args>
auto at_once(Args... args) {
  return operation<Signature>([... args = std::move(args)](auto handler) mutable {
    std::move(handler)(std::move(args)...);
  });
}

// ---- values

TEST(use_await, no_value_is_void_one_is_itself_and_several_are_a_tuple) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    static_assert(std::is_void_v<decltype(at_once<void()>())::value_type>);
    static_assert(std::is_void_v<decltype(at_once<void(net_code)>(net_code()))::value_type>);
    co_await at_once<void()>();
    co_await at_once<void(net_code)>(net_code());
    const int one = co_await at_once<void(int)>(3);
    EXPECT_EQ(one, 3);
    const int behind = co_await at_once<void(net_code, int)>(net_code(), 4);
    EXPECT_EQ(behind, 4);
    const std::vector<int> numbers(100, 7);
    std::tuple<int, std::vector<int>> both =
        co_await at_once<void(net_code, int, std::vector<int>)>(net_code(), 5, numbers);
    EXPECT_EQ(both, std::tuple(5, numbers));
    auto [first, second] = co_await at_once<void(int, std::vector<int>)>(6, numbers);
    EXPECT_EQ(first, 6);
    EXPECT_EQ(second, numbers);
  }());
}

TEST(use_await, values_may_be_move_only_and_without_a_default) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto owned = co_await at_once<void(net_code, std::unique_ptr<int>)>(net_code(),
                                                                        std::make_unique<int>(7));
    EXPECT_EQ(*owned, 7);
    auto made = co_await at_once<void(net_code, no_default)>(net_code(), no_default(8));
    EXPECT_EQ(made.value, 8);
    auto [left, right] = co_await at_once<void(no_default, std::unique_ptr<int>)>(
        no_default(9), std::make_unique<int>(10));
    EXPECT_EQ(left.value + *right, 19);
  }());
}

TEST(use_await, an_exception_pointer_is_thrown_unless_it_is_null) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const int fine = co_await at_once<void(std::exception_ptr, int)>(std::exception_ptr(), 11);
    EXPECT_EQ(fine, 11);
    auto failed = co_await as_result(at_once<void(std::exception_ptr, int)>(
        std::make_exception_ptr(std::runtime_error("told")), 0));
    EXPECT_FALSE(failed.has_value());
    EXPECT_THROW((void)failed.value(), std::runtime_error);
    EXPECT_THROW(co_await at_once<void(std::exception_ptr)>(
                     std::make_exception_ptr(std::runtime_error("told"))),
                 std::runtime_error);
  }());
}

TEST(use_await, signatures_may_be_qualified) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const int l = co_await at_once<void(int)&>(1);
    const int r = co_await at_once<void(int) &&>(2);
    const int n = co_await at_once<void(int) noexcept>(3);
    const int nl = co_await at_once < void(int) & noexcept > (4);
    const int nr = co_await at_once < void(int) && noexcept > (5);
    EXPECT_EQ((std::array{l, r, n, nl, nr}), (std::array{1, 2, 3, 4, 5}));
  }());
}

TEST(use_await, errors_keep_their_code_and_category) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const net_code reset = net::error::connection_reset;
    auto got = co_await as_result(at_once<void(net_code, int)>(reset, 1));
    EXPECT_FALSE(got.has_value());
    EXPECT_EQ(got.error(), std_code(reset));
    EXPECT_EQ(got.error().category(), std_code(reset).category());
    const net_code end = net::error::eof;
    try {
      co_await at_once<void(net_code)>(end);
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std_code(end));
    }
    EXPECT_TRUE((co_await as_result(at_once<void(net_code)>(net_code()))).has_value());
  }());
}

TEST(use_await, adapters_of_tokens_go_around_it) {
  running_context io;
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    net::steady_timer timer(*in, 1h);
    timer.cancel();
    local_pair pair(in->get_executor());
    char byte = 0;
    co_await net::async_write(pair.far, net::buffer("z", 1), use_await);
    auto [code, n] = co_await pair.near.async_read_some(net::buffer(&byte, 1),
                                                        net::experimental::as_tuple(use_await));
    EXPECT_FALSE(code);
    EXPECT_EQ(n, 1u);
    pair.far.close();
    auto [end, none] = co_await pair.near.async_read_some(net::buffer(&byte, 1),
                                                          net::experimental::as_tuple(use_await));
    EXPECT_EQ(end, net::error::eof);
    EXPECT_EQ(none, 0u);
    net_code told;
    local_pair other(in->get_executor());  // Asio may wait for ever for what follows an end
    other.far.close();
    const std::size_t zero = co_await other.near.async_read_some(
        net::buffer(&byte, 1), net::redirect_error(use_await, told));
    EXPECT_EQ(zero, 0u);
    EXPECT_EQ(told, net::error::eof);
    const auto strand = net::make_strand(*in);
    timer.expires_after(1ms);
    co_await timer.async_wait(net::bind_executor(strand, use_await));
  }(io));
}

TEST(use_await, an_abort_that_is_no_stop_is_no_cancellation) {
  test_runtime rt(tandem::test::with_threads(1));  // the timer is no two threads'
  running_context io;
  rt.run([](running_context& in) -> task<void> {
    net::steady_timer timer(*in, 1h);
    auto waits = tandem::spawn([](net::steady_timer& at) -> task<void> {
      auto got = co_await as_result(at.async_wait(use_await));
      EXPECT_EQ(got.error(), aborted());
      EXPECT_EQ(got.reason().value_or(tandem::stop_reason::none), tandem::stop_reason::none);
      try {
        co_await at_once<void(net_code)>(net_code(net::error::operation_aborted));
        ADD_FAILURE();
      } catch (const tandem::operation_cancelled&) {
        ADD_FAILURE();
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), aborted());
      }
    }(timer));
    while (timer.cancel() == 0) co_await net::post(*in, use_await);
    co_await std::move(waits);
  }(io));
}

// ---- starts and ends

TEST(use_await, what_the_start_throws_is_thrown_by_the_await) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    bool thrown = false;
    try {
      co_await operation<void(int)>([](auto) { throw std::runtime_error("start"); });
    } catch (const std::runtime_error& error) {
      thrown = std::string(error.what()) == "start";
    }
    EXPECT_TRUE(thrown);
  }());
}

TEST(use_await, what_the_start_throws_waits_for_a_handler_that_is_under_way) {
  test_runtime rt;
  std::atomic<bool> may_call = false;
  std::atomic<bool> has_called = false;
  std::thread other;
  rt.run([&]() -> task<void> {
    try {
      (void)co_await operation<void(int)>([&](auto handler) {
        using kept = std::decay_t<decltype(handler)>;
        other = std::thread([&, held = std::make_unique<kept>(std::move(handler))] {
          while (!may_call) std::this_thread::yield();
          has_called = true;
          std::move (*held)(1);
        });
        may_call = true;
        throw std::runtime_error("late");
      });
      ADD_FAILURE();
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(has_called);
    }
  }());
  other.join();
}

TEST(use_await, the_handler_may_be_called_by_any_thread_and_at_any_time) {
  test_runtime rt;
  rt.run([](test_runtime& at) -> task<void> {
    for (int i = 0; i < tandem::test::rounds(2000); ++i) {
      std::thread other;
      const int got = co_await operation<void(int)>([&](auto handler) {
        using kept = std::decay_t<decltype(handler)>;
        auto held = std::make_unique<kept>(std::move(handler));
        if (i % 2 != 0) return std::move(*held)(i);
        other = std::thread([i, mine = std::move(held)] { std::move (*mine)(i); });
      });
      if (other.joinable()) other.join();
      EXPECT_EQ(got, i);
      EXPECT_TRUE(at.workers().is_current());
    }
  }(rt));
}

TEST(use_await, a_handler_that_is_dropped_ends_the_await) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto got = co_await as_result(operation<void(int)>([](auto /*dropped*/) {}));
    EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
    EXPECT_FALSE(got.is_cancelled());
    try {
      (void)co_await operation<void(int)>([](auto /*dropped*/) {});
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("use_await"), std::string::npos);
    }
  }());
}

TEST(use_await, the_end_of_the_context_ends_the_await) {
  test_runtime rt(tandem::test::with_threads(1));
  std::vector<tandem::join_handle<void>> all;
  std::atomic<int> started = 0;
  {
    net::io_context io;
    const net::any_io_executor places[] = {
        io.get_executor(), net::make_strand(io),
        net::make_strand(net::any_io_executor(io.get_executor()))};
    for (const auto& place : places) {
      all.push_back(
          rt->spawn([](const net::any_io_executor& at, std::atomic<int>& count) -> task<void> {
            auto got = co_await as_result(operation_at<void()>(at, [&](auto handler) {
              net::post(at, std::move(handler));
              ++count;
            }));
            EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
            EXPECT_FALSE(got.is_cancelled());
          }(place, started)));
    }
    all.push_back(rt->spawn([](net::io_context& at) -> task<void> {
      auto legacy = []() -> net::awaitable<int> {
        net::steady_timer timer(co_await net::this_coro::executor, 1h);
        co_await timer.async_wait(net::use_awaitable);
        co_return 1;
      };
      auto got = co_await as_result(net::co_spawn(at, legacy(), use_await));
      EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
    }(io)));
    rt.run(tandem::test::settle());  // one thread: all of them wait now
    EXPECT_EQ(started, 1);           // those of strands start there, and never do
  }
  for (auto& each : all) each.wait();
}

TEST(use_await, the_end_of_the_context_after_a_stop_is_a_cancellation) {
  test_runtime rt;
  std::optional<net::io_context> io(std::in_place);
  std::atomic<bool> started = false;
  auto waits = rt->spawn([](net::io_context& at, std::atomic<bool>& has_started) -> task<void> {
    co_await operation_at<void()>(at.get_executor(), [&](auto handler) {
      net::post(at, std::move(handler));
      has_started = true;
    });
  }(*io, started));
  while (!started) std::this_thread::yield();
  waits.cancel();
  io.reset();
  EXPECT_THROW(waits.wait(), tandem::operation_cancelled);
}

/// What Asio's services are to an operation: the handler lies there, a stop reaches in, and at its
/// end it destroys handlers first, and itself then.
template <class Handler>
struct small_service {
  std::optional<Handler> handler;
  int asked = 0;
};

TEST(use_await, a_stop_never_reaches_into_a_context_that_has_dropped_the_handler) {
  test_runtime rt;
  for (int i = 0; i < tandem::test::rounds(4000); ++i) {
    std::atomic<std::function<void()>*> end = nullptr;
    auto waits = rt->spawn([](std::atomic<std::function<void()>*>& told) -> task<void> {
      std::function<void()> ends;
      co_await operation<void(net_code)>([&](auto handler) {
        using service = small_service<std::decay_t<decltype(handler)>>;
        auto* const own = new service();
        net::get_associated_cancellation_slot(handler).assign(
            [own](net::cancellation_type) { ++own->asked; });
        own->handler.emplace(std::move(handler));
        ends = [own] {
          own->handler.reset();
          delete own;
        };
        told = &ends;
      });
    }(end));
    std::function<void()>* ends = nullptr;
    while ((ends = end) == nullptr) std::this_thread::yield();
    std::thread ender([call = *ends] { call(); });
    waits.cancel();
    ender.join();
    EXPECT_ANY_THROW(waits.wait());
  }
}

TEST(use_await, a_context_that_is_stopped_is_told_of) {
  test_runtime rt;
  net::io_context io;
  io.run();
  ASSERT_TRUE(io.stopped());
  const net::any_io_executor places[] = {io.get_executor(), net::make_strand(io),
                                         net::make_strand(net::any_io_executor(io.get_executor()))};
  for (const auto& place : places) {
    rt.run([](net::any_io_executor at) -> task<void> {
      net::steady_timer timer(at, 1ms);
      try {
        co_await timer.async_wait(use_await);
        ADD_FAILURE();
      } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("restart()"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("executor_work_guard"), std::string::npos);
      }
      auto got = co_await as_result(timer.async_wait(use_await));
      EXPECT_THROW(got.value(), std::logic_error);
    }(place));
  }
}

// ---- stops

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

// ---- executors

/// Start, steps and emission of an operation at `at`; `is_there` says whether that is where it runs.
template <class Executor, class Token, class IsThere>
task<void> stay_there(Executor at, Token token, IsThere is_there, std::atomic<bool>& started,
                      int& touched) {
  // Named: g++ 12 destroys a temporary lambda of a co_await expression twice.
  const auto start = [&, is_there](auto handler) {
    EXPECT_TRUE(is_there());
    ++touched;
    using kept = std::decay_t<decltype(handler)>;
    auto held = std::make_shared<std::optional<kept>>(std::move(handler));
    auto own = net::get_associated_executor(**held, at);
    net::get_associated_cancellation_slot(**held).assign(
        [&, is_there, held, own](net::cancellation_type) {
          EXPECT_TRUE(is_there());
          ++touched;
          net::post(own, [&, is_there, held] {
            EXPECT_TRUE(is_there());
            ++touched;
            kept last(std::move(**held));
            std::move(last)(net_code(net::error::operation_aborted));
          });
        });
    net::post(own, [&, is_there] {
      EXPECT_TRUE(is_there());
      ++touched;
      started = true;
    });
  };
  auto got = co_await as_result(operation_at<void(net_code)>(at, start, token));
  constexpr bool tells = requires { token.ec_; } || requires { token.get().ec_; };
  EXPECT_EQ(got.is_cancelled(), !tells);
}

TEST(use_await, a_serial_executor_runs_start_steps_and_emission) {
  running_context io(3);
  running_context single(1, 1);
  test_runtime rt;
  const auto plain = net::make_strand(*io);
  const auto over_any = net::make_strand(net::any_io_executor(io->get_executor()));
  const auto check = [&](auto at, auto token, auto is_there) {
    std::atomic<bool> started = false;
    int touched = 0;  // by the strand, so that ThreadSanitizer sees who else does
    auto stays = rt->spawn(stay_there(at, token, is_there, started, touched));
    while (!started) std::this_thread::yield();
    stays.cancel();
    stays.wait();
    EXPECT_EQ(touched, 4);
  };
  const auto on_plain = [=] { return plain.running_in_this_thread(); };
  const auto on_over_any = [=] { return over_any.running_in_this_thread(); };
  check(plain, use_await, on_plain);
  check(net::any_io_executor(plain), use_await, on_plain);
  check(over_any, use_await, on_over_any);
  check(net::any_io_executor(over_any), use_await, on_over_any);
  check(single->get_executor(), use_await,
        [at = single->get_executor()] { return at.running_in_this_thread(); });
  check(net::any_io_executor(single->get_executor()), use_await,
        [at = single->get_executor()] { return at.running_in_this_thread(); });
  check(io->get_executor(), net::bind_executor(plain, use_await), on_plain);
  check(io->get_executor(), net::bind_executor(net::any_io_executor(over_any), use_await),
        on_over_any);
  net_code code;
  check(io->get_executor(), net::bind_executor(plain, net::redirect_error(use_await, code)),
        on_plain);
  check(io->get_executor(), net::redirect_error(net::bind_executor(plain, use_await), code),
        on_plain);
}

TEST(use_await, steps_of_an_operation_of_a_context_of_many_threads_take_turns) {
  running_context io(4);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    int count = 0;  // by the turns of the await, so that ThreadSanitizer sees who else does
    std::atomic<int> left = 1000;
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      using kept = std::decay_t<decltype(handler)>;
      auto held = std::make_shared<std::optional<kept>>(std::move(handler));
      const auto own = net::get_associated_executor(**held, in->get_executor());
      for (int i = 0; i < 1000; ++i) {
        const auto step = [&, held] {
          ++count;
          if (--left == 0) std::move (**held)();
        };
        if (i % 2 == 0) {
          net::post(own, step);
        } else {
          net::post(*in, [own, step] { net::dispatch(own, step); });
        }
      }
    });
    EXPECT_EQ(count, 1000);
  }(io));
}

TEST(use_await, a_copy_of_its_executor_runs_what_it_gets_when_the_await_is_over) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    std::function<void(std::function<void()>)> late;
    std::function<void(std::function<void()>)> at_once;
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const auto own = net::get_associated_executor(handler, in->get_executor());
      late = [own](std::function<void()> f) { net::post(own, std::move(f)); };
      at_once = [own](std::function<void()> f) { net::dispatch(own, std::move(f)); };
      net::post(own, std::move(handler));
    });
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i) {
      late([&] { ++ran; });
      at_once([&] { ++ran; });
    }
    late = nullptr;
    at_once = nullptr;
    while (ran != 200) co_await net::post(*in, use_await);
  }(io));
}

TEST(use_await, steps_may_be_posted_through_its_executor_however_that_is_held) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const auto own = net::get_associated_executor(handler, in->get_executor());
      net::post(own, std::move(handler));
    });
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const net::any_io_executor own(net::get_associated_executor(handler, in->get_executor()));
      net::post(own, std::move(handler));
    });
    const net::any_io_executor any(in->get_executor());
    co_await operation_at<void()>(any, [&](auto handler) {
      const net::any_io_executor own(net::get_associated_executor(handler, any));
      net::dispatch(own, std::move(handler));
    });
  }(io));
}

TEST(use_await, several_branches_may_give_their_memory_back_late) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    for (int i = 0; i < tandem::test::rounds(500); ++i) {
      net::steady_timer one(*in, 0ms);
      net::steady_timer other(*in, 10us);
      auto [order, first, second] =
          co_await net::experimental::make_parallel_group(
              [&](auto token) { return one.async_wait(std::move(token)); },
              [&](auto token) { return other.async_wait(std::move(token)); })
              .async_wait(net::experimental::wait_for_all(), use_await);
      EXPECT_EQ(order[0] + order[1], 1u);
      EXPECT_FALSE(first);
      EXPECT_FALSE(second);
    }
  }(io));
}

/// Its memory goes back when the await is long over.
TEST(use_await, memory_of_the_handler_may_be_given_back_when_the_await_is_over) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::shared_ptr<int> kept;
    co_await [](std::shared_ptr<int>& to) -> task<void> {
      co_await operation<void()>([&](auto handler) {
        to = std::allocate_shared<int>(
            net::get_associated_allocator(handler, std::allocator<void>()), 5);
        std::move(handler)();
      });
    }(kept);
    EXPECT_EQ(*kept, 5);
    kept.reset();
  }());
}

TEST(use_await, spawned_coroutines_of_asios_give_values_exceptions_and_ends) {
  running_context io(2);
  test_runtime rt;
  std::atomic<bool> started = false;
  rt.run([](running_context& in, std::atomic<bool>& has_started) -> task<void> {
    const int value =
        co_await net::co_spawn(*in, []() -> net::awaitable<int> { co_return 4; }, use_await);
    EXPECT_EQ(value, 4);
    co_await net::co_spawn(*in, []() -> net::awaitable<void> { co_return; }, use_await);
    auto failed = co_await as_result(net::co_spawn(
        *in,
        []() -> net::awaitable<int> {
          throw std::runtime_error("legacy");
          co_return 1;
        },
        use_await));
    EXPECT_THROW((void)failed.value(), std::runtime_error);
    auto waits = tandem::spawn([](net::io_context& at, std::atomic<bool>& flag) -> task<void> {
      auto legacy = [](std::atomic<bool>& told) -> net::awaitable<void> {
        net::steady_timer never(co_await net::this_coro::executor, 1h);
        told = true;
        co_await never.async_wait(net::use_awaitable);
      };
      co_await net::co_spawn(net::make_strand(at), legacy(flag), use_await);  // as Asio wants it
    }(*in, has_started));
    while (!has_started) co_await net::post(*in, use_await);
    waits.cancel();
    auto end = co_await as_result(std::move(waits));
    EXPECT_TRUE(end.is_cancelled());
  }(io, started));
}

// ---- homes, clock, memory

TEST(use_await, a_task_goes_on_at_its_home) {
  running_context io(2);
  test_runtime rt;
  rt.run([](test_runtime& at, running_context& in) -> task<void> {
    const auto once = [&](tandem::executor& home) -> task<void> {
      co_await tandem::resume_on(home);
      for (int i = 0; i < 50; ++i) {
        net::steady_timer timer(*in, std::chrono::microseconds(i % 3));
        co_await timer.async_wait(use_await);
        EXPECT_TRUE(home.is_current());
        co_await net::post(net::make_strand(*in), use_await);
        EXPECT_TRUE(home.is_current());
      }
    };
    tandem::strand strand(at.workers());
    auto& pool = tandem::io::install(*at);
    co_await once(at.workers());
    co_await once(strand.executor());
    co_await once(pool.thread(0).executor());
  }(rt, io));
}

TEST(use_await, a_virtual_clock_waits_for_the_operation) {
  running_context io;
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  auto got = rt.spawn([](running_context& in) -> task<int> {
    co_return co_await tandem::with_timeout(1s, [](running_context& at) -> task<int> {
      net::steady_timer timer(*at, 5ms);  // of the real clock
      co_await timer.async_wait(use_await);
      co_return 3;
    }(in));
  }(io));
  EXPECT_EQ(got.wait(), 3);
}

task<long> news_of(running_context& io) {
  co_return co_await operation_at<void(long)>(io->get_executor(), [&](auto handler) {
    net::post(*io, [handler = std::move(handler)]() mutable {
      std::move(handler)(tandem::test::news());
    });
  });
}

/// Asio keeps memory for handlers in each thread of its contexts; the first ones are not counted.
TEST(use_await, timers_and_sockets_allocate_nothing) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#endif
  test_runtime rt(tandem::test::with_threads(1));
  for (const int hint : {-1, 1}) {
    running_context io(1, hint);
    rt.run([](running_context& in) -> task<void> {
      net::steady_timer timer(*in);
      local_pair pair(in->get_executor());
      const auto some = [&](int times) -> task<void> {
        char bytes[8] = {};
        for (int i = 0; i < times; ++i) {
          timer.expires_after(0ms);
          co_await timer.async_wait(use_await);
          co_await net::async_write(pair.far, net::buffer(bytes), use_await);
          co_await net::async_read(pair.near, net::buffer(bytes), use_await);
          (void)co_await pair.near.async_read_some(net::buffer(bytes, 0), use_await);
        }
      };
      co_await some(200);
      const long before = tandem::test::news();
      const long before_there = co_await news_of(in);
      co_await some(1000);
      EXPECT_EQ(tandem::test::news() - before, 0);
      // What asks is counted, too, whose handler is no operation's.
      EXPECT_LE((co_await news_of(in)) - before_there, 1);
    }(io));
  }
}

}  // namespace
