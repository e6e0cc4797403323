// from_callback_test.cpp: an await of a callback ends once, whoever calls, drops or stops it. Protocol callbacks.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::callback;
using tandem::errc;
using tandem::from_callback;
using tandem::late_callbacks;
using tandem::task;
using tandem::test::test_runtime;

/// Keeps what it gets until the test says what becomes of it.
template <class Signature>
struct keeper {
  std::optional<callback<Signature>> held;
  std::atomic<bool> is_there{false};

  void keep(callback<Signature> one) {
    held.emplace(std::move(one));
    is_there = true;
  }
  void wait() const {
    while (!is_there) std::this_thread::yield();
  }
};

TEST(from_callback, a_call_before_the_start_returns_is_the_value) {
  test_runtime rt;
  const auto check = []() -> task<int> {
    co_return co_await from_callback<void(int)>([](auto done) { done(7); });
  };
  EXPECT_EQ(rt.run(check()), 7);
}

TEST(from_callback, a_call_from_a_foreign_thread_resumes_at_home) {
  test_runtime rt;
  const auto check = [&rt]() -> task<std::string> {
    std::thread other;
    std::string got = co_await from_callback<void(std::string)>([&other](auto done) {
      other = std::thread([done = std::move(done)] { done(std::string(100, 'x')); });
    });
    EXPECT_TRUE(rt.workers().is_current());
    other.join();
    co_return got;
  };
  EXPECT_EQ(rt.run(check()), std::string(100, 'x'));
}

TEST(from_callback, no_argument_is_nothing_and_several_are_a_tuple) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    co_await from_callback<void()>([](auto done) { done(); });
    const auto [number, text] = co_await from_callback<void(int, const std::string&)>(
        [](auto done) { done(3, std::string("three")); });
    EXPECT_EQ(number, 3);
    EXPECT_EQ(text, "three");
    auto owned = co_await from_callback<void(std::unique_ptr<int>)>(
        [](auto done) { done(std::make_unique<int>(5)); });
    EXPECT_EQ(*owned, 5);
  };
  rt.run(check());
}

TEST(from_callback, the_first_of_several_calls_counts_and_the_others_are_counted) {
  test_runtime rt;
  const std::uint64_t before = late_callbacks();
  keeper<void(int)> kept;
  const auto check = [&kept]() -> task<int> {
    co_return co_await from_callback<void(int)>([&kept](auto done) {
      kept.keep(done);
      done(1);
      done(2);
    });
  };
  EXPECT_EQ(rt.run(check()), 1);
  (*kept.held)(3);  // its slot may be somebody else's by now
  EXPECT_EQ(late_callbacks() - before, 2U);
}

TEST(from_callback, a_late_call_does_not_end_the_next_await_of_its_slot) {
  test_runtime rt;
  keeper<void(int)> old;
  const auto check = [&old]() -> task<void> {
    EXPECT_EQ(co_await from_callback<void(int)>([&old](auto done) {
                old.keep(done);
                done(1);
              }),
              1);
    for (int i = 0; i < 100; ++i) {
      const int got = co_await from_callback<void(int)>([&](auto done) {
        (*old.held)(-1);
        done(i);
      });
      EXPECT_EQ(got, i);
    }
  };
  rt.run(check());
}

TEST(from_callback, one_that_dies_in_all_its_copies_ends_the_await) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    const auto dropped = co_await as_result(from_callback<void(int)>([](auto done) {
      std::vector<callback<void(int)>> copies(5, done);
      auto moved = std::move(copies.front());
      copies.front() = done;
    }));
    EXPECT_EQ(dropped.error(), errc::callback_dropped);
    std::thread other;
    const auto later = co_await as_result(from_callback<void(int)>([&other](auto done) {
      other = std::thread([one = std::function<void(int)>(done)]() mutable { one = nullptr; });
    }));
    EXPECT_EQ(later.error(), errc::callback_dropped);
    other.join();
    try {
      co_await from_callback<void()>([](auto) {});
      ADD_FAILURE() << "no error";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), errc::callback_dropped);
      EXPECT_NE(std::string_view(error.what()).find("destroyed"), std::string_view::npos);
    }
  };
  rt.run(check());
}

TEST(from_callback, a_move_only_form_is_called_once) {
  test_runtime rt;
  const std::uint64_t before = late_callbacks();
  const auto check = []() -> task<int> {
    co_return co_await from_callback<void(int)>([](auto done) {
      tandem::unique_callback<void(int)> one = std::move(done);
      auto moved = std::move(one);
      moved(4);
      moved(5);
    });
  };
  EXPECT_EQ(rt.run(check()), 4);
  EXPECT_EQ(late_callbacks() - before, 1U);
}

// A library in C: it has a function and a void*.
struct c_library {
  void (*function)(int, const char*, void*) = nullptr;
  void* data = nullptr;
  void (*destroy)(void*) = nullptr;
};

TEST(from_callback, a_function_in_c_gets_a_number_for_its_pointer) {
  test_runtime rt;
  c_library library;
  const std::uint64_t before = late_callbacks();
  const auto check = [&library]() -> task<std::string> {
    co_return co_await from_callback<void(int, const char*)>(
        [&library](auto done) {
          library = {done.c_function(), done.c_data(), nullptr};
          std::string gone = "borrowed";
          library.function(1, gone.c_str(), library.data);
          gone = "........";
        },
        [](int, const char* text) { return std::string(text); });
  };
  EXPECT_EQ(rt.run(check()), "borrowed");
  library.function(1, "late", library.data);  // hits nothing
  EXPECT_EQ(late_callbacks() - before, 1U);
  for (const std::uintptr_t made_up : {0UL, 1UL, 0xFFFFFFFFFFFFFFFFUL, 0x00007F0012345678UL}) {
    library.function(1, "", reinterpret_cast<void*>(made_up));
  }
  EXPECT_EQ(late_callbacks() - before, 5U);
}

TEST(from_callback, the_pointer_may_come_first) {
  test_runtime rt;
  const auto check = []() -> task<int> {
    co_return co_await from_callback<void(int)>(
        [](auto done) { done.c_function_first()(done.c_data(), 6); });
  };
  EXPECT_EQ(rt.run(check()), 6);
}

TEST(from_callback, a_destroy_notify_of_c_ends_the_await) {
  test_runtime rt;
  c_library library;
  const auto check = [&library]() -> task<void> {
    std::thread other;
    const auto got = co_await as_result(from_callback<void(int, const char*)>(
        [&](auto done) {
          (void)done.c_data();  // asked for twice, held once
          library = {done.c_function(), done.c_data(), done.c_drop()};
          other = std::thread([&library] { library.destroy(library.data); });
        },
        [](int number, const char*) { return number; }));
    EXPECT_EQ(got.error(), errc::callback_dropped);
    other.join();
    library.destroy(library.data);  // late: nothing
  };
  rt.run(check());
}

TEST(from_callback, held_by_c_alone_it_waits) {
  test_runtime rt;
  c_library library;
  std::atomic<bool> there{false};
  auto waiting = rt->spawn([](c_library& of, std::atomic<bool>& begun) -> task<int> {
    co_return co_await from_callback<void(int, const char*)>(
        [&](auto done) {
          of = {done.c_function(), done.c_data(), nullptr};
          begun = true;
        },
        [](int number, const char*) { return number; });
  }(library, there));
  while (!there) std::this_thread::yield();
  library.function(8, "", library.data);
  EXPECT_EQ(waiting.wait(), 8);
}

TEST(from_callback, what_the_callback_returns_comes_from_the_conversion) {
  test_runtime rt;
  int answered = 0;
  int late = 1;
  const auto check = [&]() -> task<std::string> {
    co_return co_await from_callback<int(std::string_view)>(
        [&](auto done) {
          answered = done("four");
          late = done("more");
        },
        [](std::string_view text) {
          return tandem::returning(static_cast<int>(text.size()), std::string(text));
        });
  };
  EXPECT_EQ(rt.run(check()), "four");
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(late, 0);
  const auto no_value = [&]() -> task<void> {
    co_await from_callback<int(int)>([&](auto done) { answered = done(1); },
                                     [](int) { return tandem::returning(9); });
  };
  rt.run(no_value());
  EXPECT_EQ(answered, 9);
}

TEST(from_callback, a_result_of_the_conversion_is_that_of_the_await) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    const auto ask = [](int status) {
      return from_callback<void(int)>([status](auto done) { done(status); },
                                      [](int heard) -> tandem::result<std::string> {
                                        if (heard != 0) {
                                          return std::make_error_code(std::errc::io_error);
                                        }
                                        return std::string("fine");
                                      });
    };
    EXPECT_EQ(co_await ask(0), "fine");
    const auto failed = co_await as_result(ask(1));
    EXPECT_EQ(failed.error(), std::errc::io_error);
    try {
      (void)co_await ask(1);
      ADD_FAILURE() << "no error";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::io_error);
    }
  };
  rt.run(check());
}

TEST(from_callback, what_the_conversion_throws_reaches_the_task_only) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    bool returned = false;
    try {
      co_await from_callback<int(int)>(
          [&](auto done) {
            EXPECT_EQ(done(1), 0);
            returned = true;
          },
          [](int) -> tandem::returning<int> { throw std::runtime_error("no"); });
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no");
    }
    EXPECT_TRUE(returned);
  };
  rt.run(check());
}

TEST(from_callback, what_the_start_throws_is_thrown_and_nothing_waits) {
  test_runtime rt;
  keeper<void(int)> kept;
  const auto check = [&kept]() -> task<void> {
    try {
      co_await from_callback<void(int)>([&kept](auto done) {
        kept.keep(done);
        throw std::runtime_error("refused");
      });
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "refused");
    }
    const auto both = co_await as_result(from_callback<void(int)>([](auto done) {
      done(1);
      throw std::runtime_error("after its call");
    }));
    EXPECT_THROW(std::rethrow_exception(both.exception()), std::runtime_error);
  };
  rt.run(check());
  const std::uint64_t before = late_callbacks();
  (*kept.held)(1);
  EXPECT_EQ(late_callbacks() - before, 1U);
}

TEST(from_callback, a_task_that_is_stopped_starts_nothing) {
  test_runtime rt;
  bool started = false;
  std::atomic<bool> runs{false};
  auto stopped = rt->spawn([](std::atomic<bool>& begun, bool& called) -> task<void> {
    begun = true;
    while (!tandem::stop_requested()) std::this_thread::yield();
    const auto got = co_await as_result(from_callback<void()>([&](auto done) {
      called = true;
      done();
    }));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(got.reason(), tandem::stop_reason::user);
  }(runs, started));
  while (!runs) std::this_thread::yield();
  stopped.cancel();
  stopped.wait();
  EXPECT_FALSE(started);
}

TEST(from_callback, without_a_function_for_it_a_stop_waits_for_the_call) {
  test_runtime rt;
  keeper<void(int)> kept;
  std::atomic<bool> ended{false};
  auto stopped = rt->spawn([](keeper<void(int)>& one, std::atomic<bool>& over) -> task<int> {
    const int got = co_await from_callback<void(int)>([&](auto done) { one.keep(done); });
    over = true;
    co_return got;
  }(kept, ended));
  kept.wait();
  stopped.cancel();
  rt.run([]() -> task<void> {
    for (int i = 0; i < 100; ++i) co_await tandem::yield();
  }());
  EXPECT_FALSE(ended);
  (*kept.held)(2);
  EXPECT_EQ(stopped.wait(), 2);  // the call has won
}

TEST(from_callback, one_that_may_be_abandoned_ends_with_the_stop) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<void> {
    const auto got = co_await as_result(from_callback<void(int)>(
        [&](auto done) { one.keep(done); }, tandem::as_values, tandem::abandonable));
    EXPECT_EQ(got.reason(), tandem::stop_reason::user);
  }(kept));
  kept.wait();
  stopped.cancel();
  stopped.wait();
  const std::uint64_t before = late_callbacks();
  (*kept.held)(1);
  EXPECT_EQ(late_callbacks() - before, 1U);
}

TEST(from_callback, the_library_is_told_of_a_stop_and_may_call_at_once) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<int> {
    co_return co_await from_callback<void(int)>(
        [&](auto done) { one.keep(done); }, tandem::as_values,
        [&]() noexcept { (*one.held)(-1); });  // as a library that cancels inline
  }(kept));
  kept.wait();
  stopped.cancel();
  EXPECT_EQ(stopped.wait(), -1);
}

TEST(from_callback, one_that_is_dropped_for_a_stop_is_cancelled) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<void> {
    const auto got = co_await as_result(
        from_callback<void(int)>([&](auto done) { one.keep(std::move(done)); }, tandem::as_values,
                                 [&]() noexcept { one.held.reset(); }));
    EXPECT_TRUE(got.is_cancelled());
  }(kept));
  kept.wait();
  stopped.cancel();
  stopped.wait();
}

TEST(from_callback, a_stop_that_comes_while_it_starts_is_told_afterwards) {
  test_runtime rt;
  std::atomic<bool> inside{false};
  std::atomic<bool> asked{false};
  bool start_is_over = false;
  auto stopped =
      rt->spawn([](std::atomic<bool>& in, std::atomic<bool>& stop, bool& over) -> task<int> {
        keeper<void(int)> one;
        co_return co_await from_callback<void(int)>(
            [&](auto done) {
              one.keep(done);
              in = true;
              while (!stop) std::this_thread::yield();
              over = true;
            },
            tandem::as_values,
            [&]() noexcept {
              EXPECT_TRUE(over);
              (*one.held)(5);
            });
      }(inside, asked, start_is_over));
  while (!inside) std::this_thread::yield();
  stopped.cancel();
  asked = true;
  EXPECT_EQ(stopped.wait(), 5);
}

TEST(from_callback, a_virtual_clock_waits_for_the_call) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  std::thread other;
  auto got = rt.spawn([](std::thread& late) -> task<int> {
    co_return co_await tandem::with_timeout(1s, [](std::thread& from) -> task<int> {
      co_return co_await from_callback<void(int)>([&](auto done) {
        from = std::thread([done] {
          std::this_thread::sleep_for(5ms);
          done(3);
        });
      });
    }(late));
  }(other));
  EXPECT_EQ(got.wait(), 3);
  other.join();
}

TEST(from_callback, calls_that_are_ready_give_way_now_and_then) {
  test_runtime rt(tandem::test::with_threads(1));
  bool other_ran = false;
  const auto check = [&]() -> task<void> {
    auto other = tandem::spawn([](bool& ran) -> task<void> {
      ran = true;
      co_return;
    }(other_ran));
    for (int i = 0; i < 1000 && !other_ran; ++i) {
      co_await from_callback<void()>([](auto done) { done(); });
    }
    EXPECT_TRUE(other_ran);
    co_await std::move(other);
  };
  rt.run(check());
}

}  // namespace
