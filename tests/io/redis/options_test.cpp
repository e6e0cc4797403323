// options_test.cpp: URLs of Redis servers.
// SPDX-License-Identifier: MIT
#include <string>

#include "io/redis/redis_support.hpp"

namespace tandem::test {
namespace {

using redis::errc;
using redis::options;

TEST(redis_options, a_url_says_where_and_who) {
  const options all = options::parse("redis://app:p%40ss%3aw@cache.example:6380/2");
  EXPECT_EQ(all.host, "cache.example");
  EXPECT_EQ(all.port, 6380);
  EXPECT_EQ(all.username, "app");
  EXPECT_EQ(all.password, "p@ss:w");
  EXPECT_EQ(all.database, 2U);
  EXPECT_EQ(all.place(), "cache.example:6380");
  const options least = options::parse("redis://");
  EXPECT_EQ(least.place(), "localhost:6379");
  EXPECT_EQ(options::parse("redis://:secret@h/").password, "secret");
  EXPECT_EQ(options::parse("redis://[::1]:7").host, "::1");
  EXPECT_EQ(options::parse("redis://[::1]:7").port, 7);
  EXPECT_EQ(options::parse("redis://[::1]").port, 6379);
  const options local = options::parse("unix:///run/re%20dis.sock?db=3");
  EXPECT_EQ(local.path, "/run/re dis.sock");
  EXPECT_EQ(local.database, 3U);
}

TEST(redis_options, what_cannot_be_used_is_refused_with_what_is_wrong_with_it) {
  const auto refused = [](const char* url) {
    try {
      (void)options::parse(url);
    } catch (const redis::error& why) {
      EXPECT_EQ(why.code(), errc::bad_option);
      return std::string(why.what());
    }
    return std::string("nothing was thrown");
  };
  for (const auto& [url, word] : std::initializer_list<std::pair<const char*, const char*>>{
           {"http://x", "redis://"},
           {"rediss://x", "TLS"},
           {"redis://h:port", "is no number from 1 to 65535: port"},
           {"redis://h:70000", "the port is no number from 1 to 65535"},
           {"redis://h:0", "from 1 to 65535: 0"},
           {"redis://h/two", "the database"},
           {"redis://user@h", "password"},
           {"redis://u:%4@h", "hexadecimal"},
           {"redis://[::1", "]"},
           {"redis://[::1]x", "]"},
           {"unix:///s?name=x", "db="}}) {
    EXPECT_NE(refused(url).find(word), std::string::npos) << url << ": " << refused(url);
  }
  options bad;
  bad.client_name = "two words";
  EXPECT_EQ(code_thrown([&] { return redis::client::later(bad); }), errc::bad_option);
}

TEST(redis_options,
     by_default_attempts_are_limited_commands_are_not_and_silent_machines_are_probed) {
  const options usual;
  EXPECT_GT(usual.connect_limit.count(), 0);
  EXPECT_FALSE(usual.limit);
  EXPECT_EQ(usual.max_attempts, 0U);
  EXPECT_TRUE(usual.tcp.connection.alive);
}

}  // namespace
}  // namespace tandem::test
