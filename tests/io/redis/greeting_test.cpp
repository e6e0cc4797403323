// greeting_test.cpp: what connect() finds out, and with which words it and a limit of time fail.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <string>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>

#include "io/redis/false_server.hpp"
#include "refusing_port.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::client;
using redis::errc;
using redis::options;
using redis::subscriber;

/// How it fails: the code is the expected one, and no word of the server's place is missing.
template <class T>
task<std::string> failure_text(task<T> asked, errc expected) {
  try {
    (void)co_await std::move(asked);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const redis::error& why) {
    EXPECT_EQ(why.code(), expected) << why.what();
    co_return why.what();
  }
  co_return std::string();
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class redis_greeting : public with_redis {};

TEST(redis_greeting_of_others, what_is_no_redis_is_told_by_connect_with_its_place) {
  const auto speaks_http = [](false_server& listening) -> task<void> {
    for (int each = 0; each < 2; ++each) {
      io::tcp_stream stream = co_await listening.accept();
      co_await reads_commands(stream, 1);
      co_await says(stream, "HTTP/1.1 400 Bad Request\r\n\r\n");
    }
  };
  against(speaks_http, [](options where) -> task<void> {
    const std::string begin = where.place() + ": PING: hiredis: ";
    EXPECT_EQ((co_await failure_text(client::connect(where), errc::protocol_error)).find(begin),
              0U);
    EXPECT_EQ((co_await failure_text(subscriber::connect(where), errc::protocol_error)).find(begin),
              0U);
  });
}

TEST(redis_greeting_of_others, a_server_that_can_be_used_only_for_some_things_lets_connect) {
  const auto serves = [](false_server& listening) -> task<void> {
    for (const char* each : {"-NOPERM this user has no permissions to run the 'ping' command\r\n",
                             "-BUSY Redis is busy running a script\r\n",
                             "-MISCONF Redis is configured to save RDB snapshots\r\n"}) {
      io::tcp_stream stream = co_await listening.accept();
      co_await reads_commands(stream, 1);
      co_await says(stream, each);
      co_await reads_to_end(stream);
    }
  };
  against(serves, [](options where) -> task<void> {
    for (int each = 0; each < 3; ++each) {
      EXPECT_EQ(co_await code_of(client::connect(where)), std::error_code());
    }
  });
}

TEST(redis_greeting_of_others, a_server_that_is_not_ready_is_told_by_connect) {
  const auto loads = [](false_server& listening) -> task<void> {
    io::tcp_stream stream = co_await listening.accept();
    co_await reads_commands(stream, 1);
    co_await says(stream, "-LOADING Redis is loading the dataset in memory\r\n");
    co_await reads_to_end(stream);
  };
  against(loads, [](options where) -> task<void> {
    const std::string told = co_await failure_text(client::connect(where), errc::loading);
    EXPECT_EQ(told.find(where.place() + ": PING: LOADING"), 0U) << told;
  });
}

TEST_F(redis_greeting, a_password_that_is_missing_is_told_by_connect) {
  run([](options where) -> task<void> {
    auto admin = co_await client::connect(where);
    co_await admin.command("CONFIG", "SET", "requirepass", "secret");
    const std::string begin = where.place() + ": PING: NOAUTH ";
    std::string told = co_await failure_text(client::connect(where), errc::no_auth);
    EXPECT_EQ(told.find(begin), 0U) << told;
    told = co_await failure_text(subscriber::connect(where), errc::no_auth);
    EXPECT_EQ(told.find(begin), 0U) << told;
    options knows = where;
    knows.password = "secret";
    EXPECT_EQ(co_await code_of(client::connect(knows)), std::error_code());
    co_await admin.command("CONFIG", "SET", "requirepass", "");
  });
}

TEST_F(redis_greeting, what_is_refused_names_the_server_and_what_was_asked) {
  run([](options where) -> task<void> {
    options wrong = where;
    wrong.username = "nobody";
    wrong.password = "secret";
    std::string told = co_await failure_text(client::connect(wrong), errc::no_auth);
    EXPECT_EQ(told.find(where.place() + ": AUTH: WRONGPASS"), 0U) << told;
    EXPECT_EQ(count_of(told, "secret"), 0U) << told;
    wrong.username.clear();
    told = co_await failure_text(client::connect(wrong), errc::no_auth);
    EXPECT_EQ(told.find(where.place() + ": AUTH: "), 0U) << told;
    EXPECT_EQ(count_of(told, "this server has no password: leave it out"), 1U) << told;
    wrong = where;
    wrong.client_name = "tests";
    wrong.database = 99;
    told = co_await failure_text(client::connect(wrong), errc::server_error);
    EXPECT_EQ(told.find(where.place() + ": SELECT 99: ERR DB index is out of range"), 0U) << told;
  });
}

TEST(redis_limit, a_command_that_was_never_sent_tells_how_the_last_attempt_to_connect_failed) {
  const refusing_port nobody;
  test_runtime rt;
  rt.run([](std::uint16_t port) -> task<void> {
    options where;
    where.host = "127.0.0.1";
    where.port = port;
    where.initial_delay = where.max_delay = 1ms;
    where.limit = 200ms;
    client lazy = client::later(where);
    const std::string told = co_await failure_text(lazy.command("PING"), errc::timed_out);
    EXPECT_EQ(told.find(where.place() + ": not sent within 200 ms (options::limit); the last "
                                        "attempt to connect: "),
              0U)
        << told;
    EXPECT_EQ(count_of(told, "efused"), 1U) << told;
    where.limit.reset();
    where.max_attempts = 1;
    client once = client::later(where);
    const std::string never = co_await failure_text(once.command("PING"), errc::not_sent);
    EXPECT_EQ(count_of(never, "no connection to the Redis server"), 0U) << never;
    EXPECT_EQ(count_of(never, "efused"), 1U) << never;
  }(nobody.where().port()));
}

TEST(redis_limit, a_command_that_was_sent_tells_that_it_was) {
  const auto is_silent = [](false_server& listening) -> task<void> {
    io::tcp_stream stream = co_await listening.accept_greeting();
    co_await reads_to_end(stream);
  };
  against(is_silent, [](options where) -> task<void> {
    where.limit = 300ms;
    auto client = co_await client::connect(where);
    const std::string told = co_await failure_text(client.command("GET", "x"), errc::timed_out);
    EXPECT_EQ(told.find(where.place() + ": sent, and not answered within 300 ms (options::limit)"),
              0U)
        << told;
  });
}

TEST(redis_limit, without_reconnect_what_was_not_sent_is_not_said_to_be_done_or_not) {
  event gone;
  const auto ends = [&gone](false_server& listening) -> task<void> {
    { const io::tcp_stream stream = co_await listening.accept_greeting(); }
    gone.set();
  };
  against(ends, [&gone](options where) -> task<void> {
    where.reconnect = false;
    auto client = co_await client::connect(where);
    co_await gone.wait();
    co_await sleep_for(50ms);  // a client that has been idle looks first
    const std::string told = co_await failure_text(client.command("GET", "x"), errc::not_sent);
    EXPECT_EQ(count_of(told, "done or not"), 0U) << told;
    EXPECT_EQ(count_of(told, "was not sent"), 1U) << told;
  });
}

}  // namespace
}  // namespace tandem::test
