// use_redis.cpp: a user's program on tandem::io_redis: a connection that nobody takes.
// SPDX-License-Identifier: MIT
//
// An exception of the library's own type crosses its border.
#include <cstdio>
#include <tandem/io/redis.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

namespace redis = tandem::io::redis;

namespace {

tandem::task<bool> is_refused() {
  try {
    const redis::client opened = co_await redis::client::connect("redis://127.0.0.1:1");
  } catch (const redis::error& failure) {
    co_return failure.code() == redis::errc::refused;
  }
  co_return false;
}

}  // namespace

int main() {
  if (!tandem::run(is_refused())) return 1;
  std::puts("use_redis: ok");
}
