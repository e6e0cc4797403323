// trace_of_test.cpp: the chain of awaits of an exception.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <tandem/tandem.hpp>

#include "support/test_runtime.hpp"

namespace {

using tandem::task;
using tandem::traced_frame;
using tandem::test::test_runtime;

class trace_of : public testing::Test {
 protected:
  trace_of() { tandem::trace_exceptions(true); }
  ~trace_of() override { tandem::trace_exceptions(false); }

  test_runtime rt{2};
};

task<void> throws(const char* what) {
  co_await tandem::yield();
  throw std::runtime_error(what);
}
task<void> middle(const char* what) { co_await throws(what); }
task<void> outer(const char* what) { co_await middle(what); }

std::vector<traced_frame> trace_of_run(test_runtime& rt, task<void> body) {
  try {
    rt.run(std::move(body));
  } catch (const std::exception& failure) {
    std::vector<traced_frame> by_reference = tandem::trace_of(failure);
    EXPECT_EQ(to_string(by_reference), to_string(tandem::trace_of(std::current_exception())));
    return by_reference;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(trace_of, an_exception_is_the_chain_from_the_throw_to_the_task) {
  const std::vector<traced_frame> trace = trace_of_run(rt, outer("lost"));
  ASSERT_EQ(trace.size(), 4U) << to_string(trace);
  EXPECT_NE(trace[3].function.find("task "), std::string::npos) << to_string(trace);
  EXPECT_NE(trace[3].file.find("test_runtime.hpp"), std::string::npos) << to_string(trace);
  if (!TANDEM_TEST_HAS_NAMES) return;  // of coroutines: by elfutils
  EXPECT_NE(trace[0].function.find("throws("), std::string::npos) << to_string(trace);
  EXPECT_NE(trace[1].function.find("middle("), std::string::npos) << to_string(trace);
  EXPECT_NE(trace[2].function.find("outer("), std::string::npos) << to_string(trace);
}

TEST_F(trace_of, an_exception_that_went_through_a_join_goes_on_with_who_joined) {
  const auto joins = [](const char* what) -> task<void> {
    tandem::join_handle<> child = tandem::spawn(outer(what));
    co_await std::move(child);
  };
  const std::vector<traced_frame> trace = trace_of_run(rt, joins("lost"));
  ASSERT_EQ(trace.size(), 6U) << to_string(trace);  // three, their task, who joins, its task
  EXPECT_NE(trace[3].function.find("task "), std::string::npos) << to_string(trace);
  EXPECT_NE(trace[5].function.find("task "), std::string::npos) << to_string(trace);
}

TEST_F(trace_of, one_that_is_thrown_where_another_was_is_its_own) {
  const std::vector<traced_frame> first = trace_of_run(rt, outer("first"));
  const std::vector<traced_frame> second = trace_of_run(rt, middle("second"));
  EXPECT_EQ(first.size(), 4U) << to_string(first);
  EXPECT_EQ(second.size(), 3U) << to_string(second);
}

TEST_F(trace_of, only_the_newest_are_kept) {
  std::exception_ptr old;
  try {
    rt.run(outer("old"));
  } catch (...) {
    old = std::current_exception();
  }
  EXPECT_FALSE(tandem::trace_of(old).empty());
  for (int i = 0; i < 16; ++i) (void)trace_of_run(rt, middle("newer"));
  EXPECT_TRUE(tandem::trace_of(old).empty());
}

TEST_F(trace_of, one_object_that_many_tasks_throw_has_no_endless_trace) {
  const std::exception_ptr shared = std::make_exception_ptr(std::runtime_error("shared"));
  const auto passes_on = [](std::exception_ptr what) -> task<void> {
    co_await tandem::yield();
    std::rethrow_exception(what);
  };
  for (int i = 0; i < 1000; ++i) (void)trace_of_run(rt, passes_on(shared));
  EXPECT_LE(tandem::trace_of(shared).size(), 66U);
}

TEST_F(trace_of, a_task_is_named) {
  const auto named = []() -> task<void> {
    tandem::name("GET /solve");
    co_await throws("lost");
  };
  const std::vector<traced_frame> trace = trace_of_run(rt, named());
  ASSERT_FALSE(trace.empty());
  EXPECT_NE(trace.back().function.find("\"GET /solve\", spawned in "), std::string::npos)
      << to_string(trace);
}

TEST_F(trace_of, a_stop_is_not_kept) {
  const auto stopped = []() -> task<void> {
    co_await tandem::yield();
    throw tandem::operation_cancelled(tandem::stop_reason::user);
  };
  EXPECT_TRUE(trace_of_run(rt, stopped()).empty());
}

TEST_F(trace_of, nothing_is_known_of_an_exception_that_left_no_coroutine) {
  EXPECT_TRUE(tandem::trace_of(std::exception_ptr()).empty());
  EXPECT_TRUE(tandem::trace_of(std::runtime_error("never thrown")).empty());
}

TEST_F(trace_of, nothing_is_kept_where_it_is_off) {
  tandem::trace_exceptions(false);
  EXPECT_TRUE(trace_of_run(rt, outer("unseen")).empty());
}

}  // namespace
