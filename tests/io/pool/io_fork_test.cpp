// io_fork_test.cpp: what a child of fork() may do with the completion pool and the sockets of its parent.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/spawn.hpp>

#include "fork_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::executor;
using tandem::task;
using tandem::io::completion_pool;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::child_may_allocate;
using tandem::test::in_child;
using tandem::test::refused;
using tandem::test::steady_threads;
using tandem::test::terminates;
using tandem::test::test_runtime;

TEST(io_fork, a_parents_completion_pool_is_refused_by_name_or_tells_its_values) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, steady_threads());
  EXPECT_EQ(in_child([&] {
              if (!refused("runtime::use_service", [&] { (void)tandem::io::install(*rt); })) {
                return 1;
              }
              const auto resize = [&] { pool.resize(pool.size()); };
              if (!refused("completion_pool::resize", resize)) return 2;
              if (!refused("completion_pool::decisions", [&] { (void)pool.decisions(); })) return 3;
              if (pool.stats().threads != pool.size()) return 4;
              return pool.stats().backend == pool.backend_name() ? 0 : 5;
            }),
            0);
}

TEST(io_fork, a_post_to_a_parents_completion_threads_ends_the_child) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, steady_threads());
  for (executor* const each : {&pool.thread(0).executor(), &pool.executor()}) {
    EXPECT_EQ(in_child([each] {
                return terminates("executor::post", [each] {
                  tandem::job item([](tandem::job*) noexcept {});
                  each->post(&item);
                });
              }),
              0);
  }
}

/// A connection to `listener` by way of what arrives there without being asked each time.
task<bool> connects(tcp_listener& listener) {
  auto client = tandem::spawn([](tandem::io::endpoint where) -> task<tcp_stream> {
    co_return co_await tcp_stream::connect(where);
  }(listener.local_endpoint()));
  const tcp_stream server = co_await listener.incoming();
  const tcp_stream other = co_await client;
  co_return server.is_open() && other.is_open();
}

TEST(io_fork, a_listener_that_goes_in_the_child_goes_on_listening_in_the_parent) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, steady_threads());
  std::optional<tcp_listener> listener(
      tcp_listener::bind(pool, tandem::io::endpoint::loopback_v4(0)));
  ASSERT_TRUE(rt.run(connects(*listener)));
  EXPECT_EQ(in_child([&] {
              listener.reset();
              return 0;
            }),
            0);
  EXPECT_TRUE(rt.run(connects(*listener)));
}

task<std::byte> receive_one(tcp_stream& from) {
  const auto got = co_await from.receive();
  co_return got.bytes()[0];
}

TEST(io_fork, a_stream_that_goes_in_the_child_is_still_read_in_the_parent) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  test_runtime rt;
  (void)tandem::io::install(*rt, steady_threads());
  tandem::test::connection both = rt.run(tandem::test::make_connection());
  std::optional<tcp_stream> server(std::move(both.server));
  const auto send = [](tcp_stream& to, std::byte what) -> task<void> {
    const std::array<std::byte, 1> one{what};
    co_await to.write_all(one);
  };
  for (const std::byte what : {std::byte{1}, std::byte{2}}) {
    rt.run(send(both.client, what));
    EXPECT_EQ(rt.run(receive_one(*server)), what);
    EXPECT_EQ(in_child([&] {
                server.reset();
                return 0;
              }),
              0);
  }
}

}  // namespace
