// redis_support.hpp: a Redis server for tests, and runs against it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tandem/io/redis.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "io/support/servers.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

namespace redis = tandem::io::redis;

/// One server for all tests of this process, emptied before each.
class with_redis : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool is_there = test_server::is_installed("redis");
    if (!is_there) GTEST_SKIP() << "redis-server is not installed";
    where_.host = "127.0.0.1";
    where_.port = server().port();
    run([](redis::options where) -> task<void> {
      redis::client client = co_await redis::client::connect(where);
      co_await client.command("FLUSHALL");
    });
  }

  static test_server& server() { return shared_server("redis"); }
  const redis::options& where() const noexcept { return where_; }
  redis::options& change() noexcept { return where_; }

  /// As a task on two workers.
  template <class Body>
  void run(Body body) {
    test_runtime rt;
    rt.run(body(where_));
  }

 private:
  redis::options where_;
};

/// What an await throws, as its code's name in words; empty: nothing.
template <class T>
task<std::error_code> code_of(task<T> asked) {
  try {
    (void)co_await std::move(asked);
  } catch (const std::system_error& why) {
    co_return why.code();
  }
  co_return std::error_code();
}
inline task<std::error_code> code_of(task<void> asked) {
  try {
    co_await std::move(asked);
  } catch (const std::system_error& why) {
    co_return why.code();
  }
  co_return std::error_code();
}

/// Of a call, or what it returns.
template <class Call>
std::error_code code_thrown(Call call) {
  try {
    (void)call();
  } catch (const std::system_error& why) {
    return why.code();
  }
  return {};
}

}  // namespace tandem::test
