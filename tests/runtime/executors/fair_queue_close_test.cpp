// fair_queue_close_test.cpp: the end of a queue, and its four races.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <string>
#include <tandem/fair_queue.hpp>
#include <tandem/resume_on.hpp>
#include <thread>
#include <vector>

#include "runtime/executors/fair_stage.hpp"

namespace {

using tandem::event;
using tandem::fair_queue;
using tandem::fair_scheduler;
using tandem::join_handle;
using tandem::runtime;
using tandem::task;
using tandem::test::driven;
using tandem::test::note;
using tandem::test::simulated;
using tandem::test::stage;
using tandem::test::test_runtime;

TEST(fair_queue, after_its_close_submissions_are_errors_and_what_waits_runs) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  fair_queue batch = fair.add_queue(1, "batch 7");
  event go;
  std::string log;
  rt.spawn(batch, note(log, 'a', 3)).detach();
  rt.spawn(batch,
           [](event& e, std::string& letters) -> task<void> {
             co_await e;
             letters += 'b';
           }(go, log))
      .detach();
  batch.close();
  EXPECT_TRUE(batch.is_closed());
  try {
    (void)rt.spawn(batch, note(log, 'x'));
    FAIL() << "nothing was thrown";
  } catch (const tandem::executor_closed& refused) {
    EXPECT_NE(std::string(refused.what()).find("batch 7"), std::string::npos) << refused.what();
  }
  rt.run_until_idle();
  EXPECT_EQ(log, "aaa");
  EXPECT_EQ(fair.queue_count(), 1U);  // a task of it still waits
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "aaab");  // a resume is never refused
  EXPECT_EQ(fair.queue_count(), 0U);
}

TEST(fair_queue, race_1_a_close_against_an_enqueue_either_admits_it_and_runs_it_or_refuses_it) {
  test_runtime rt(2);
  fair_scheduler fair(rt.workers());
  for (int round = 0; round < 300; ++round) {
    fair_queue one = fair.add_queue();
    std::atomic<int> ran{0};
    std::atomic<bool> go{false};
    std::thread closer([&] {
      while (!go) std::this_thread::yield();
      one.close();
    });
    std::vector<join_handle<void>> admitted;
    go = true;
    try {
      for (int i = 0; i < 50; ++i) {
        admitted.push_back(rt->spawn(one, [](std::atomic<int>& count) -> task<void> {
          ++count;
          co_return;
        }(ran)));
      }
    } catch (const tandem::executor_closed&) {}
    closer.join();
    EXPECT_THROW((void)rt->spawn(one, []() -> task<void> { co_return; }()),
                 tandem::executor_closed);
    for (auto& each : admitted) each.wait();
    ASSERT_EQ(ran, static_cast<int>(admitted.size()));
  }
  rt->shutdown();  // the last segments have been counted out
  EXPECT_EQ(fair.queue_count(), 0U);
}

TEST(fair_queue, race_2_a_close_against_the_dispatch_of_the_last_item_removes_the_queue_once) {
  test_runtime rt(2);
  fair_scheduler fair(rt.workers());
  const fair_queue stays = fair.add_queue();
  for (int round = 0; round < 2000; ++round) {
    fair_queue one = fair.add_queue();
    auto last = rt->spawn(one, []() -> task<void> { co_return; }());
    one.close();
    last.wait();
  }
  rt->shutdown();
  EXPECT_EQ(fair.queue_count(), 1U);
}

TEST(fair_queue, race_3_removing_a_queue_that_had_its_turn_changes_nobody_elses) {
  // Every queue in turn is the one that goes, after each number of segments.
  for (std::size_t goes = 0; goes < 5; ++goes) {
    for (std::size_t before = 1; before <= 10; ++before) {
      stage s;
      std::vector<fair_queue> queues;
      for (int k = 0; k < 5; ++k) {
        queues.push_back(s.fair.add_queue());
        s.loop(queues.back(), static_cast<char>('a' + k));
      }
      s.run(before);
      const char gone = static_cast<char>('a' + goes);
      queues[goes].close();
      s.all[goes].cancel();
      s.run(before + 30);
      EXPECT_EQ(s.fair.queue_count(), 4U);
      // The others have gone on in their order, as if it had never been there.
      std::string others = s.log;
      std::erase(others, gone);
      for (std::size_t i = 4; i < others.size(); ++i) {
        ASSERT_EQ(others[i], others[i - 4]) << s.log << ": without " << gone << " after " << before;
      }
    }
  }
}

TEST(fair_queue, race_4_after_the_only_queue_was_removed_the_next_one_works) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  std::string log;
  for (int round = 0; round < 3; ++round) {
    fair_queue only = fair.add_queue();
    for (int i = 0; i < 3; ++i) {
      rt.spawn(only, note(log, static_cast<char>('a' + round), 2)).detach();
    }
    only.close();
    rt.run_until_idle();
    EXPECT_EQ(fair.queue_count(), 0U);
  }
  EXPECT_EQ(log, "aaaaaabbbbbbcccccc");
}

TEST(fair_queue, closed_while_it_is_empty_goes_at_once_and_only_once) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  fair_queue one = fair.add_queue();
  const fair_queue other = fair.add_queue();
  EXPECT_EQ(fair.queue_count(), 2U);
  one.close();
  one.close();
  EXPECT_EQ(fair.queue_count(), 1U);
  one = fair_queue();
  EXPECT_EQ(fair.queue_count(), 1U);
}

TEST(fair_queue, a_task_that_moved_there_runs_on_after_the_queue_has_gone) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  fair_queue one = fair.add_queue();
  event go;
  bool was_there = false;
  rt.spawn([](fair_queue own, event& e, bool& there) -> task<void> {
      co_await tandem::resume_on(own);
      co_await e;
      there = own.is_current();
    }(one, go, was_there))
      .detach();
  rt.run_until_idle();
  one = fair_queue();
  rt.run_until_idle();
  go.set();
  rt.run_until_idle();
  EXPECT_TRUE(was_there);
  EXPECT_EQ(fair.queue_count(), 0U);
}

TEST(fair_queue, without_handles_lives_until_its_tasks_have_ended) {
  runtime rt(simulated(4, 2));
  event go;
  std::string log;
  {
    fair_scheduler fair(rt.workers());
    const fair_queue one = fair.add_queue();
    rt.spawn(one,
             [](event& e, std::string& letters) -> task<void> {
               co_await e;
               co_await tandem::yield();
               letters += 'x';
             }(go, log))
        .detach();
  }
  rt.run_until_idle();
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "x");
}

}  // namespace
