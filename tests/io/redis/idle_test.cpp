// idle_test.cpp: what is connected and has nothing to do wakes nobody.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <thread>

#include "io/redis/redis_support.hpp"
#include "io/support/io_support.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::client;
using redis::options;
using redis::subscriber;

class redis_idle : public with_redis {};

/// How often each thread of this process, but this one and those of the tests' own, has given up its CPU of itself.
std::map<std::string, long> waits() {
  std::map<std::string, long> found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(each.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (line.starts_with("voluntary_ctxt_switches:") && name.starts_with("tandem")) {
        found[each.path().filename().string() + " " + name] = std::stol(line.substr(24));
      }
    }
  }
  return found;
}

TEST_F(redis_idle, connections_without_anything_to_do_wake_no_thread) {
  test_runtime rt;
  io::install(*rt, steady_threads());
  std::vector<client> clients;
  subscriber news;
  rt.run([](options where, std::vector<client>& all, subscriber& listener) -> task<void> {
    for (int each = 0; each < 5; ++each) {
      all.push_back(co_await client::connect(where));
      co_await all.back().command("PING");
    }
    listener = co_await subscriber::connect(where);
    co_await listener.subscribe("silence");
  }(where(), clients, news));
  auto listening = rt->spawn([](subscriber from) -> task<std::optional<redis::message>> {
    co_return co_await from.next();
  }(news));
  bool was_idle = false;
  for (int look = 0; look < 5 && !was_idle; ++look) {  // what was kept is given back meanwhile
    std::this_thread::sleep_for(700ms);
    const auto before = waits();
    std::this_thread::sleep_for(1s);
    was_idle = before == waits() && !before.empty();
  }
  EXPECT_TRUE(was_idle);
  news.close();
  EXPECT_FALSE(listening.wait().has_value());
  clients.clear();
}

}  // namespace
}  // namespace tandem::test
