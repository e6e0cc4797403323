// scope_locals_test.cpp: variables of a scope's body end before its children, unless it joins them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "test_runtime.hpp"

namespace {

using tandem::event;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::test_runtime;

/// Waits outside of its scope's body, and refers to something; it never touches that.
task<void> refer_to(event& until, const int& something) {
  (void)something;
  co_await until.wait();
}
task<void> own(event& until, std::string something) {
  co_await until.wait();
  EXPECT_EQ(something, "its own");
}
task<void> after(event& until) {
  for (int i = 0; i < 10; ++i) co_await tandem::yield();
  until.set();
}

/// What is said on stderr while `body` runs in a scope, whose children wait for `until`.
template <class Body>
std::string said_of(Body body) {
  testing::internal::CaptureStderr();
  {
    test_runtime rt(1);
    rt.run([](Body& inner) -> task<void> {
      event until;
      co_await with_scope([&](task_scope& outer) -> task<void> {
        const auto bound = [&](task_scope& scope) { return inner(scope, until); };
        co_await with_scope(bound);
        co_await outer.join();
      });
    }(body));
  }
  return testing::internal::GetCapturedStderr();
}

TEST(scope_locals, live_until_the_children_have_ended_if_the_body_joins_them) {
  const std::string said = said_of([](task_scope& scope, event& until) -> task<void> {
    std::vector<int> sums(10);
    int local = 0;
    scope.spawn(refer_to(until, local));
    for (int& each : sums) {
      scope.spawn([](int& sum) -> task<void> {
        co_await tandem::yield();
        sum = 1;
      }(each));
    }
    scope.spawn(after(until));
    co_await scope.join();
    EXPECT_EQ(sums, std::vector<int>(10, 1));
  });
  EXPECT_EQ(said, "");
}

TEST(scope_locals, need_no_join_where_the_children_own_what_they_use) {
  const std::string said = said_of([](task_scope& scope, event& until) -> task<void> {
    int local = 7;
    const auto without_captures = [](event& of, int number) -> task<void> {
      co_await of.wait();
      EXPECT_EQ(number, 7);
    };
    scope.spawn(without_captures(until, local));
    scope.spawn(own(until, std::string("its own")));
    scope.spawn(after(until));
    ++local;
    co_return;
  });
  EXPECT_EQ(said, "");
}

#if !defined(NDEBUG)

TEST(scope_locals, that_children_were_given_by_reference_are_missed_in_builds_with_assertions) {
  const unsigned line = __LINE__ + 3;
  const std::string said = said_of([](task_scope& scope, event& until) -> task<void> {
    int local = 0;
    scope.spawn(refer_to(until, local));
    scope.spawn(after(until));
    co_await tandem::yield();
  });
  EXPECT_NE(said.find("1 of the scope's children"), std::string::npos) << said;
  EXPECT_NE(said.find("scope_locals_test.cpp:" + std::to_string(line) + " "), std::string::npos)
      << said;
  EXPECT_NE(said.find("co_await scope.join();"), std::string::npos) << said;
}

#if !defined(__clang__)  // which does not tell a promise of its closure
TEST(scope_locals, that_are_closures_with_captures_are_missed_in_builds_with_assertions) {
  const std::string said = said_of([](task_scope& scope, event& until) -> task<void> {
    const auto with_capture = [&until]() -> task<void> {
      event& outside = until;  // the closure is read before the body ends only if it runs by then
      co_await outside.wait();
    };
    // Across waits, so that it lies in the frame.
    for (int i = 0; i < 3; ++i) {
      scope.spawn(with_capture());
      co_await tandem::yield();
    }
    scope.spawn(after(until));
    for (int i = 0; i < 5; ++i) co_await tandem::yield();  // here they do
  });
  EXPECT_NE(said.find("3 of the scope's children"), std::string::npos) << said;
}
#endif

TEST(scope_locals, of_children_that_have_ended_are_not_missed) {
  const std::string said = said_of([](task_scope& scope, event& until) -> task<void> {
    int local = 0;
    scope.spawn(refer_to(until, local));
    until.set();
    co_await scope.join();
    scope.spawn(after(until));
  });
  EXPECT_EQ(said, "");
}

#endif

}  // namespace
