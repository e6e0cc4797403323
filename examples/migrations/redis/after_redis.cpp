// after_redis.cpp: counts votes in Redis, on tandem.
// SPDX-License-Identifier: MIT
//
// after_redis PORT < names: as before_redis.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/io/redis.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

namespace redis = tandem::io::redis;

namespace {

/// Counts one vote after the other, as long as there are some.
tandem::task<void> lane(redis::client& client, std::set<std::string>& names) {
  for (std::string name; std::getline(std::cin, name);) {
    names.insert(name);
    co_await client.command("INCR", "votes:" + name);
  }
}

tandem::task<void> vote(redis::options where) {
  auto client = co_await redis::client::connect(where);
  std::set<std::string> names;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int i = 0; i < 64; ++i) scope.spawn(lane(client, names));
    co_return;
  });
  long total = 0;
  if (!names.empty()) {
    std::vector<std::string> keys;
    for (const std::string& each : names) keys.push_back("votes:" + each);
    std::vector<redis::argument> words{"MGET"};
    for (const std::string& each : keys) words.emplace_back(each);
    const redis::reply got = co_await client.command_words(words);
    auto votes = got.elements().begin();
    for (const std::string& each : names) {
      const long count = (votes++)->as<long>();
      total += count;
      std::printf("%s %ld\n", each.c_str(), count);
    }
  }
  std::printf("%ld votes\n", total);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: after_redis PORT < names\n");
    return 2;
  }
  redis::options where;
  where.host = "127.0.0.1";
  where.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  where.limit = std::chrono::seconds(5);
  where.reconnect = false;  // a vote that may have been counted is not given again
  try {
    tandem::runtime runtime;
    // All on one thread, as before: the one that waits for the connection.
    tandem::executor& home = tandem::io::install(runtime).thread(0).executor();
    tandem::sync_wait(home, vote(where));
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
