// from_callback_test.cpp: an await of a callback ends once, whoever calls or drops it. Protocol callbacks.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>

#include "runtime/foreign/callback_keeper.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::as_result;
using tandem::callback;
using tandem::errc;
using tandem::from_callback;
using tandem::late_callbacks;
using tandem::task;
using tandem::test::keeper;
using tandem::test::test_runtime;

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

TEST(from_callback,
     a_conversion_that_throws_that_it_was_cancelled_has_failed_and_a_result_is_cancelled) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    const auto code = std::make_error_code(std::errc::operation_canceled);
    const auto throws = [code](int) -> int { throw std::system_error(code); };
    const auto returns = [code](int) { return tandem::result<int>(code); };
    const auto start = [](auto done) { done(1); };
    try {
      (void)co_await from_callback<void(int)>(start, throws);
      ADD_FAILURE() << "no error";
    } catch (const tandem::operation_cancelled&) {
      ADD_FAILURE() << "a failure became a cancellation";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), code);
    }
    EXPECT_THROW((void)co_await from_callback<void(int)>(start, returns),
                 tandem::operation_cancelled);
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
