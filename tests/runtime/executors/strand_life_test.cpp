// strand_life_test.cpp: who keeps a strand alive, and what it keeps.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tandem/fair_scheduler.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <utility>

#include "runtime/executors/executor_support.hpp"

namespace {

using tandem::event;
using tandem::runtime;
using tandem::strand;
using tandem::task;
using tandem::test::driven;
using tandem::test::note;
using tandem::test::simulated;

TEST(strand, lives_until_its_last_task_has_ended) {
  runtime rt(simulated(1, 2));
  event go;
  std::string log;
  {
    const strand one(rt.workers());
    for (const char letter : {'a', 'b'}) {
      rt.spawn(one,
               [](event& e, std::string& letters, char own) -> task<void> {
                 co_await e;
                 co_await tandem::yield();
                 letters += own;
               }(go, log, letter))
          .detach();
    }
  }
  rt.run_until_idle();
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "ab");
}

TEST(strand, lives_until_what_was_queued_has_run) {
  runtime rt(driven());
  struct noting : tandem::job {
    noting() : job([](tandem::job* self) noexcept { static_cast<noting*>(self)->ran = true; }) {}
    bool ran = false;
  };
  noting item;
  strand(rt.workers()).executor().post(&item, tandem::post_kind::spawn);
  rt.run_until_idle();
  EXPECT_TRUE(item.ran);
}

TEST(strand, a_task_that_moved_there_keeps_it_by_its_copy_of_the_handle) {
  runtime rt(simulated(2, 2));
  event go;
  bool was_there = false;
  std::optional<strand> one(std::in_place, rt.workers());
  rt.spawn([](strand own, event& e, bool& there) -> task<void> {
      co_await tandem::resume_on(own);
      co_await e;
      there = own.is_current();
    }(*one, go, was_there))
      .detach();
  rt.run_until_idle();
  one.reset();
  go.set();
  rt.run_until_idle();
  EXPECT_TRUE(was_there);
}

TEST(strand, a_removed_task_gives_up_its_hold) {
  runtime rt(driven());
  auto fair = std::make_optional<tandem::fair_scheduler>(rt.workers());
  tandem::fair_queue below = fair->add_queue();
  {
    const strand one(below);
    std::string log;
    auto never = rt.spawn(one, note(log, 'x'));
    EXPECT_EQ(never.cancel(), tandem::cancel_result::removed_before_start);
    never.detach();
    below.close();
    rt.run_until_idle();
    EXPECT_EQ(log, "");
    EXPECT_EQ(fair->queue_count(), 1U);  // the strand's handle keeps what it runs on
  }
  EXPECT_EQ(fair->queue_count(), 0U);
}

TEST(strand, a_refused_task_gives_up_its_hold) {
  runtime rt(driven());
  tandem::fair_scheduler fair(rt.workers());
  tandem::fair_queue below = fair.add_queue();
  {
    const strand one(below);
    rt.shutdown();
    std::string log;
    EXPECT_THROW((void)rt.spawn(one, note(log, 'x')), tandem::runtime_stopped);
  }
  below.close();
  EXPECT_EQ(fair.queue_count(), 0U);
}

/// Whether a task is refused there, by executor_closed.
bool refuses(runtime& rt, tandem::executor& home) {
  try {
    rt.spawn(home, []() -> task<void> { co_return; }()).detach();
  } catch (const tandem::executor_closed&) {
    return true;
  }
  return false;
}

/// What stands on `below` while that is open: a strand, a strand over it, a queue, a level.
class tower {
 public:
  explicit tower(tandem::executor& below)
      : serial(below), inner(serial), fair(below), batch(fair.add_queue()), levels(below) {}

  std::array<tandem::executor*, 4> all() {
    return {&serial.executor(), &inner.executor(), &batch.executor(),
            &levels.level(tandem::priority::normal)};
  }

  strand serial;
  strand inner;
  tandem::fair_scheduler fair;
  tandem::fair_queue batch;
  tandem::priority_scheduler levels;
};

/// Before `close` a task may come, and goes on to its end; after it none.
void expect_closed_with(runtime& rt, tandem::executor& below, const std::function<void()>& close,
                        const std::function<void()>& run) {
  tower over(below);
  event go;
  std::string log;
  for (tandem::executor* each : over.all()) {
    rt.spawn(*each,
             [](event& e, std::string& letters) -> task<void> {
               co_await e;
               co_await tandem::yield();
               letters += 'a';
             }(go, log))
        .detach();
  }
  run();
  close();
  for (tandem::executor* each : over.all()) EXPECT_TRUE(refuses(rt, *each)) << each->name();
  go.set();
  run();
  EXPECT_EQ(log, "aaaa");
  for (tandem::executor* each : over.all()) EXPECT_TRUE(refuses(rt, *each)) << each->name();
}

TEST(strand, and_what_else_stands_on_a_queue_is_closed_with_it) {
  runtime rt(driven());
  tandem::fair_scheduler fair(rt.workers());
  tandem::fair_queue below = fair.add_queue();
  expect_closed_with(rt, below.executor(), [&] { below.close(); }, [&] { rt.run_until_idle(); });
  EXPECT_EQ(fair.queue_count(), 0U);
}

TEST(strand, and_what_else_stands_on_a_thread_is_closed_with_it) {
  runtime rt(simulated(3, 2));
  tandem::single_thread_executor below(rt);
  // A virtual clock stands still while the thread has something to run: so time passes when all of
  // it has run.
  expect_closed_with(
      rt, below, [&] { below.close(); }, [&] { rt.run_for(std::chrono::seconds(1)); });
}

TEST(strand, takes_a_task_that_moves_there_after_the_executor_below_was_closed) {
  runtime rt(driven());
  tandem::fair_scheduler fair(rt.workers());
  tandem::fair_queue below = fair.add_queue();
  bool was_there = false;
  {
    const strand one(below);
    below.close();
    rt.spawn([](strand own, bool& there) -> task<void> {
        co_await tandem::resume_on(own);
        co_await tandem::yield();
        there = own.is_current();
      }(one, was_there))
        .detach();
  }
  rt.run_until_idle();
  EXPECT_TRUE(was_there);
  EXPECT_EQ(fair.queue_count(), 0U);
}

TEST(strand, is_refused_from_outside_like_the_pool_below_once_that_is_shut_down) {
  runtime rt(driven());
  const strand one(rt.workers());
  event go;
  std::string log;
  rt.spawn(
        one,
        [](strand home, event& e, std::string& letters) -> task<void> {
          co_await e;
          tandem::spawn(home, note(letters, 'b')).detach();  // from inside, as on the pool itself
          letters += 'a';
        }(one, go, log))
      .detach();
  rt.run_until_idle();
  rt.workers().shutdown();
  EXPECT_THROW(rt.spawn(one, note(log, 'x')).detach(), tandem::runtime_stopped);
  EXPECT_THROW(rt.spawn(note(log, 'x')).detach(), tandem::runtime_stopped);
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "ab");
}

TEST(strand, over_a_closed_queue_is_refused) {
  runtime rt(driven());
  tandem::fair_scheduler fair(rt.workers());
  tandem::fair_queue below = fair.add_queue(1, "batch 7");
  below.close();
  try {
    const strand one(below);
    FAIL() << "nothing was thrown";
  } catch (const tandem::executor_closed& refused) {
    EXPECT_NE(std::string(refused.what()).find("batch 7"), std::string::npos) << refused.what();
  }
}

}  // namespace
