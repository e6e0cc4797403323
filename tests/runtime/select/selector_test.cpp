// selector_test.cpp: what stays armed between two turns of a selector, and loses nothing.
// SPDX-License-Identifier: MIT
#include <tandem/selector.hpp>

#include <tandem/as_result.hpp>
#include <tandem/branch_if.hpp>
#include <tandem/callback_stream.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/interval.hpp>
#include <tandem/mutex.hpp>
#include <tandem/select_list.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/shared_mutex.hpp>
#include <tandem/shared_task.hpp>
#include <tandem/shielded.hpp>
#include <tandem/stopped.hpp>
#include <tandem/virtual_time.hpp>
#include <vector>

#include "runtime/support/sync_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::channel;
using tandem::event;
using tandem::selector;
using tandem::spawn;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(selector, takes_one_at_each_turn_and_all_in_the_end) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    channel<int> a(2);
    channel<int> b(0);
    const auto produce = [](channel<int>& to) -> task<void> {
      for (int i = 0; i < 2000; ++i) co_await to.send(i);
      to.close();
    };
    auto one = spawn(produce(a));
    auto two = spawn(produce(b));
    selector next(a.receive(), b.receive());
    std::array<int, 2> seen{};
    std::array<bool, 2> ended{};
    while (!ended[0] || !ended[1]) {
      auto hit = co_await next.next();
      const std::size_t which = hit.index();
      const std::optional<int> value = which == 0 ? hit.get<0>() : hit.get<1>();
      if (!value) {
        ended[which] = true;
        continue;
      }
      EXPECT_EQ(*value, seen[which]++);
    }
    EXPECT_EQ(seen[0], 2000);
    EXPECT_EQ(seen[1], 2000);
    co_await one;
    co_await two;
  }());
}

TEST(selector, what_comes_while_it_is_away_goes_to_the_next_in_the_list_or_stays) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(2);
    event e;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      event go_on;
      std::string log;
      const auto loop = [](channel<int>& from, event& other, event& go,
                           std::string& out) -> task<void> {
        selector next(from.receive(), other.wait());
        for (int i = 0; i < 3; ++i) {
          auto hit = co_await next.next();
          out += hit.index() == 0 ? std::to_string(*hit.get<0>()) : "e";
          if (i == 0) {
            other.reset();
            co_await go.wait();
          }
        }
      };
      scope.spawn(loop(a, e, go_on, log));
      co_await settle();
      e.set();
      co_await settle();
      EXPECT_EQ(log, "e");
      scope.spawn([](channel<int>& from, std::string& out) -> task<void> {
        out += "o" + std::to_string(*co_await from.receive());
      }(a, log));
      co_await settle();
      EXPECT_TRUE(a.try_send(1));  // the selector came first, and is away
      co_await settle();
      EXPECT_EQ(log, "eo1");
      EXPECT_TRUE(a.try_send(2));
      EXPECT_TRUE(a.try_send(3));
      EXPECT_EQ(a.size(), 2U);
      go_on.set();
      co_await settle();
      EXPECT_EQ(log, "eo123");
    });
  }());
}

TEST(selector, keeps_its_place_in_a_queue_while_it_is_away) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::mutex m;
    event e;
    event go_on;
    std::string log;
    co_await m.lock();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto loop = [](tandem::mutex& lock, event& other, event& go,
                           std::string& out) -> task<void> {
        selector next(lock.lock(), other.wait());
        (void)co_await next.next();
        other.reset();
        co_await go.wait();
        auto hit = co_await next.next();
        out += hit.index() == 0 ? "s" : "?";
        lock.unlock();
      };
      scope.spawn(loop(m, e, go_on, log));
      co_await settle();
      const auto other = [](tandem::mutex& lock, std::string& out) -> task<void> {
        co_await lock.lock();
        out += 'o';
        lock.unlock();
      };
      scope.spawn(other(m, log));
      co_await settle();
      e.set();
      co_await settle();
      go_on.set();
      co_await settle();
      m.unlock();
    });
    EXPECT_EQ(log, "so") << "it came first, and was there again when its turn came";
  }());
}

TEST(selector, fair_over_ready_branches_and_biased_on_request) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event a(true);
    event b(true);
    event never;
    selector next(a.wait(), never.wait(), b.wait());
    std::array<int, 3> since{};
    for (int i = 0; i < 500; ++i) {
      auto hit = co_await next.next();
      for (int& each : since) ++each;
      since[hit.index()] = 0;
      EXPECT_LE(since[0], 6);
      EXPECT_LE(since[2], 6);
    }
    selector first(tandem::biased, never.wait(), a.wait(), b.wait());
    for (int i = 0; i < 20; ++i) EXPECT_EQ((co_await first.next()).index(), 1U);
  }());
}

TEST(selector, a_branch_that_can_be_taken_once_is_left_out_until_it_is_replaced) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(4);
    const int value = 1;
    selector next(a.send(value));
    EXPECT_FALSE(next.is_over());
    EXPECT_EQ((co_await next.next()).index(), 0U);
    EXPECT_TRUE(next.is_over());
    next.replace<0>(a.send(value));
    EXPECT_FALSE(next.is_over());
    EXPECT_EQ((co_await next.next()).index(), 0U);
    EXPECT_EQ(a.size(), 2U);
  }());
}

TEST(selector, ticks_beside_a_channel) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  test_runtime rt(std::move(options));
  rt.run([]() -> task<void> {
    channel<int> a(8);
    tandem::interval every(10ms);
    auto feeder = spawn([](channel<int>& to) -> task<void> {
      for (int i = 0; i < 30; ++i) {
        co_await tandem::sleep_for(3ms);
        co_await to.send(i);
      }
    }(a));
    selector next(a.receive(), every.tick());
    std::array<int, 2> seen{};
    while (seen[0] < 30) ++seen[(co_await next.next()).index()];
    EXPECT_GE(seen[1], 8);
    EXPECT_LE(seen[1], 9);
    co_await feeder;
  }());
}

TEST(selector, a_tick_goes_by_its_interval_also_when_that_was_reset_between_two_turns) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  test_runtime rt(std::move(options));
  rt.run([]() -> task<void> {
    channel<int> a(1);
    tandem::interval quiet(100ms);
    selector next(a.receive(), quiet.tick());
    quiet.reset_at(tandem::now() + 30ms);
    const auto begin = tandem::now();
    EXPECT_EQ((co_await next.next()).index(), 1U);
    EXPECT_EQ(tandem::now() - begin, 30ms);
    EXPECT_TRUE(a.try_send(1));
    EXPECT_EQ((co_await next.next()).index(), 0U);
    co_await tandem::sleep_for(60ms);
    quiet.reset();
    EXPECT_EQ((co_await next.next()).index(), 1U);
    EXPECT_EQ(tandem::now() - begin, 190ms);
    // One that is due counts as that where nothing is waited for.
    quiet.reset_at(tandem::now() - 1ms);
    auto due = co_await tandem::select(quiet.tick(), tandem::otherwise);
    EXPECT_EQ(due.index(), 0U);
  }());
}

TEST(select_list, takes_handles_by_their_name) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::array<tandem::join_handle<int>, 3> all;
    tandem::select_list<tandem::join_awaiter<int>> ends;
    for (int i = 0; i < 3; ++i) {
      all[static_cast<std::size_t>(i)] = spawn([](int number) -> task<int> {
        co_await tandem::yield();
        co_return number;
      }(i));
      ends.add(all[static_cast<std::size_t>(i)]);
    }
    int sum = 0;
    while (!ends.is_over()) {
      auto ended = co_await ends.next();
      EXPECT_EQ(ended.value, static_cast<int>(ended.index));
      sum += ended.value;
    }
    EXPECT_EQ(sum, 3);
  }());
}

TEST(selector, a_tick_that_is_due_is_seen_beside_a_channel_that_never_runs_dry) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  test_runtime rt(std::move(options));
  rt.run([]() -> task<void> {
    event always(true);
    tandem::interval every(10ms);
    selector next(always.wait(), every.tick());
    int ticks = 0;
    for (int i = 0; i < 100; ++i) {
      if ((co_await next.next()).index() == 1) ++ticks;
      if (i % 10 == 0) co_await tandem::sleep_for(10ms);
    }
    EXPECT_GE(ticks, 9);
  }());
}

TEST(selector, a_stop_disarms_all) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::string log;
    channel<int> a(1);
    auto handle = spawn(note_end(
        [](channel<int>& from) -> task<void> {
          event never;
          selector next(from.receive(), never.wait(), tandem::sleep_for(1h));
          (void)co_await next.next();
        }(a),
        log));
    co_await settle();
    handle.cancel();
    co_await handle;
    EXPECT_EQ(log, "c");
    EXPECT_TRUE(a.try_send(1));
    EXPECT_EQ(a.size(), 1U);
  }());
}

TEST(selector, a_stop_is_a_branch_at_each_turn) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto count = [](channel<int>& from, event& away, event& go_on) -> task<int> {
      selector next(from.receive(), tandem::stopped());
      for (int taken = 0;; ++taken) {
        auto hit = co_await next.next();
        if (hit.index() == 1) co_return taken;
        if (taken == 1) {
          away.set();
          co_await tandem::shielded(go_on.wait());
        }
      }
    };
    channel<int> a(4);
    for (const int turns : {1, 2}) {  // waiting, and between two turns
      event away;
      event go_on;
      auto handle = spawn(count(a, away, go_on));
      for (int i = 0; i < turns; ++i) {
        co_await settle();
        EXPECT_TRUE(a.try_send(i));
      }
      co_await settle();
      EXPECT_EQ(away.is_set(), turns == 2);
      handle.cancel();
      go_on.set();
      const auto ended = co_await as_result(handle);
      EXPECT_TRUE(ended.has_value() && ended.value() == turns);
    }
  }());
}

TEST(selector, a_virtual_clock_goes_on_between_two_turns_beside_callbacks) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  test_runtime rt(std::move(options));
  rt.run([]() -> task<void> {
    std::optional<tandem::callback<void(int)>> call;
    co_await tandem::with_callbacks(
        tandem::callback_stream<void(int)>(
            4, tandem::overflow_policy::fail,
            [&](tandem::callback<void(int)> given) { call.emplace(std::move(given)); }),
        [&](tandem::callback_values<int>& values) -> task<void> {
          event e;
          auto setter = spawn([](event& of) -> task<void> {
            co_await settle();
            of.set();
          }(e));
          selector next(values.next(), e.wait());
          EXPECT_EQ((co_await next.next()).index(), 1U);
          co_await setter;
          co_await tandem::sleep_for(1h);
          e.reset();
          (*call)(7);
          auto hit = co_await next.next();
          EXPECT_EQ(hit.index(), 0U);
          call.reset();
        });
  }());
}

TEST(selector, a_large_request_of_one_that_is_away_holds_up_nobody) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::semaphore permits(1);
    tandem::shared_mutex m;
    event e;
    event go_on;
    std::string log;
    auto reading = co_await m.scoped_lock_shared();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tandem::semaphore& s, tandem::shared_mutex& lock, event& other, event& go,
                     std::string& out) -> task<void> {
        selector next(s.acquire(3), lock.scoped_lock(), other.wait());
        EXPECT_EQ((co_await next.next()).index(), 2U);
        other.reset();
        co_await go.wait();
        EXPECT_EQ((co_await next.next()).index(), 0U);
        EXPECT_EQ((co_await next.next()).index(), 1U);
        out += 's';
        s.release(3);
      }(permits, m, e, go_on, log));
      co_await settle();
      scope.spawn([](tandem::semaphore& s, std::string& out) -> task<void> {
        auto one = co_await s.scoped();
        out += 'p';
      }(permits, log));
      scope.spawn([](tandem::shared_mutex& lock, std::string& out) -> task<void> {
        auto too = co_await lock.scoped_lock_shared();
        out += 'r';
      }(m, log));
      co_await settle();
      EXPECT_EQ(log, "");
      e.set();
      co_await settle();
      EXPECT_EQ(log.size(), 2U);
      go_on.set();
      co_await settle();
      permits.release(2);
      co_await settle();
      reading.unlock();
    });
    EXPECT_TRUE(log.size() == 3 && log.back() == 's');
  }());
}

TEST(selector, a_branch_that_fails_has_been_taken_also_where_nothing_is_thrown) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto fail = []() -> task<int> {
      co_await tandem::yield();
      throw std::runtime_error("failed");
    };
    auto one = spawn(fail());
    auto two = spawn(fail());
    co_await settle();
    selector next(one, two);
    EXPECT_FALSE((co_await as_result(next.next())).has_value());
    EXPECT_FALSE(next.is_over());
    EXPECT_FALSE((co_await as_result(next.next())).has_value());
    EXPECT_TRUE(next.is_over());

    tandem::select_list<tandem::join_awaiter<int>> listed;
    auto three = spawn(fail());
    listed.add(three.operator co_await());
    EXPECT_FALSE((co_await as_result(listed.next())).has_value());
    EXPECT_TRUE(listed.is_over());
  }());
}

/// Seems to be there, and never is: so the others are armed before they are tried.
class due_for_ever {
 public:
  using tandem_awaiter = void;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> /*never*/) const noexcept {}
  void await_resume() const noexcept {}
  bool select_due() const noexcept { return true; }
  bool select_try() const noexcept { return false; }
  bool select_arm(tandem::detail::select_place& /*as*/) const noexcept { return false; }
  void select_disarm() const noexcept {}
  void select_reset() const noexcept {}
};

TEST(selector, what_its_own_send_has_left_is_there_for_its_receive) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> a(1);
    int value = 7;
    selector next(tandem::biased, due_for_ever(), a.receive(), a.send(std::move(value)));
    EXPECT_EQ((co_await next.next()).index(), 2U);
    auto hit = co_await tandem::with_timeout(10s, [](auto& of) -> task<std::optional<int>> {
      auto got = co_await of.next();
      co_return got.index() == 1 ? got.template get<1>() : std::nullopt;
    }(next));
    EXPECT_EQ(hit, 7);
  }());
}

TEST(selector, a_copy_is_sent_also_by_a_branch_that_was_not_tried) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<std::vector<int>> a(1);
    const std::vector<int> numbers(25, 7);
    EXPECT_EQ((co_await tandem::select(tandem::biased, due_for_ever(), a.send(numbers))).index(),
              1U);
    EXPECT_EQ(a.try_receive(), numbers);
  }());
}

TEST(selector, wrapped_branches_are_due_and_of_the_stop_as_what_they_wrap) {
  using of_result = decltype(tandem::as_result(due_for_ever()));
  using of_condition = decltype(tandem::branch_if(true, due_for_ever()));
  EXPECT_TRUE(of_result(due_for_ever()).select_due());
  EXPECT_TRUE(of_condition(true, due_for_ever()).select_due());
  EXPECT_FALSE(of_condition(false, due_for_ever()).select_due());
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    auto handle = spawn([]() -> task<std::size_t> {
      while (!tandem::stop_requested()) co_await tandem::shielded(tandem::yield());
      event never;
      std::size_t taken = 0;
      for (int i = 0; i < 300; ++i) {  // past the await budget, where a stop is looked for first
        taken += (co_await tandem::select(never.wait(), as_result(tandem::stopped()))).index();
      }
      co_return taken;
    }());
    co_await settle();
    handle.cancel();
    const auto ended = co_await as_result(handle);
    EXPECT_TRUE(ended.has_value() && ended.value() == 300);
  }());
}

TEST(selector, holds_a_shared_task_that_is_no_ones_else) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event never;
    selector next(tandem::shared_task<int>([]() -> task<int> { co_return 5; }()), never.wait());
    auto hit = co_await next.next();
    EXPECT_EQ(hit.index(), 0U);
    EXPECT_EQ(hit.get<0>(), 5);
  }());
}

TEST(select_list, has_as_many_branches_as_were_added) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    constexpr std::size_t count = 50;
    std::vector<std::unique_ptr<channel<int>>> all;
    tandem::select_list<tandem::receive_awaiter<int>> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(std::make_unique<channel<int>>(i % 3));
      EXPECT_EQ(inputs.add(all.back()->receive()), i);
    }
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto produce = [](channel<int>& to) -> task<void> {
        for (int i = 0; i < 40; ++i) co_await to.send(i);
        to.close();
      };
      for (auto& each : all) scope.spawn(produce(*each));
      std::vector<int> seen(count);
      while (!inputs.is_over()) {
        auto hit = co_await inputs.next();
        if (!hit.value) {
          inputs.remove(hit.index);
          continue;
        }
        EXPECT_EQ(*hit.value, seen[hit.index]++);
      }
      for (const int each : seen) EXPECT_EQ(each, 40);
    });
  }());
}

}  // namespace
