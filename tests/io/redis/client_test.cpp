// client_test.cpp: commands, pipelines and transactions against a Redis server.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/redis/redis_support.hpp"

namespace tandem::test {
namespace {

using redis::batch;
using redis::client;
using redis::errc;
using redis::options;
using redis::replies;
using redis::reply;
using redis::reply_kind;

class redis_client : public with_redis {};

TEST_F(redis_client, what_was_set_is_what_one_gets) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    co_await client.command("SET", "greeting", "hello");
    auto text = co_await client.command<std::optional<std::string>>("GET", "greeting");
    EXPECT_EQ(text, "hello");
    EXPECT_EQ(co_await client.command<std::optional<std::string>>("GET", "none"), std::nullopt);
    EXPECT_EQ(co_await client.command<int>("INCRBY", "count", 41), 41);
    EXPECT_EQ(co_await client.command<int>("INCR", "count"), 42);
    EXPECT_EQ(co_await client.command<std::string>("GET", "count"), "42");
    EXPECT_EQ(co_await client.command<double>("INCRBYFLOAT", "half", 0.5), 0.5);
    EXPECT_TRUE(co_await client.command<bool>("EXISTS", "half"));
    co_await client.command<void>("DEL", "half");
    EXPECT_FALSE(co_await client.command<bool>("EXISTS", "half"));
  });
}

TEST_F(redis_client, answers_of_every_kind_keep_their_kind) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    EXPECT_EQ((co_await client.command("PING")).kind(), reply_kind::status);
    EXPECT_EQ((co_await client.command("ECHO", "PONG")).kind(), reply_kind::string);
    EXPECT_EQ((co_await client.command("DBSIZE")).kind(), reply_kind::integer);
    EXPECT_TRUE((co_await client.command("GET", "none")).is_nil());
    co_await client.command("HSET", "map", "a", 1, "b", 2);
    const reply map = co_await client.command("HGETALL", "map");
    EXPECT_EQ(map.kind(), reply_kind::array);
    EXPECT_EQ((map.as<std::map<std::string, int>>()),
              (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
    const reply nested = co_await client.command("EVAL", "return {1,{2,{'three',{}}},false}", 0);
    EXPECT_EQ(nested.to_string(), R"([1, [2, ["three", []]], (nil)])");
    EXPECT_EQ(nested[1][1][0].text(), "three");
  });
}

TEST_F(redis_client, bytes_of_any_value_and_any_size_come_back_as_they_were) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    for (const std::size_t size : {0U, 1U, 15U, 16U, 4096U, 16384U, 70000U, 3000000U}) {
      std::vector<std::byte> bytes(size);
      for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<std::byte>(at * 7 + size);
      co_await client.command("SET", "bytes", std::span<const std::byte>(bytes));
      const auto back = co_await client.command<std::vector<std::byte>>("GET", "bytes");
      EXPECT_TRUE(back == bytes) << size;
    }
    const std::string odd("a\r\n$3\r\n\0*", 10);
    co_await client.command("SET", odd, odd);
    EXPECT_EQ(co_await client.command<std::string>("GET", odd), odd);
  });
}

TEST_F(redis_client, what_the_server_refuses_is_thrown_with_its_words) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    co_await client.command("SET", "text", "x");
    try {
      co_await client.command("LPUSH", "text", 1);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const redis::error& why) {
      EXPECT_EQ(why.code(), errc::wrong_type);
      EXPECT_TRUE(why.server_text().starts_with("WRONGTYPE Operation against a key"));
    }
    EXPECT_EQ(co_await code_of(client.command("NOSUCH")), errc::server_error);
    EXPECT_EQ(co_await code_of(client.command("EVALSHA", std::string(40, 'a'), 0)),
              errc::no_script);
    EXPECT_EQ(co_await code_of(client.command<int>("GET", "text")), errc::unexpected_reply);
    EXPECT_EQ(co_await client.command<std::string>("GET", "text"), "x");
  });
}

TEST_F(redis_client, commands_that_would_confuse_the_connection_are_refused_before_they_are_sent) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    for (const char* each : {"SUBSCRIBE", "subscribe", "Monitor", "MULTI", "EXEC", "WATCH",
                             "SELECT", "HELLO", "QUIT", "RESET"}) {
      EXPECT_EQ(code_thrown([&] { return client.command(each, 1); }), errc::not_here) << each;
    }
    EXPECT_EQ(code_thrown([&] { return client.command("client", "reply", "off"); }),
              errc::not_here);
    EXPECT_EQ(code_thrown([&] { return client.command_words({}); }), errc::bad_option);
    auto own = co_await client.own_connection();
    EXPECT_EQ(code_thrown([&] { return own.command("MONITOR"); }), errc::not_here);
    co_await own.command("SELECT", 3);
    co_await own.command("MULTI");
    co_await own.command("SET", "elsewhere", 1);
    EXPECT_EQ((co_await own.command("EXEC"))[0].text(), "OK");
    EXPECT_FALSE(co_await client.command<bool>("EXISTS", "elsewhere"));
  });
}

TEST_F(redis_client, a_pipeline_answers_in_order_and_an_error_hides_no_other_answer) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    batch many;
    many.add("SET", "text", "x");
    many.add("LPUSH", "text", 1);
    for (int each = 0; each < 10'000; ++each) many.add("ECHO", each);
    many.add("GET", "text");
    const std::size_t count = many.size();
    const replies got = co_await client.pipeline(std::move(many));
    EXPECT_EQ(got.size(), count);
    EXPECT_EQ(got[0].text(), "OK");
    EXPECT_TRUE(got[1].is_error());
    EXPECT_EQ(code_thrown([&] { return got[1].as<int>(); }), errc::wrong_type);
    for (int each = 0; each < 10'000; ++each) {
      EXPECT_EQ(got[static_cast<std::size_t>(each) + 2].as<int>(), each);
    }
    EXPECT_EQ(got.back().text(), "x");
    EXPECT_TRUE((co_await client.pipeline(batch())).empty());
  });
}

TEST_F(redis_client, a_pipeline_of_large_values_both_ways_is_read_while_it_is_written) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    const std::string large(1 << 20, 'x');
    batch many;
    for (int each = 0; each < 40; ++each) {
      many.add("SET", "large", large);
      many.add("GET", "large");
    }
    const replies got = co_await client.pipeline(std::move(many));
    EXPECT_EQ(got.size(), 80U);
    for (std::size_t each = 1; each < got.size(); each += 2) EXPECT_TRUE(got[each].text() == large);
  });
}

TEST_F(redis_client, a_transaction_is_done_whole_or_not_at_all) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    batch both;
    both.add("INCR", "a").add("INCRBY", "b", 2);
    const replies got = co_await client.transaction(std::move(both));
    EXPECT_EQ(got, (replies{reply(1), reply(2)}));
    batch refused;
    refused.add("INCR", "a").add("NOSUCH").add("INCR", "b");
    try {
      co_await client.transaction(std::move(refused));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const redis::error& why) {
      EXPECT_EQ(why.code(), errc::transaction_refused);
      EXPECT_NE(std::string(why.what()).find("command 2: ERR unknown command"), std::string::npos)
          << why.what();
    }
    EXPECT_EQ(co_await client.command<int>("GET", "a"), 1);
    batch failing;
    failing.add("SET", "text", "x").add("INCR", "text").add("INCR", "a");
    const replies mixed = co_await client.transaction(std::move(failing));
    EXPECT_TRUE(mixed[1].is_error());
    EXPECT_EQ(mixed[2].as<int>(), 2);
    EXPECT_TRUE((co_await client.transaction(batch())).empty());
  });
}

TEST_F(redis_client, an_optimistic_transaction_is_tried_again_until_nobody_was_faster) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    co_await client.command("SET", "left", 10);
    int tries = 0;
    const auto take = [&](redis::client& own) -> task<batch> {
      const int left = co_await own.command<int>("GET", "left");
      if (++tries <= 2) co_await client.command("DECR", "left");  // somebody else
      batch writes;
      writes.add("SET", "left", left - 1);
      co_return writes;
    };
    const std::vector<std::string> keys{"left"};
    const replies done = co_await redis::optimistic(client, keys, take);
    EXPECT_EQ(done.size(), 1U);
    EXPECT_EQ(tries, 3);
    EXPECT_EQ(co_await client.command<int>("GET", "left"), 7);
    tries = -1000;
    EXPECT_EQ(co_await code_of(redis::optimistic(client, keys, take, 4)), errc::aborted);
    const auto nothing = [](redis::client&) -> task<batch> { co_return batch(); };
    EXPECT_TRUE((co_await redis::optimistic(client, keys, nothing)).empty());
  });
}

TEST_F(redis_client, what_blocks_on_a_connection_of_its_own_holds_up_nobody) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    std::string got;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        const auto pop = [](redis::client& own) -> task<std::string> {
          const auto job =
              co_await own.command<std::pair<std::string, std::string>>("BLPOP", "jobs", 0);
          co_return job.second;
        };
        got = co_await redis::with_connection(client, pop);
      });
      while (co_await client.command<int>("LLEN", "jobs") != 0) {}
      co_await client.command("RPUSH", "jobs", "the job");
    });
    EXPECT_EQ(got, "the job");
  });
}

TEST_F(redis_client, many_tasks_share_a_connection_and_each_gets_its_own_answer) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    rt.run([](options where) -> task<void> {
      auto client = co_await client::connect(where);
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int task_number = 0; task_number < 64; ++task_number) {
          scope.spawn([&client, task_number]() -> task<void> {
            for (int each = 0; each < 50; ++each) {
              const std::string said = std::to_string(task_number) + "/" + std::to_string(each);
              EXPECT_EQ(co_await client.command<std::string>("ECHO", said), said);
            }
          });
        }
        co_return;
      });
      EXPECT_EQ(co_await client.command<int>("EVAL", "return 1", 0), 1);
    }(where()));
  }
}

TEST_F(redis_client, whoever_comes_when_too_much_is_unanswered_waits_and_is_served_in_the_end) {
  change().max_unanswered_bytes = 300;
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int each = 0; each < 200; ++each) {
        scope.spawn([&client, each]() -> task<void> {
          const std::string said = std::to_string(each) + std::string(200, '.');
          EXPECT_EQ(co_await client.command<std::string>("ECHO", said), said);
        });
      }
      co_return;
    });
    const std::string larger(10'000, 'x');  // than the limit: it goes alone
    EXPECT_EQ(co_await client.command<std::string>("ECHO", larger), larger);
  });
}

TEST_F(redis_client, name_database_and_password_are_said_at_each_connection) {
  change().client_name = "the-test";
  change().database = 5;
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    EXPECT_EQ(co_await client.command<std::string>("CLIENT", "GETNAME"), "the-test");
    const auto info = co_await client.command<std::string>("CLIENT", "INFO");
    EXPECT_NE(info.find(" db=5 "), std::string::npos) << info;
    co_await client.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-flushall");
    where.username = "app";
    where.password = "secret";
    auto app = co_await client::connect(where);
    EXPECT_EQ(co_await app.command<std::string>("ACL", "WHOAMI"), "app");
    EXPECT_EQ(co_await code_of(app.command("FLUSHALL")), errc::no_auth);
    where.password = "wrong";
    EXPECT_EQ(co_await code_of(client::connect(where)), errc::no_auth);
    where.username.clear();  // the default user needs none
    EXPECT_EQ(co_await code_of(client::connect(where)), errc::no_auth);
    where.password.clear();
    where.database = 100'000;
    EXPECT_EQ(co_await code_of(client::connect(where)), errc::server_error);
  });
}

TEST_F(redis_client, a_client_that_is_closed_or_never_was_open_says_so) {
  run([](options where) -> task<void> {
    client none;
    EXPECT_EQ(code_thrown([&] { return none.command("PING"); }), errc::closed);
    EXPECT_FALSE(none.is_connected());
    none.close();
    auto client = co_await client::connect(where);
    EXPECT_TRUE(client.is_connected());
    client.close();
    client.close();
    EXPECT_FALSE(client.is_connected());
    EXPECT_EQ(co_await code_of(client.command("PING")), errc::closed);
    EXPECT_EQ(co_await code_of(client.pipeline(batch().add("PING"))), errc::closed);
  });
}

TEST_F(redis_client, a_client_may_go_before_what_it_was_asked_has_ended) {
  run([](options where) -> task<void> {
    task<reply> asked;
    {
      auto client = co_await client::connect(where);
      asked = client.command("ECHO", "still here");
    }
    const reply got = co_await std::move(asked);
    EXPECT_EQ(got.text(), "still here");
  });
}

TEST_F(redis_client, a_client_can_be_made_before_there_is_a_connection) {
  run([](options where) -> task<void> {
    client lazy = client::later(where);
    EXPECT_FALSE(lazy.is_connected());
    EXPECT_EQ((co_await lazy.command("PING")).text(), "PONG");
    EXPECT_TRUE(lazy.is_connected());
  });
}

}  // namespace
}  // namespace tandem::test
