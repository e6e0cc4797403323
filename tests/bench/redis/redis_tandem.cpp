// redis_tandem.cpp: PORT CASE COUNT [HOME]: suite redis by tandem::io_redis. HOME: workers (the default) or completions.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/redis.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>

#include "redis/redis_load.hpp"

namespace {

namespace redis = tandem::io::redis;
using redis_load::figures;
using redis_load::steady;

void check(const redis::reply& got) {
  if (got.text().size() != 64) redis_load::fail("a wrong answer");
}

tandem::task<void> single(redis::client client, long count) {
  figures all(static_cast<std::size_t>(count));
  all.begin();
  for (long each = 0; each < count; ++each) {
    const auto began = steady::now();
    check(co_await client.command("GET", redis_load::key));
    all.add(steady::now() - began);
  }
  all.print(1);
}

tandem::task<void> pipeline(redis::client client, long count) {
  figures all(static_cast<std::size_t>(count));
  all.begin();
  for (long each = 0; each < count; ++each) {
    const auto began = steady::now();
    redis::batch many;
    for (int in = 0; in < redis_load::commands; ++in) many.add("GET", redis_load::key);
    const redis::replies got = co_await client.pipeline(std::move(many));
    for (const redis::reply& one : got) check(one);
    all.add(steady::now() - began);
  }
  all.print(redis_load::commands);
}

tandem::task<void> asks(redis::client& client, long& left, figures& all) {
  while (left-- > 0) {
    const auto began = steady::now();
    check(co_await client.command("GET", redis_load::key));
    all.add(steady::now() - began);
  }
}

tandem::task<void> shared(redis::client client, long count) {
  figures all(static_cast<std::size_t>(count));
  long left = count;
  all.begin();
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int each = 0; each < redis_load::tasks; ++each) scope.spawn(asks(client, left, all));
    co_return;
  });
  all.print(1);
}

tandem::task<void> measure(int port, std::string what, long count, tandem::executor* home) {
  if (home != nullptr) co_await tandem::resume_on(*home);
  redis::options where;
  where.host = "127.0.0.1";
  where.port = static_cast<std::uint16_t>(port);
  auto client = co_await redis::client::connect(where);
  co_await client.command("SET", redis_load::key, redis_load::value);
  if (what == "single") co_await single(client, count);
  if (what == "shared") co_await shared(client, count);
  if (what == "pipeline") co_await pipeline(client, count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5)
    redis_load::fail("usage: redis_tandem PORT single|shared|pipeline COUNT [workers|completions]");
  tandem::runtime_options options;
  options.min_threads = options.max_threads =
      1;  // as the others: one thread asks, and the tasks share what they count with
  tandem::runtime rt(options);
  tandem::executor* home = nullptr;
  if (argc == 5 && std::string(argv[4]) == "completions")
    home = &tandem::io::install(rt).thread(0).executor();
  tandem::sync_wait(rt.workers(), measure(std::atoi(argv[1]), argv[2], std::atol(argv[3]), home));
}
