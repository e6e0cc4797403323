// columns.cpp: the columns of the registry, each written once for all awaitables; races.cpp has one more.
// SPDX-License-Identifier: MIT
//
// The test's own thread drives: under a virtual clock it runs the tasks itself, until all of them
// wait, so that "suspended" is a fact; with a real clock it looks on. After each cell no task, no
// frame and no closure is left, and no exception went astray.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <tandem/task_scope.hpp>
#include <thread>
#include <vector>

#include "stage.hpp"

namespace tandem::registry {

awaitable_case::~awaitable_case() = default;

// Not inline: g++ 12 takes the strings that it makes of known names for too short.
std::string spelled(std::string_view name) {
  std::string spelt(name);
  for (char& c : spelt) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return spelt;
}

const char* to_string(ended how) {
  switch (how) {
    case ended::returned: return "returned";
    case ended::cancelled: return "cancelled";
    default: return "failed";
  }
}

namespace {

task<void> set(std::atomic<bool>& flag) {
  flag = true;
  co_return;
}

task<ended> await_beside(awaitable_case& it, std::atomic<bool>& other_ran) {
  auto other = spawn(set(other_ran));
  const ended got = co_await it.await_once();
  const bool suspended = other_ran;
  co_await other;
  other_ran = suspended;
  co_return got;
}

void ready(const entry& of) {
  stage at(of);
  at.it->complete();
  std::atomic<bool> others_ran = false;
  EXPECT_ENDED(at.rt.run(await_beside(*at.it, others_ran)), ended::returned);
  // With a real clock another worker may run them meanwhile.
  if (of.ready_at_once && at.is_virtual()) {
    EXPECT_FALSE(others_ran) << "it suspended";
  }
}

void suspended(const entry& of) {
  stage at(of);
  auto waiting = at.rt->spawn(at.it->await_once());
  at.settle();
  if (!of.self_completing) {
    EXPECT_FALSE(waiting.is_done());
  }
  at.it->complete();
  EXPECT_ENDED(outcome_of(waiting), ended::returned);
}

task<ended> relay(awaitable_case& it, int times) {
  for (int i = 0; i < times; ++i) {
    const ended got = co_await it.await_once();
    if (got != ended::returned) co_return got;
    it.complete();
  }
  co_return ended::returned;
}

void contended(const entry& of) {
  for (int round = 0; round < 10; ++round) {
    stage at(of, clock_kind::real_clock, 0, 0);
    constexpr std::size_t tasks = 8;
    std::vector<std::unique_ptr<awaitable_case>> more;
    std::vector<join_handle<ended>> handles;
    for (std::size_t i = 1; i < tasks && of.one_waiter; ++i) {
      at.rt.run(more.emplace_back(of.make())->begin());
    }
    // Some keep their worker while they wait: from here on nothing else may need one.
    for (std::size_t i = 0; i < tasks; ++i) {
      awaitable_case& it = of.one_waiter && i > 0 ? *more[i - 1] : *at.it;
      handles.push_back(at.rt->spawn(relay(it, of.one_waiter ? 1 : of.relays)));
    }
    const auto waits = [](const auto& each) { return each->is_waiting(); };
    while (round % 2 == 0 && !waits(at.it) && std::none_of(more.begin(), more.end(), waits)) {
      std::this_thread::yield();
    }
    at.it->complete();
    for (auto& each : more) each->complete();
    for (auto& each : handles) EXPECT_ENDED(outcome_of(each), ended::returned);
    for (auto& each : more) at.rt.run(each->end());
  }
}

task<ended> await_stopped(awaitable_case& it) {
  ended got = ended::failed;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.request_stop();
    got = co_await it.await_once();
  });
  co_return got;
}

void cancelled_before(const entry& of) {
  stage at(of);
  auto waiting = at.rt->spawn(await_stopped(*at.it));
  if (of.before == on_stop::goes_on) {
    at.settle();
    if (!of.self_completing) {
      EXPECT_FALSE(waiting.is_done());
    }
    at.it->complete();
  }
  expect_stopped(at, outcome_of(waiting), of.before, stop_reason::user);
}

void cancelled_during(const entry& of) {
  stage at(of);
  auto waiting = at.rt->spawn(at.it->await_once());
  at.settle();
  waiting.cancel();
  if (of.during == on_stop::goes_on) {
    if (at.is_virtual()) at.settle();
    if (!of.self_completing) {
      EXPECT_FALSE(waiting.is_done());
    }
    at.it->complete();
  }
  expect_stopped(at, outcome_of(waiting), of.during, stop_reason::user);
}

void timed_out(const entry& of) {
  stage at(of);
  // With a real clock the limit may pass before a call that would go on has begun.
  const bool is_unsure = !at.is_virtual() && of.before != of.during;
  const on_stop rule = is_unsure ? on_stop::may_end : of.during;
  at.it->set_span(std::chrono::hours(1));
  auto waiting = at.rt->spawn(at.it->await_limited(of.limit));
  if (of.during == on_stop::goes_on) {
    at.let_pass(of.limit * 3);
    if (rule == on_stop::goes_on && !of.self_completing) {
      EXPECT_FALSE(waiting.is_done());
    }
    at.it->complete();
  }
  const ended got = outcome_of(waiting);
  at.it->set_span(1ms);
  expect_stopped(at, got, rule, stop_reason::deadline);
}

void dropped(const entry& of) {
  stage at(of);
  at.rt.run(at.it->drop());
  // Nothing of it waits any more, or has taken anything.
  at.it->complete();
  EXPECT_ENDED(at.again(), ended::returned);
}

void exception(const entry& of) {
  stage at(of);
  at.it->fail();
  auto waiting = at.rt->spawn(at.it->await_once());
  at.settle();
  at.it->complete();
  EXPECT_ENDED(outcome_of(waiting), ended::failed);
}

}  // namespace

void run_cell(const entry& of, column which) {
  if (const std::string_view why = of.cells.why_not(which); !why.empty()) {
    std::printf("not applicable: %.*s\n", static_cast<int>(why.size()), why.data());
    return;
  }
  if (!of.own(which)) {
    switch (which) {
      case column::ready: ready(of); break;
      case column::suspended: suspended(of); break;
      case column::contended: contended(of); break;
      case column::cancelled_before: cancelled_before(of); break;
      case column::cancelled_during: cancelled_during(of); break;
      case column::cancelled_racing: cancelled_racing(of); break;
      case column::timed_out: timed_out(of); break;
      case column::dropped: dropped(of); break;
      case column::exception: exception(of); break;
    }
  }
  EXPECT_EQ(counted::alive(), 0) << "a frame or a closure was not destroyed";
}

}  // namespace tandem::registry
