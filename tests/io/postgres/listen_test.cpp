// listen_test.cpp: NOTIFY arrives, in order, also beside statements; waiting for it costs nothing.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::notification;
using tandem::as_result;
using tandem::task;

class postgres_listen : public with_postgres {};

TEST_F(postgres_listen, what_is_told_arrives_in_order) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection listens = co_await connect_to(server());
    connection tells = co_await connect_to(server());
    co_await listens.listen("a \"channel\"");
    for (int i = 0; i < 10; ++i) {
      (void)co_await tells.query("select pg_notify('a \"channel\"', $1)", std::to_string(i));
    }
    for (int i = 0; i < 10; ++i) {
      const notification told = co_await listens.next_notification();
      EXPECT_EQ(told.channel, "a \"channel\"");
      EXPECT_EQ(told.payload, std::to_string(i));
      EXPECT_EQ(told.server_process, tells.server_process());
    }
    // Some come with the answer of a statement.
    (void)co_await tells.query("select pg_notify('a \"channel\"', 'x')");
    (void)co_await listens.query("select 1");
    EXPECT_EQ((co_await listens.next_notification()).payload, "x");
    co_await listens.unlisten("a \"channel\"");
    (void)co_await tells.query("select pg_notify('a \"channel\"', 'y')");
    const auto none = co_await as_result(tandem::with_timeout(20ms, listens.next_notification()));
    EXPECT_TRUE(none.is_cancelled());
    EXPECT_TRUE(listens.is_usable());
  }());
}

TEST_F(postgres_listen, a_wait_goes_on_when_somebody_tells_and_ends_when_the_server_goes) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection listens = co_await connect_to(server());
    connection tells = co_await connect_to(server());
    co_await listens.listen("jobs");
    tandem::event was_told;
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto waits = [&]() -> task<void> {
        EXPECT_EQ((co_await listens.next_notification()).payload, "go");
        was_told.set();
        (void)co_await failure_text(listens.next_notification(), errc::connection_lost);
        EXPECT_FALSE(listens.is_usable());
      };
      scope.spawn(waits);
      (void)co_await tells.query("select pg_notify('jobs', 'go')");
      co_await was_told.wait();  // a server that is ended tells no more
      (void)co_await tells.query("select pg_terminate_backend($1)", listens.server_process());
      co_await scope.join();
    };
    co_await tandem::with_scope(both);
  }());
}

TEST_F(postgres_listen, an_idle_connection_wakes_nobody) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([](tandem::io::completion_pool& of) -> task<void> {
    connection listens = co_await connect_to(server());
    co_await listens.listen("silence");
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto waits = [&]() -> task<void> { (void)co_await listens.next_notification(); };
      scope.spawn(waits);
      while (of.stats().in_flight == 0) co_await tandem::sleep_for(1ms);
      const auto before = of.stats();
      co_await tandem::sleep_for(300ms);
      const auto after = of.stats();
      EXPECT_EQ(after.submitted, before.submitted);
      EXPECT_EQ(after.completed, before.completed);
      scope.request_stop();
      co_await scope.join();
    };
    (void)co_await as_result(tandem::with_scope(both));
    EXPECT_TRUE(listens.is_usable());
  }(pool));
}

}  // namespace
