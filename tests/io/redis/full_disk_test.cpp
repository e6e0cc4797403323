// full_disk_test.cpp: a Redis whose disk is full.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tandem/io/redis.hpp>

#include "io/redis/redis_support.hpp"
#include "io/support/small_disk.hpp"

namespace {

using tandem::task;
using tandem::test::test_server;
namespace redis = tandem::io::redis;

/// Saves by a process of the server's own, and waits for it.
task<std::string> save(redis::client& client) {
  co_await client.command("BGSAVE");
  for (;;) {
    const auto told = co_await client.command<std::string>("INFO", "persistence");
    if (told.find("rdb_bgsave_in_progress:1") != std::string::npos) continue;
    co_return told;
  }
}

task<void> fill(redis::options where, std::string disk) {
  redis::client client = co_await redis::client::connect(where);
  co_await client.command("CONFIG", "SET", "save", "3600 1000000");
  co_await client.command("SET", "key", "before");
  const std::string filler = disk + "/filler";
  std::ofstream(filler) << std::string(8'000'000, 'x');
  const std::string failed = co_await save(client);
  EXPECT_NE(failed.find("rdb_last_bgsave_status:err"), std::string::npos) << failed;
  // A server that cannot save takes no writes, says so, and can be read.
  std::string told;
  try {
    co_await client.command("SET", "key", "after");
  } catch (const redis::error& why) {
    EXPECT_EQ(why.kind(), redis::errc::read_only) << why.what();
    told = why.server_text();
  }
  EXPECT_EQ(told.substr(0, 7), "MISCONF") << told;
  EXPECT_EQ(co_await client.command<std::string>("GET", "key"), "before");

  std::filesystem::remove(filler);
  const std::string saved = co_await save(client);
  EXPECT_NE(saved.find("rdb_last_bgsave_status:ok"), std::string::npos) << saved;
  co_await client.command("SET", "key", "after");
  EXPECT_EQ(co_await client.command<std::string>("GET", "key"), "after");
}

TEST(redis_full_disk, a_server_that_cannot_save_is_read_only_until_there_is_room) {
  if (!test_server::is_installed("redis")) GTEST_SKIP() << "redis-server is not installed";
  tandem::test::on_small_disk_of_a_server("size=1m", [](const std::string& disk) {
    test_server server("redis");
    redis::options where;
    where.host = "127.0.0.1";
    where.port = server.port();
    tandem::test::test_runtime rt;
    rt.run(fill(where, disk));
  });
}

}  // namespace
