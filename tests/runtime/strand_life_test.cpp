// strand_life_test.cpp: who keeps a strand alive, and what it keeps.
// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <tandem/fair_scheduler.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/strand.hpp>
#include <utility>

#include "executor_support.hpp"

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
