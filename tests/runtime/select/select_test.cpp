// select_test.cpp: of several things that a task waits for it takes exactly one.
// SPDX-License-Identifier: MIT
#include <tandem/select.hpp>

#include <array>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/branch_if.hpp>
#include <tandem/callback_stream.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/interval.hpp>
#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/stopped.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/wait_group.hpp>

#include "planned_failure.hpp"
#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::channel;
using tandem::event;
using tandem::operation_cancelled;
using tandem::otherwise;
using tandem::select;
using tandem::sleep_for;
using tandem::spawn;
using tandem::stop_reason;
using tandem::stopped;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::news;
using tandem::test::note_end;
using tandem::test::planned_failure;
using tandem::test::settle;
using tandem::test::test_runtime;

tandem::runtime_options virtually(std::uint64_t seed = 1) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed);
  return options;
}

TEST(select, takes_the_one_that_is_ready_and_nothing_else) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(2);
    channel<int> b(2);
    event e;
    EXPECT_TRUE(b.try_send(7));
    auto hit = co_await select(a.receive(), b.receive(), e.wait());
    EXPECT_EQ(hit.index(), 1U);
    EXPECT_EQ(hit.get<1>(), 7);
    EXPECT_TRUE(b.try_send(8));
    e.set();
    EXPECT_EQ(b.size(), 1U);
    (void)co_await select(e.wait(), a.receive());
    EXPECT_EQ(b.size(), 1U);
  }());
}

TEST(select, of_branches_that_are_always_ready_none_waits_longer_than_twice_their_number) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    constexpr int turns = 2000;
    event a(true);
    event b(true);
    event c(true);
    event never;
    std::array<int, 4> since{};
    for (int i = 0; i < turns; ++i) {
      auto hit = co_await select(a.wait(), never.wait(), b.wait(), c.wait());
      for (int& each : since) ++each;
      since[hit.index()] = 0;
      for (const std::size_t k : {0U, 2U, 3U}) EXPECT_LE(since[k], 8) << "branch " << k;
    }
    EXPECT_EQ(since[1], turns);
  }());
}

TEST(select, two_loops_that_take_turns_are_fair_each_by_itself) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto loop = [](int& longest) -> task<void> {
      event a(true);
      event b(true);
      std::array<int, 2> since{};
      for (int i = 0; i < 1000; ++i) {
        auto hit = co_await select(a.wait(), b.wait());
        for (int& each : since) longest = std::max(longest, ++each);
        since[hit.index()] = 0;
        co_await tandem::yield();
      }
    };
    int first = 0;
    int second = 0;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(loop(first));
      scope.spawn(loop(second));
      co_return;
    });
    EXPECT_LE(first, 4);
    EXPECT_LE(second, 4);
  }());
}

TEST(select, biased_takes_the_first_that_is_ready) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event never;
    event a(true);
    event b(true);
    for (int i = 0; i < 20; ++i) {
      auto hit = co_await select(tandem::biased, never.wait(), a.wait(), b.wait());
      EXPECT_EQ(hit.index(), 1U);
    }
  }());
}

TEST(select, otherwise_is_taken_where_nothing_is_ready) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(1);
    auto none = co_await select(a.receive(), otherwise);
    EXPECT_EQ(none.index(), 1U);
    EXPECT_TRUE(a.try_send(1));
    for (int i = 0; i < 4; ++i) {
      auto one = co_await select(a.receive(), otherwise);
      EXPECT_EQ(one.index(), 0U);
      EXPECT_TRUE(a.try_send(1));
    }
  }());
}

TEST(select, visit_calls_the_function_of_the_branch_with_its_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<std::unique_ptr<int>> a(1);
    event e;
    EXPECT_TRUE(a.try_send(std::make_unique<int>(7)));
    auto hit = co_await select(a.receive(), e.wait());
    const int got = hit.visit([](std::optional<std::unique_ptr<int>> value) { return **value; },
                              [] { return -1; });
    EXPECT_EQ(got, 7);
    e.set();
    auto other = co_await select(a.receive(), e.wait());
    bool was_called = false;
    other.visit([](auto&&) { ADD_FAILURE(); }, [&] { was_called = true; });
    EXPECT_TRUE(was_called);
  }());
}

TEST(select, waits_for_the_first_and_leaves_the_other_lists) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(1);
    channel<int> b(0);
    tandem::mutex m;
    co_await m.lock();
    tandem::semaphore permits(0);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](channel<int>& x, channel<int>& y, tandem::mutex& lock,
                           tandem::semaphore& some, std::string& out) -> task<void> {
        auto hit = co_await select(x.receive(), y.receive(), lock.lock(), some.acquire());
        out += std::to_string(hit.index());
      };
      scope.spawn(wait(a, b, m, permits, log));
      co_await settle();
      EXPECT_TRUE(b.try_send(5));  // somebody waits there
      EXPECT_FALSE(b.try_send(6)) << "the select is over, though its task has not run";
      EXPECT_TRUE(a.try_send(7));
      m.unlock();
      permits.release();
    });
    EXPECT_EQ(log, "1");
    EXPECT_EQ(a.size(), 1U);
    EXPECT_TRUE(m.try_lock()) << "the branch that lost does not hold the mutex";
    EXPECT_TRUE(permits.try_acquire());
  }());
}

TEST(select, a_send_that_lost_still_has_its_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<std::unique_ptr<int>> full(0);
    event e;
    auto value = std::make_unique<int>(3);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](channel<std::unique_ptr<int>>& to, std::unique_ptr<int>& what,
                           event& or_this) -> task<void> {
        auto hit = co_await select(to.send(std::move(what)), or_this.wait());
        EXPECT_EQ(hit.index(), 1U);
      };
      scope.spawn(wait(full, value, e));
      co_await settle();
      e.set();
      EXPECT_EQ(full.try_receive(), std::nullopt);
    });
    EXPECT_NE(value, nullptr);
  }());
}

TEST(select, two_selects_meet_at_a_rendezvous) {
  for (const bool sender_first : {true, false}) {
    test_runtime rt(1);
    rt.run([](bool sends_first) -> task<void> {
      channel<int> meeting(0);
      event never;
      std::string log;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        const auto send = [](channel<int>& to, event& e, std::string& out) -> task<void> {
          auto hit = co_await select(e.wait(), to.send(4));
          out += hit.index() == 1 ? 's' : '?';
        };
        const auto receive = [](channel<int>& from, event& e, std::string& out) -> task<void> {
          auto hit = co_await select(from.receive(), e.wait());
          out += hit.index() == 0 && hit.get<0>() == 4 ? 'r' : '?';
        };
        if (sends_first) scope.spawn(send(meeting, never, log));
        co_await settle();
        scope.spawn(receive(meeting, never, log));
        co_await settle();
        if (!sends_first) scope.spawn(send(meeting, never, log));
      });
      EXPECT_EQ(log.size(), 2U);
      EXPECT_EQ(log.find('?'), std::string::npos) << log;
    }(sender_first));
  }
}

TEST(select, a_send_and_a_receive_of_one_select_do_not_meet) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> meeting(0);
    std::size_t taken = 9;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto both = [](channel<int>& c, std::size_t& which) -> task<void> {
        auto hit = co_await select(c.send(1), c.receive());
        which = hit.index();
      };
      scope.spawn(both(meeting, taken));
      co_await settle();
      EXPECT_EQ(taken, 9U);
      EXPECT_EQ(co_await meeting.receive(), 1);
    });
    EXPECT_EQ(taken, 0U);
  }());
}

TEST(select, a_closed_channel_is_a_branch_that_is_ready) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(1);
    channel<int> b(1);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](channel<int>& x, channel<int>& y, std::string& out) -> task<void> {
        auto hit = co_await select(x.receive(), y.receive());
        out += hit.index() == 1 && !hit.get<1>() ? 'e' : '?';
      };
      scope.spawn(wait(a, b, log));
      co_await settle();
      b.close();
    });
    EXPECT_EQ(log, "e");
    EXPECT_THROW((void)co_await select(a.receive(), b.send(1)), tandem::channel_closed);
    auto result = co_await select(a.receive(), tandem::as_result(b.send(1)));
    EXPECT_EQ(result.index(), 1U);
    EXPECT_FALSE(result.get<1>().has_value());
  }());
}

TEST(select, a_stop_takes_nothing_and_leaves_all_lists) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::string log;
    {
      channel<int> a(1);
      tandem::mutex m;
      co_await m.lock();
      const auto wait = [](channel<int>& x, tandem::mutex& lock) -> task<void> {
        (void)co_await select(x.receive(), lock.lock(), sleep_for(1h));
      };
      auto handle = spawn(note_end(wait(a, m), log));
      co_await settle();
      handle.cancel();
      co_await handle;
      EXPECT_TRUE(a.try_send(1));
      EXPECT_EQ(a.size(), 1U);
    }
    EXPECT_EQ(log, "c");
  }());
}

TEST(select, a_stop_that_came_before_ends_it_but_stopped_is_a_branch_like_others) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto stopped_early = [](std::string& out) -> task<void> {
      event e;
      EXPECT_TRUE((co_await tandem::as_result(e.wait())).is_cancelled());
      auto hit = co_await select(e.wait(), stopped());
      out += hit.index() == 1 && hit.get<1>() == stop_reason::user ? 's' : '?';
      co_await note_end(select(e.wait(), sleep_for(1h)), out);
    };
    const auto stopped_late = [](std::string& out) -> task<void> {
      event e;
      auto hit = co_await select(e.wait(), stopped());
      out += hit.index() == 1 && hit.get<1>() == stop_reason::user ? 'S' : '?';
      EXPECT_EQ(co_await stopped(), stop_reason::user);
    };
    std::string log;
    auto early = spawn(stopped_early(log));
    auto late = spawn(stopped_late(log));
    co_await settle();
    late.cancel();
    co_await late;
    early.cancel();
    co_await early;
    EXPECT_EQ(log, "Ssc");
  }());
}

TEST(select, stopped_by_itself_waits_for_the_stop) {
  test_runtime rt(virtually());
  rt.run([]() -> task<void> {
    stop_reason why = stop_reason::none;
    const auto wait = [](stop_reason& out) -> task<void> { out = co_await stopped(); };
    (void)co_await tandem::as_result(tandem::with_timeout(1s, wait(why)));
    EXPECT_EQ(why, stop_reason::deadline);
  }());
}

TEST(select, a_large_request_that_loses_holds_up_nobody) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::semaphore permits(3);
    event e;
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto large = [](tandem::semaphore& of, event& other, std::string& out) -> task<void> {
        auto hit = co_await select(of.acquire(5), other.wait());
        out += std::to_string(hit.index());
      };
      scope.spawn(large(permits, e, log));
      co_await settle();
      scope.spawn(note_end(permits.acquire(2), log));
      co_await settle();
      EXPECT_EQ(log, "") << "nobody overtakes";
      e.set();
    });
    EXPECT_EQ(log, "1r");
    EXPECT_EQ(permits.available(), 1U);
  }());
}

TEST(select, locks_permits_counts_and_guards_are_branches) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::mutex m;
    tandem::semaphore permits(1);
    tandem::latch done(1);
    tandem::wait_group group;
    group.add();
    event never;
    {
      auto hit = co_await select(m.scoped_lock(), never.wait());
      EXPECT_EQ(hit.index(), 0U);
      EXPECT_FALSE(m.try_lock());
    }
    EXPECT_TRUE(m.try_lock());
    {
      auto hit = co_await select(permits.scoped(), m.lock());
      EXPECT_EQ(hit.index(), 0U);
      EXPECT_EQ(permits.available(), 0U);
    }
    EXPECT_EQ(permits.available(), 1U);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](tandem::latch& l, tandem::wait_group& g,
                           std::string& out) -> task<void> {
        auto hit = co_await select(l.wait(), g.wait());
        out += std::to_string(hit.index());
      };
      scope.spawn(wait(done, group, log));
      co_await settle();
      group.done();
      co_await settle();
      scope.spawn(wait(done, group, log));
      group.add();
      co_await settle();
      done.count_down();
      group.done();
    });
    EXPECT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0], '1');
  }());
}

TEST(select, sleeps_and_ticks_are_branches) {
  test_runtime rt(virtually());
  rt.run([]() -> task<void> {
    channel<int> a(1);
    const auto began = tandem::now();
    auto slept = co_await select(a.receive(), sleep_for(20ms));
    EXPECT_EQ(slept.index(), 1U);
    EXPECT_EQ(tandem::now() - began, 20ms);
    tandem::interval every(10ms);
    const auto first = every.next();
    for (int i = 0; i < 3; ++i) {
      auto ticked = co_await select(a.receive(), every.tick());
      EXPECT_EQ(ticked.index(), 1U);
      EXPECT_EQ(ticked.get<1>(), first + i * 10ms);
    }
    // A tick that lost comes again.
    EXPECT_TRUE(a.try_send(1));
    auto got = co_await select(tandem::biased, a.receive(), every.tick());
    EXPECT_EQ(got.index(), 0U);
    EXPECT_EQ(every.next(), first + 3 * 10ms);
    auto passed = co_await select(a.receive(), sleep_for(0ms));
    EXPECT_EQ(passed.index(), 1U);
  }());
}

TEST(select, the_end_of_a_task_is_a_branch_and_losing_leaves_the_handle) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event go;
    event first;
    const auto child = [](event& until) -> task<int> {
      co_await until.wait();
      co_return 5;
    };
    auto handle = spawn(child(go));
    co_await settle();
    first.set();
    auto lost = co_await select(tandem::biased, first.wait(), handle);
    EXPECT_EQ(lost.index(), 0U);
    first.reset();
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](event& e, tandem::join_handle<int>& of, std::string& out) -> task<void> {
        auto hit = co_await select(e.wait(), of);
        out += std::to_string(hit.index());
        if (hit.index() == 1) out += std::to_string(hit.get<1>());
      };
      scope.spawn(wait(first, handle, log));
      co_await settle();
      first.set();
      co_await settle();
      EXPECT_EQ(log, "0") << "waited, and lost";
      first.reset();
      scope.spawn(wait(first, handle, log));
      co_await settle();
      go.set();
    });
    EXPECT_EQ(log, "015");
    auto failing = spawn([]() -> task<void> {
      co_await tandem::yield();
      throw planned_failure();
    }());
    EXPECT_THROW((void)co_await select(first.wait(), failing), planned_failure);
  }());
}

TEST(select, values_of_callbacks_are_a_branch) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::optional<tandem::callback<void(int)>> call;
    co_await tandem::with_callbacks(
        tandem::callback_stream<void(int)>(
            4, tandem::overflow_policy::fail,
            [&](tandem::callback<void(int)> given) { call.emplace(std::move(given)); }),
        [&](auto& values) -> task<void> {
          event e;
          std::string log;
          co_await with_scope([&](task_scope& scope) -> task<void> {
            const auto wait = [](auto& from, event& other, std::string& out) -> task<void> {
              auto hit = co_await select(from.next(), other.wait());
              out += hit.index() == 0 ? std::to_string(*hit.template get<0>()) : "e";
            };
            scope.spawn(wait(values, e, log));
            co_await settle();
            (*call)(7);
            co_await settle();
            scope.spawn(wait(values, e, log));
            co_await settle();
            e.set();
            co_await settle();
            (*call)(8);
          });
          EXPECT_EQ(log, "7e");
          EXPECT_EQ(co_await values.next(), 8);
          call.reset();
        });
  }());
}

TEST(select, a_branch_whose_condition_does_not_hold_is_left_out) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event a(true);
    event b(true);
    for (int i = 0; i < 6; ++i) {
      auto hit = co_await select(tandem::branch_if(false, a.wait()), b.wait());
      EXPECT_EQ(hit.index(), 1U);
      auto both =
          co_await select(tandem::branch_if(true, a.wait()), tandem::branch_if(false, b.wait()));
      EXPECT_EQ(both.index(), 0U);
    }
  }());
}

TEST(select, a_loop_of_ready_selects_lets_others_go_first_now_and_then) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event always(true);
    event never;
    bool has_run = false;
    auto other = spawn([](bool& ran) -> task<void> {
      ran = true;
      co_return;
    }(has_run));
    for (int i = 0; i < 300; ++i) (void)co_await select(always.wait(), never.wait());
    EXPECT_TRUE(has_run);
    co_await other;
  }());
}

TEST(select, allocates_nothing) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(1);
    channel<int> b(1);
    event never;
    auto feeder = spawn([](channel<int>& to) -> task<void> {
      for (int i = 0; i < 200; ++i) co_await to.send(i);
    }(b));
    co_await tandem::yield();
    const long before = news();
    for (int i = 0; i < 200; ++i) {
      (void)co_await select(a.receive(), b.receive(), never.wait(), sleep_for(1h));
    }
    EXPECT_LE(news() - before, 2) << "the first timer may start a thread";
    co_await feeder;
  }());
}

TEST(select, says_in_a_dump_what_its_branches_wait_for) {
  test_runtime rt(1);
  rt.run([](tandem::runtime& owner) -> task<void> {
    channel<int> a(1);
    tandem::mutex m;
    co_await m.lock();
    auto waiting = spawn([](channel<int>& from, tandem::mutex& lock) -> task<void> {
      (void)co_await select(from.receive(), lock.lock());
    }(a, m));
    co_await settle();
    const std::string dump = owner.dump();
    EXPECT_NE(dump.find("waits for a select"), std::string::npos) << dump;
    EXPECT_NE(dump.find("of 2 branches: a mutex, a channel"), std::string::npos) << dump;
    EXPECT_TRUE(a.try_send(1));
    co_await waiting;
  }(*rt));
}

}  // namespace
