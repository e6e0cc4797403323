// foreign_loop_end_test.cpp: how a foreign loop ends, what fails in it, and its bad uses.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/errors.hpp>
#include <tandem/event.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/shielded.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "io/support/loop_support.hpp"
#include "planned_failure.hpp"
#include "refusal_text.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::event;
using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::io::with_foreign_loop;
using tandem::test::foreign_pair;
using tandem::test::has;
using tandem::test::in_a_loop;
using tandem::test::loop_passes;
using tandem::test::on_every_home;
using tandem::test::planned_failure;
using tandem::test::ready_descriptor;
using tandem::test::refusal_of;

const auto ignore_it = [](native_descriptor, ready_events) {};

/// A callback of a library that is told of the stop: the peer's byte then comes, and `on_ready(done)` is called.
template <class OnReady>
task<void> wait_until_stopped(foreign_loop& loop, const foreign_pair& pair, event& begun,
                              OnReady on_ready) {
  co_await tandem::from_callback<void()>(
      [&](auto done) {
        loop.watch(pair.ours(), watch_interest::read,
                   [&, done](native_descriptor fd, ready_events) {
                     loop.forget(fd);
                     on_ready(done);
                   });
        begun.set();
      },
      tandem::as_values, [&]() noexcept { pair.peer_writes("x"); });
}

TEST(foreign_loop, its_end_forgets_all_and_keeps_no_callback) {
  on_every_home([]() -> task<void> {
    const ready_descriptor always;
    const foreign_pair pair;
    const auto counted = std::make_shared<int>(0);
    const auto body = [&](foreign_loop& loop) -> task<int> {
      loop.watch(always.get(), watch_interest::read_write,
                 [counted](native_descriptor, ready_events) { ++*counted; });
      loop.watch(pair.ours(), watch_interest::read, [counted](native_descriptor, ready_events) {});
      loop.watch(pair.peer(), watch_interest::none, [counted](native_descriptor, ready_events) {});
      loop.deadline(tandem::now() + 1h, [counted] {});
      EXPECT_GT(counted.use_count(), 4);
      co_return 7;
    };
    EXPECT_EQ(co_await with_foreign_loop(body), 7);
    EXPECT_EQ(counted.use_count(), 1);
    EXPECT_EQ(*counted, 0) << "armed, but the body had ended";
  });
}

TEST(foreign_loop, it_ends_when_the_body_fails_and_that_is_what_it_throws) {
  on_every_home([]() -> task<void> {
    const ready_descriptor always;
    const auto body = [&](foreign_loop& loop) -> task<void> {
      loop.watch(always.get(), watch_interest::read, ignore_it);
      throw planned_failure();
      co_return;
    };
    EXPECT_THROW(co_await with_foreign_loop(body), planned_failure);
    // A plain function may throw before it is a task.
    const auto plain = [&](foreign_loop& loop) -> task<void> {
      loop.watch(always.get(), watch_interest::read, ignore_it);
      throw planned_failure();
    };
    EXPECT_THROW(co_await with_foreign_loop(plain), planned_failure);
  });
}

TEST(foreign_loop, a_callback_that_throws_stops_the_body_and_others_go_on_until_it_has_ended) {
  on_every_home([]() -> task<void> {
    const ready_descriptor bad;
    foreign_pair good;
    int bad_calls = 0;
    int good_calls = 0;
    const auto body = [&](foreign_loop& loop) -> task<void> {
      loop.watch(bad.get(), watch_interest::read, [&](native_descriptor, ready_events) {
        ++bad_calls;
        throw planned_failure();
      });
      // What the library still has to do when it is stopped, it can.
      event begun;
      const auto on_ready = [&](const auto& done) {
        ++good_calls;
        done();
      };
      co_await wait_until_stopped(loop, good, begun, on_ready);
      EXPECT_EQ(tandem::current_stop_reason(), tandem::stop_reason::sibling_failed);
    };
    EXPECT_THROW(co_await with_foreign_loop(body), planned_failure);
    EXPECT_EQ(bad_calls, 1);
    EXPECT_EQ(good_calls, 1);
  });
}

TEST(foreign_loop, of_several_failures_the_first_is_thrown_and_the_others_are_reported) {
  std::vector<std::string> reported;
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [&](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& each) {
      reported.emplace_back(each.what());
    }
  };
  tandem::test::test_runtime rt(options);
  const auto body = [](foreign_loop& loop) -> task<void> {
    event never;
    loop.deadline(tandem::now(), [] { throw std::runtime_error("first"); });
    (void)co_await as_result(never.wait());
    event second;
    loop.deadline(tandem::now(), [&] {
      second.set();
      throw std::runtime_error("second");
    });
    const auto waits = [](event& set) -> task<void> { co_await set.wait(); };
    co_await tandem::shielded(waits(second));
    throw std::runtime_error("third");
  };
  EXPECT_EQ(refusal_of<std::runtime_error>([&] { rt.run(with_foreign_loop(body)); }), "first");
  EXPECT_EQ(reported, (std::vector<std::string>{"second", "third"}));
}

TEST(foreign_loop, a_stop_reaches_the_body_and_not_the_loop) {
  on_every_home([]() -> task<void> {
    foreign_pair pair;
    event begun;
    bool ended_well = false;
    const auto body = [&](foreign_loop& loop) -> task<void> {
      const auto on_ready = [&](const auto& done) {
        loop.deadline(tandem::now() + 100us, [done] { done(); });
      };
      co_await wait_until_stopped(loop, pair, begun, on_ready);
      EXPECT_EQ(tandem::current_stop_reason(), tandem::stop_reason::user);
      ended_well = true;
    };
    auto running = tandem::spawn(with_foreign_loop(body));
    co_await begun.wait();
    running.cancel();
    co_await running;
    EXPECT_TRUE(ended_well);
  });
}

TEST(foreign_loop, a_descriptor_that_is_not_open_is_refused) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    foreign_pair pair;
    const native_descriptor closed = pair.ours();
    pair.close_one(0);
    for (const native_descriptor fd : {closed, tandem::io::no_descriptor}) {
      try {
        loop.watch(fd, watch_interest::read, ignore_it);
        ADD_FAILURE();
      } catch (const std::system_error& refused) {
        EXPECT_EQ(refused.code(), std::errc::bad_file_descriptor);
        EXPECT_TRUE(has(refused.what(), "forget(fd)")) << refused.what();
      }
    }
    co_return;
  });
}

TEST(foreign_loop, an_empty_function_is_refused_and_what_was_there_stays) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    const ready_descriptor always;
    int calls = 0;
    event over;
    const auto refused = [](auto call) { return refusal_of<std::invalid_argument>(call); };
    EXPECT_TRUE(has(refused([&] { loop.watch(always.get(), watch_interest::read); }), "Give one"));
    loop.watch(always.get(), watch_interest::read,
               [&](native_descriptor, ready_events) { ++calls; });
    loop.deadline(tandem::now() + 1ms, [&] { over.set(); });
    EXPECT_TRUE(has(refused([&] { loop.watch(always.get(), watch_interest::none, nullptr); }),
                    "on_ready is empty"));
    EXPECT_TRUE(has(refused([&] { loop.deadline(tandem::now(), nullptr); }), "no_deadline()"));
    co_await over.wait();
    co_await passes.pass();
    EXPECT_GT(calls, 0);
  });
}

TEST(foreign_loop, another_thread_is_refused_and_told_to_go_to_the_loops_first) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    const ready_descriptor always;
    const auto elsewhere = [&]() -> task<void> {
      co_await tandem::resume_on(tandem::current_environment()->runtime()->workers());
      const auto refused = [](auto call) { return refusal_of<std::logic_error>(call); };
      for (const std::string& text : {
               refused([&] { loop.watch(always.get(), watch_interest::read, ignore_it); }),
               refused([&] { loop.watch(always.get(), watch_interest::none); }),
               refused([&] { loop.forget(always.get()); }),
               refused([&] { loop.deadline(tandem::now(), [] {}); }),
               refused([&] { loop.no_deadline(); }),
           }) {
        EXPECT_TRUE(has(text, "resume_on(loop.executor())")) << text;
      }
      co_await tandem::resume_on(loop.executor());
      loop.watch(always.get(), watch_interest::none, ignore_it);
    };
    co_await elsewhere();
    loop.forget(always.get());
  });
}

TEST(foreign_loop, after_the_body_nothing_can_be_watched_any_more) {
  std::vector<std::string> told;
  class late {
   public:
    late(foreign_loop& loop, std::vector<std::string>& told) : loop_(&loop), told_(&told) {}
    ~late() {
      const ready_descriptor always;
      told_->push_back(refusal_of<std::logic_error>(
          [&] { loop_->watch(always.get(), watch_interest::read, ignore_it); }));
      told_->push_back(
          refusal_of<std::logic_error>([&] { loop_->deadline(tandem::now(), [] {}); }));
      loop_->forget(always.get());  // legal, to the very end
      loop_->no_deadline();
    }

   private:
    foreign_loop* loop_;
    std::vector<std::string>* told_;
  };
  tandem::test::test_runtime rt;
  const auto body = [&](foreign_loop& loop) -> task<void> {
    const ready_descriptor always;
    const auto kept = std::make_shared<late>(loop, told);
    loop.watch(always.get(), watch_interest::none, [kept](native_descriptor, ready_events) {});
    co_return;
  };
  rt.run(with_foreign_loop(body));
  ASSERT_EQ(told.size(), 2U);
  for (const std::string& text : told) EXPECT_TRUE(has(text, "has ended")) << text;
}

TEST(foreign_loop, a_thread_of_another_runtime_is_refused) {
  tandem::test::test_runtime rt;
  tandem::test::test_runtime other;
  tandem::io::completion_pool& pool = tandem::io::install(*other);
  const auto body = [](foreign_loop&) -> task<void> { co_return; };
  EXPECT_TRUE(has(
      refusal_of<std::invalid_argument>([&] { rt.run(with_foreign_loop(pool.thread(0), body)); }),
      "another runtime"));
}

TEST(foreign_loop, it_lives_where_it_is_told_to_or_where_its_task_does) {
  tandem::test::test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(2, 2));
  for (unsigned index : {0U, 1U}) {
    tandem::executor& wanted = pool.thread(index).executor();
    const auto body = [&](foreign_loop& loop) -> task<void> {
      EXPECT_EQ(&loop.executor(), &wanted);
      EXPECT_TRUE(wanted.is_current());
      co_return;
    };
    rt.run(with_foreign_loop(pool.thread(index), body));
    tandem::sync_wait(wanted, with_foreign_loop(body));
  }
}

TEST(foreign_loop, a_runtime_that_ends_stops_the_body_and_waits_for_the_loop) {
  const foreign_pair pair;
  std::vector<std::string> told;
  {
    tandem::test::test_runtime rt;
    event begun;
    const auto body = [&](foreign_loop& loop) -> task<void> {
      const auto on_ready = [&](const auto& done) {
        told.emplace_back("called");
        done();
      };
      co_await wait_until_stopped(loop, pair, begun, on_ready);
      told.emplace_back(tandem::to_string(tandem::current_stop_reason()));
    };
    rt->spawn(with_foreign_loop(body)).detach();
    rt.run([](event& set) -> task<void> { co_await set.wait(); }(begun));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"called", "shutdown"}));
}

TEST(foreign_loop, one_that_was_never_begun_does_nothing) {
  tandem::test::test_runtime rt;
  bool begun = false;
  const auto body = [&](foreign_loop&) -> task<void> {
    begun = true;
    co_return;
  };
  { const auto dropped = with_foreign_loop(body); }
  EXPECT_FALSE(begun);
}

}  // namespace
