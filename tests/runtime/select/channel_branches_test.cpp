// channel_branches_test.cpp: oneshots, unbounded channels, broadcasts and watches in a select.
// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/broadcast.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/select.hpp>
#include <tandem/select_list.hpp>
#include <tandem/selector.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/watch.hpp>
#include <vector>

#include "runtime/support/sync_support.hpp"

namespace {

using tandem::as_result;
using tandem::broadcast;
using tandem::channel;
using tandem::errc;
using tandem::event;
using tandem::oneshot;
using tandem::otherwise;
using tandem::select;
using tandem::selector;
using tandem::task;
using tandem::task_scope;
using tandem::unbounded_channel;
using tandem::watch;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

using boxed = std::unique_ptr<int>;

TEST(select_oneshot, its_value_moves_only_when_the_branch_is_taken) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<boxed> answer;
    event e(true);
    EXPECT_TRUE(answer.sender.send(std::make_unique<int>(7)));
    auto lost = co_await select(tandem::biased, e.wait(), answer.receiver.receive());
    EXPECT_EQ(lost.index(), 0U);
    e.reset();
    auto hit = co_await select(e.wait(), answer.receiver.receive());
    EXPECT_EQ(hit.index(), 1U);
    EXPECT_EQ(*hit.get<1>(), 7);
  }());
}

TEST(select_oneshot, waits_for_the_value_or_for_the_end_of_either_side) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event never;
    std::string log;
    const auto wait = [](tandem::oneshot_receiver<int>& from, event& other,
                         std::string& out) -> task<void> {
      auto hit = co_await select(other.wait(), as_result(from.receive()));
      EXPECT_EQ(hit.index(), 1U);
      auto& got = hit.get<1>();
      out += got ? std::to_string(got.value()) : got.error() == errc::sender_dropped ? "d" : "?";
    };
    const auto until_closed = [](tandem::oneshot_sender<int>& to, event& other,
                                 std::string& out) -> task<void> {
      auto hit = co_await select(other.wait(), to.closed());
      out += hit.index() == 1 ? "c" : "?";
    };
    oneshot<int> a;
    oneshot<int> b;
    oneshot<int> c;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(wait(a.receiver, never, log));
      scope.spawn(wait(b.receiver, never, log));
      scope.spawn(until_closed(c.sender, never, log));
      co_await settle();
      EXPECT_EQ(log, "");
      EXPECT_TRUE(a.sender.send(7));
      co_await settle();
      b.sender = {};
      co_await settle();
      c.receiver = {};
    });
    EXPECT_EQ(log, "7dc");
  }());
}

TEST(select_oneshot, a_failure_is_thrown_where_the_branch_is_taken_and_it_is_over_then) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> answer;
    channel<int> other(1);
    EXPECT_TRUE(answer.sender.fail(make_error_code(std::errc::io_error)));
    selector next(tandem::biased, answer.receiver.receive(), other.receive());
    bool has_thrown = false;
    try {
      (void)co_await next.next();
    } catch (const std::system_error& error) {
      has_thrown = error.code() == std::errc::io_error;
    }
    EXPECT_TRUE(has_thrown);
    EXPECT_TRUE(other.try_send(3));
    auto hit = co_await next.next();
    EXPECT_EQ(hit.index(), 1U) << "a oneshot gives its outcome once";
  }());
}

TEST(select_unbounded, a_value_goes_to_the_branch_or_stays_in_the_queue) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<boxed> log;
    event e;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](unbounded_channel<boxed>& from, event& other) -> task<void> {
        auto hit = co_await select(from.receive(), other.wait());
        EXPECT_EQ(hit.index(), 1U);
      };
      scope.spawn(wait(log, e));
      co_await settle();
      e.set();
      log.send(std::make_unique<int>(1));  // its task has not run yet
      EXPECT_EQ(log.size(), 1U);
    });
    e.reset();
    auto hit = co_await select(log.receive(), e.wait());
    EXPECT_EQ(**hit.get<0>(), 1);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](unbounded_channel<boxed>& from, event& other) -> task<void> {
        auto got = co_await select(other.wait(), from.receive());
        EXPECT_EQ(**got.get<1>(), 2);
        auto end = co_await select(other.wait(), from.receive());
        EXPECT_EQ(end.get<1>(), std::nullopt);
      };
      scope.spawn(wait(log, e));
      co_await settle();
      log.send(std::make_unique<int>(2));
      EXPECT_EQ(log.size(), 0U);
      co_await settle();
      log.close();
    });
    EXPECT_EQ(log.stats().received, 2U);
  }());
}

TEST(select_unbounded, a_selector_that_is_away_finds_what_was_sent_in_order) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<int> log;
    event e;
    std::vector<int> got;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      event go_on;
      const auto loop = [](unbounded_channel<int>& from, event& other, event& go,
                           std::vector<int>& out) -> task<void> {
        selector next(from.receive(), other.wait());
        (void)co_await next.next();
        other.reset();
        co_await go.wait();
        while (out.size() < 600) {
          auto hit = co_await next.next();
          out.push_back(*hit.get<0>());
        }
      };
      scope.spawn(loop(log, e, go_on, got));
      co_await settle();
      e.set();
      co_await settle();
      for (int i = 0; i < 300; ++i) log.send(i);
      EXPECT_EQ(log.size(), 300U);
      go_on.set();
      while (got.size() < 300) co_await tandem::yield();
      for (int i = 300; i < 600; ++i) log.send(i);
    });
    for (int i = 0; i < 600; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
  }());
}

TEST(select_unbounded, until_low_is_a_branch) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<int> queue(1);
    event never;
    auto low = co_await select(queue.until_low(), never.wait());
    EXPECT_EQ(low.index(), 0U);
    queue.send(1);
    queue.send(2);
    EXPECT_TRUE(queue.is_high());
    auto not_yet = co_await select(queue.until_low(), otherwise);
    EXPECT_EQ(not_yet.index(), 1U);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](unbounded_channel<int>& of, event& other) -> task<void> {
        (void)co_await select(of.until_low(), other.wait());
      };
      scope.spawn(note_end(wait(queue, never), log));
      co_await settle();
      EXPECT_EQ(log, "");
      (void)queue.try_receive();
      (void)queue.try_receive();
    });
    EXPECT_EQ(log, "r");
  }());
}

TEST(select_broadcast, a_branch_that_lost_has_received_nothing) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    broadcast<int> news(2);
    auto feed = news.subscribe();
    auto other = news.subscribe();
    event e;
    std::string log;
    const auto wait = [](tandem::broadcast_receiver<int>& from, event& or_this,
                         std::string& out) -> task<void> {
      auto hit = co_await select(tandem::biased, or_this.wait(), from.receive());
      if (hit.index() == 0) {
        out += 'e';
      } else if (const auto& item = hit.get<1>(); item.missed() != 0) {
        out += 'm' + std::to_string(item.missed());
      } else {
        out += item ? std::to_string(*item) : "end";
      }
    };
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(wait(feed, e, log));
      scope.spawn(wait(other, e, log));
      co_await settle();
      news.send(1);
      co_await settle();
      EXPECT_EQ(log, "11");
      log.clear();
      scope.spawn(wait(feed, e, log));
      co_await settle();
      e.set();
      news.send(2);
      co_await settle();
      EXPECT_EQ(log, "e");
      EXPECT_EQ(feed.behind(), 1U);
      e.reset();
      news.send(3);
      news.send(4);
      for (int i = 0; i < 3; ++i) co_await wait(feed, e, log);
      EXPECT_EQ(log, "em134") << "it lags, and hears so";
      scope.spawn(wait(feed, e, log));
      co_await settle();
      news.close();
    });
    EXPECT_EQ(log, "em134end");
  }());
}

TEST(select_broadcast, a_list_over_several_feeds_sees_all_of_them_in_order) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    constexpr int values = 500;
    broadcast<int> a(values);
    broadcast<int> b(values);
    auto from_a = a.subscribe();
    auto from_b = b.subscribe();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto feed = [](broadcast<int>& to) -> task<void> {
        for (int i = 0; i < values; ++i) {
          to.send(i);
          if (i % 7 == 0) co_await tandem::yield();
        }
        to.close();
      };
      scope.spawn(feed(a));
      scope.spawn(feed(b));
      tandem::select_list<tandem::broadcast_receive_awaiter<int>> inputs;
      (void)inputs.add(from_a.receive());
      (void)inputs.add(from_b.receive());
      std::array<int, 2> seen{};
      while (!inputs.is_over()) {
        auto hit = co_await inputs.next();
        if (!hit.value) {
          inputs.remove(hit.index);
          continue;
        }
        EXPECT_EQ(hit.value.missed(), 0U);
        EXPECT_EQ(*hit.value, seen[hit.index]++);
      }
      EXPECT_EQ(seen, (std::array<int, 2>{values, values}));
    });
  }());
}

TEST(select_watch, a_version_counts_as_seen_only_if_the_branch_was_taken) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<int> level(1);
    auto reader = level.subscribe();
    event e;
    auto first = co_await select(reader.next(), e.wait());
    EXPECT_EQ(first.get<0>(), 1);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](tandem::watch_reader<int>& from, event& other,
                           std::string& out) -> task<void> {
        auto hit = co_await select(from.changed(), other.wait());
        out += hit.index() == 1 ? "e" : hit.get<0>() ? "v" : "end";
      };
      scope.spawn(wait(reader, e, log));
      co_await settle();
      e.set();
      EXPECT_TRUE(level.set(2));
      co_await settle();
      EXPECT_EQ(log, "e");
      EXPECT_TRUE(reader.has_changed());
      e.reset();
      auto latest = co_await select(reader.next(), e.wait());
      EXPECT_EQ(latest.get<0>(), 2);
      scope.spawn(wait(reader, e, log));
      co_await settle();
      EXPECT_TRUE(level.set(3));
      co_await settle();
      EXPECT_FALSE(reader.has_changed());
      scope.spawn(wait(reader, e, log));
      co_await settle();
      level.close();
    });
    EXPECT_EQ(log, "evend");
  }());
}

TEST(select_watch, a_selector_that_is_away_finds_the_latest_version) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<int> level(0);
    auto reader = level.subscribe();
    (void)reader.get();
    channel<int> commands(4);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      event go_on;
      const auto loop = [](tandem::watch_reader<int>& from, channel<int>& in, event& go,
                           std::string& out) -> task<void> {
        selector next(from.next(), in.receive());
        for (int i = 0; i < 3; ++i) {
          auto hit = co_await next.next();
          out += hit.index() == 0 ? "v" + std::to_string(*hit.get<0>())
                                  : "c" + std::to_string(*hit.get<1>());
          if (i == 0) co_await go.wait();
        }
      };
      scope.spawn(loop(reader, commands, go_on, log));
      co_await settle();
      EXPECT_TRUE(commands.try_send(1));
      co_await settle();
      for (int i = 1; i <= 5; ++i) EXPECT_TRUE(level.set(i));
      go_on.set();
      co_await settle();
      EXPECT_EQ(log, "c1v5");
      EXPECT_TRUE(level.set(6));
    });
    EXPECT_EQ(log, "c1v5v6");
  }());
}

TEST(select, a_send_to_a_closed_channel_is_an_error_code_as_a_result) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> c(1);
    channel<int> never(1);
    c.close();
    EXPECT_EQ((co_await as_result(c.send(1))).error(), errc::channel_closed);
    auto hit = co_await select(never.receive(), as_result(c.send(1)));
    EXPECT_EQ(hit.get<1>().error(), errc::channel_closed);
    channel<int> full(0);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      const auto wait = [](channel<int>& to, channel<int>& other, std::string& out) -> task<void> {
        auto ended = co_await select(other.receive(), as_result(to.send(1)));
        out += ended.get<1>().error() == errc::channel_closed ? "x" : "?";
      };
      scope.spawn(wait(full, never, log));
      co_await settle();
      full.close();
    });
    EXPECT_EQ(log, "x");
    try {
      co_await c.send(2);
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), errc::channel_closed);
    }
  }());
}

}  // namespace
