// stops_test.cpp: a stop at any moment: the await ends, the others do not notice, nothing is left.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <random>
#include <tandem/blocking.hpp>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "io/curl/curl_support.hpp"
#include "seeded.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

/// One of the ways in which something can be under way.
task<void> something(curl::session& session, unsigned which) {
  switch (which % 5) {
    case 0: {
      const curl::response page = co_await session.get(nginx_url("/1M.bin"));
      EXPECT_EQ(page.body.size(), std::size_t{1} << 20);
      co_return;
    }
    case 1: (void)co_await session.get(nginx_url("/slow/1M.bin")); co_return;
    case 2: {
      curl::transfer page = co_await session.open(curl::request(nginx_url("/1M.bin")));
      std::vector<std::byte> room(5000);
      for (int i = 0; i < 300; ++i) {
        const std::size_t size = co_await page.read(room);
        if (size == 0) break;
      }
      co_return;
    }
    case 3: {
      curl::request put("PUT", nginx_url("/upload/stops.bin"));
      put.body_from([given = 0](std::span<std::byte> room) mutable -> task<std::size_t> {
        co_await tandem::yield();
        if (++given > 40) co_return 0;
        std::fill(room.begin(), room.end(), std::byte{'x'});
        co_return room.size();
      });
      (void)co_await session.send(put);
      co_return;
    }
    default: {
      curl::request asked(nginx_url("/1M.bin"));
      asked.body_to([](std::span<const std::byte>) -> task<void> { co_await tandem::yield(); });
      (void)co_await session.send(asked);
    }
  }
}

/// Which of them is stopped after how many turns of the session's thread.
task<void> stopped_after(curl::session& session, unsigned which, unsigned turns) {
  const auto body = [&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(something(session, which));
    for (unsigned i = 0; i < turns; ++i) co_await tandem::yield();
    scope.request_stop();
    co_return;
  };
  const auto ended = co_await tandem::as_result(tandem::with_scope(body));
  EXPECT_TRUE(ended.has_value() || ended.is_cancelled());
}

TEST(curl_stops, a_stop_at_any_turn_leaves_the_session_as_good_as_before) {
  TANDEM_NEEDS_SERVER("nginx");
  std::mt19937_64 random(stress_seed());
  in_a_session([&](curl::session& session) -> task<void> {
    const int rounds = is_nightly() ? 2000 : 150;
    for (int i = 0; i < rounds; ++i) {
      const auto which = static_cast<unsigned>(random());
      const auto turns = static_cast<unsigned>(random() % (1U << (random() % 12)));
      co_await stopped_after(session, which, turns);
      if (i % 10 == 0) {
        const curl::response page = co_await session.get(nginx_url("/hello.txt"));
        EXPECT_EQ(page.body, "hello, world\n");
      }
    }
  });
}

void expect_done_or_ended(const std::error_code& code) {
  EXPECT_TRUE(!code || code == errc::session_ended) << code.message();
}
task<void> await_answer(task<curl::response> asked) {
  expect_done_or_ended(co_await code_of(std::move(asked)));
}
task<void> read_all(task<curl::transfer> asked) {
  const auto all = [&]() -> task<void> {
    curl::transfer page = co_await std::move(asked);
    std::vector<std::byte> room(5000);
    while (true) {
      const std::size_t size = co_await page.read(room);
      if (size == 0) break;
    }
  };
  const auto ended = co_await tandem::as_result(all());
  if (!ended.has_value()) expect_done_or_ended(ended.error());
}

/// Begins one of each kind, which may outlive the session.
void begin_all(tandem::task_scope& scope, curl::session& session) {
  scope.spawn(await_answer(session.get(nginx_url("/1M.bin"))));
  scope.spawn(await_answer(session.get(nginx_url("/slow/1M.bin"))));
  scope.spawn(read_all(session.open(curl::request(nginx_url("/1M.bin")))));
  curl::request put("PUT", nginx_url("/upload/ends.bin"));
  put.body_from([](std::span<std::byte> room) -> task<std::size_t> {
    co_await tandem::yield();
    co_return room.size();
  });
  scope.spawn(await_answer(session.send(std::move(put))));
  curl::request down(nginx_url("/1M.bin"));
  down.body_to([](std::span<const std::byte>) -> task<void> { co_await tandem::yield(); });
  scope.spawn(await_answer(session.send(std::move(down))));
}

TEST(curl_stops, a_session_that_ends_at_any_turn_ends_all_that_is_under_way) {
  TANDEM_NEEDS_SERVER("nginx");
  std::mt19937_64 random(stress_seed());
  test_runtime rt;
  tandem::io::install(*rt, steady_threads());
  const int rounds = is_nightly() ? 1000 : 60;
  for (int i = 0; i < rounds; ++i) {
    const auto turns = static_cast<unsigned>(random() % (1U << (random() % 12)));
    rt.run([](unsigned until) -> task<void> {
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        const auto body = [&](curl::session& session) -> task<void> {
          begin_all(scope, session);
          for (unsigned turn = 0; turn < until; ++turn) co_await tandem::yield();
        };
        co_await curl::with_session(body);
        co_await scope.join();
      };
      co_await tandem::with_scope(all);
    }(turns));
  }
}

TEST(curl_stops, the_end_of_a_session_waits_for_no_resolver) {
  tandem::runtime_options one_thread = with_threads(2);
  one_thread.blocking.max_threads = 1;
  test_runtime rt(one_thread);
  tandem::io::install(*rt, steady_threads());
  thread_semaphore go_on(0);
  rt.run([](tandem::runtime& of, thread_semaphore& until) -> task<void> {
    tandem::event is_held;
    std::error_code code;
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      // Whoever looks up a name waits for that thread.
      const auto hold = [&]() -> task<void> {
        const auto wait = [&] {
          is_held.set();
          until.acquire();
        };
        co_await tandem::blocking(wait);
      };
      scope.spawn(hold());
      co_await is_held.wait();
      const auto get = [&](task<curl::response> asked) -> task<void> {
        code = co_await code_of(std::move(asked));
      };
      const auto body = [&](curl::session& session) -> task<void> {
        scope.spawn(get(session.get("http://no-such-host.invalid/")));
        const auto& pool = of.use_service<tandem::blocking_pool>();
        while (pool.stats().queued == 0) co_await tandem::yield();
      };
      co_await curl::with_session(body);
      until.release();
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
    EXPECT_EQ(code, errc::session_ended);
  }(*rt, go_on));
}

TEST(curl_stops, others_do_not_notice) {
  TANDEM_NEEDS_SERVER("nginx");
  std::mt19937_64 random(stress_seed());
  curl::session_options few;
  few.max_connections = 6;
  in_a_session(few, [&](curl::session& session) -> task<void> {
    const std::string expected = file_bytes(1 << 20);
    std::atomic<bool> is_over{false};
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      const auto good = [&]() -> task<void> {
        for (int i = 0; i < 20; ++i) {
          const curl::response page = co_await session.get(nginx_url("/1M.bin"));
          EXPECT_TRUE(page.body == expected);
        }
        is_over = true;
      };
      scope.spawn(good());
      while (!is_over && !scope.stop_requested()) {
        const auto which = static_cast<unsigned>(random());
        co_await stopped_after(session, which, static_cast<unsigned>(random() % 200));
      }
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
  });
}

TEST(curl_stops, one_that_waits_for_a_connection_is_stopped_there) {
  TANDEM_NEEDS_SERVER("nginx");
  curl::session_options one;
  one.max_connections = 1;
  in_a_session(one, [&](curl::session& session) -> task<void> {
    curl::transfer holds_it = co_await session.open(curl::request(nginx_url("/1M.bin")));
    for (int i = 0; i < 5; ++i) {
      const auto waited = co_await tandem::as_result(
          tandem::with_timeout(5ms, session.get(nginx_url("/hello.txt"))));
      EXPECT_EQ(waited.reason(), tandem::stop_reason::deadline);
    }
    co_await holds_it.close();
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

TEST(curl_stops, a_look_up_that_is_stopped_holds_up_nobody) {
  in_a_session([&](curl::session& session) -> task<void> {
    for (int i = 0; i < 20; ++i) {
      // Outlives the body, which does not wait for it.
      const auto ask = [&]() -> task<void> {
        (void)co_await session.get("http://no-such-host-" + std::to_string(i) + ".invalid/");
      };
      const auto body = [&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(ask());
        for (int turns = 0; turns < i; ++turns) co_await tandem::yield();
        scope.request_stop();
        co_return;
      };
      const auto ended = co_await tandem::as_result(tandem::with_scope(body));
      EXPECT_TRUE(ended.has_value() || ended.is_cancelled() ||
                  ended.error() == errc::could_not_resolve);
    }
  });
}

TEST(curl_stops, a_transfer_that_was_stopped_in_a_read_can_be_read_on) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::transfer page = co_await session.open(curl::request(nginx_url("/1M.bin")));
    std::string all;
    std::vector<std::byte> room(70'000);
    while (true) {
      const auto got = co_await tandem::as_result(tandem::with_timeout(50us, page.read(room)));
      if (got.is_cancelled()) continue;
      const std::size_t size = got.value();
      if (size == 0) break;
      all += tandem::io::text_of(std::span(room).first(size));
    }
    EXPECT_TRUE(all == file_bytes(1 << 20));
  });
}

}  // namespace
