// once_test.cpp: the first does it, the others wait; a failed or stopped attempt passes the job on.
// SPDX-License-Identifier: MIT
#include <tandem/once.hpp>

#include <tandem/event.hpp>
#include <tandem/lazy.hpp>

#include "runtime/support/sync_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::lazy;
using tandem::once;
using tandem::task;
using tandem::test::news;
using tandem::test::settle;
using tandem::test::test_runtime;

struct shared {
  once flag;
  event go;
  int calls = 0;
  int failing = 0;  // so many attempts
  std::string log;
};

task<void> attempt(shared& all) {
  ++all.calls;
  co_await all.go.wait();
  if (all.failing-- > 0) throw std::runtime_error("planned");
}

/// r: it is done; f: its attempt has failed; c: it was stopped.
task<void> ask(shared& all) {
  try {
    co_await all.flag.call([&all] { return attempt(all); });
    EXPECT_TRUE(all.flag.is_done());
    all.log += 'r';
  } catch (const tandem::operation_cancelled&) {
    all.log += 'c';
  } catch (const std::runtime_error&) {
    all.log += 'f';
  }
}

TEST(once, is_done_by_the_first_and_the_others_wait_for_it) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(ask(all));
    auto b = tandem::spawn(ask(all));
    auto c = tandem::spawn(ask(all));
    co_await settle();
    EXPECT_EQ(all.log, "");
    EXPECT_FALSE(all.flag.is_done());
    all.go.set();
    co_await a;
    co_await b;
    co_await c;
    co_await ask(all);
  }(s));
  EXPECT_EQ(s.log, "rrrr");
  EXPECT_EQ(s.calls, 1);
}

TEST(once, an_attempt_that_fails_passes_the_job_to_the_oldest_that_waits) {
  test_runtime rt(1);
  shared s;
  s.failing = 2;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(ask(all));
    auto b = tandem::spawn(ask(all));
    auto c = tandem::spawn(ask(all));
    auto d = tandem::spawn(ask(all));
    co_await settle();
    all.go.set();
    co_await a;
    co_await b;
    co_await c;
    co_await d;
  }(s));
  EXPECT_EQ(s.log, "ffrr");
  EXPECT_EQ(s.calls, 3);
}

TEST(once, an_attempt_that_is_stopped_passes_the_job_on_too) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(ask(all));
    auto b = tandem::spawn(ask(all));
    auto c = tandem::spawn(ask(all));
    co_await settle();
    b.cancel();
    a.cancel();
    co_await a;
    co_await b;
    co_await settle();
    EXPECT_EQ(all.calls, 2);
    all.go.set();
    co_await c;
  }(s));
  EXPECT_EQ(s.log, "ccr");
}

TEST(once, after_a_last_attempt_that_failed_the_next_caller_begins_again) {
  test_runtime rt(1);
  shared s;
  s.failing = 1;
  s.go.set();
  rt.run([](shared& all) -> task<void> {
    co_await ask(all);
    co_await ask(all);
    EXPECT_TRUE((co_await tandem::as_result(all.flag.call([]() -> task<void> {
                  ADD_FAILURE() << "it is done";
                  co_return;
                }))).has_value());
  }(s));
  EXPECT_EQ(s.log, "fr");
}

TEST(once, a_call_that_throws_before_there_is_a_task_is_a_failed_attempt) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    once flag;
    const auto thrower = []() -> task<void> { throw std::runtime_error("at the call"); };
    EXPECT_FALSE((co_await tandem::as_result(flag.call(thrower))).has_value());
    const auto plain = []() -> task<int> { co_return 1; };
    co_await flag.call(plain);
    EXPECT_TRUE(flag.is_done());
  }());
}

TEST(once, is_one_load_without_allocation_when_it_is_done) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    once flag;
    const auto nothing = []() -> task<void> { co_return; };
    co_await flag.call(nothing);
    const long before = news();
    for (int i = 0; i < 1000; ++i) co_await flag.call(nothing);
    EXPECT_EQ(news(), before);
  }());
}

TEST(lazy, makes_its_value_when_it_is_first_asked_for_and_once) {
  test_runtime rt(2);
  int made = 0;
  lazy<std::string> text([&made]() -> task<std::string> {
    ++made;
    co_await tandem::yield();
    co_return "made";
  });
  EXPECT_EQ(text.try_get(), nullptr);
  rt.run([](lazy<std::string>& of) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 8; ++i) {
        scope.spawn([](lazy<std::string>& each) -> task<void> {
          std::string& got = co_await each.get();
          EXPECT_EQ(got, "made");
          EXPECT_EQ(&got, each.try_get());
        }(of));
      }
      co_return;
    });
  }(text));
  EXPECT_EQ(made, 1);
}

TEST(lazy, an_attempt_that_failed_is_made_again_for_the_next) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    int attempts = 0;
    lazy<int> number([&attempts]() -> task<int> {
      if (++attempts == 1) throw std::runtime_error("first");
      co_return 7;
    });
    EXPECT_FALSE((co_await tandem::as_result(number.get())).has_value());
    EXPECT_EQ(number.try_get(), nullptr);
    EXPECT_EQ(co_await number.get(), 7);
    co_await number.get() = 8;
    EXPECT_EQ(*number.try_get(), 8);
  }());
}

}  // namespace
