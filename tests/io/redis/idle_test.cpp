// idle_test.cpp: what is connected and has nothing to do wakes nobody.
// SPDX-License-Identifier: MIT
#include <optional>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "io/redis/redis_support.hpp"
#include "io/support/io_support.hpp"
#include "io/support/thread_waits.hpp"

namespace tandem::test {
namespace {

using redis::client;
using redis::options;
using redis::subscriber;

class redis_idle : public with_redis {};

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
  rt.run(expect_no_thread_wakes());
  news.close();
  EXPECT_FALSE(listening.wait().has_value());
  clients.clear();
}

}  // namespace
}  // namespace tandem::test
