// moving_stress.cpp: sends and copies that are stopped at any time lose and invent nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io_homes.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::homes;
using tandem::test::make_connection;
using tandem::test::pattern;

using bytes = std::vector<std::byte>;

constexpr std::size_t size = 400'000;  // more than a socket takes without a reader

/// What comes until the end; a reset is one, too.
task<void> take_all(tcp_stream& from, bytes& into) {
  bytes room(16 * 1024);
  while (true) {
    const auto got = co_await as_result(from.read(room));
    if (!got || got.value() == 0) co_return;
    into.insert(into.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got.value()));
  }
}

bool is_prefix(const bytes& part, const bytes& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

task<std::uint64_t> send_from(tcp_stream& to, file& from) {
  co_return co_await to.send_file_some(from, 0, size);
}

TEST(moving_race, of_a_file_as_much_arrives_as_its_send_tells_wherever_it_is_stopped) {
  homes at;
  const tandem::test::temporary_folder folder;
  const bytes whole = pattern(size, 3);
  tandem::test::put(folder / "f", whole);
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, const std::string& path, const bytes& all,
                 std::mt19937_64& dice) -> task<void> {
      file from = co_await file::open(path);
      connection c = co_await make_connection();
      bytes came;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(h.any(dice), take_all(c.server, came));
        auto sending = tandem::spawn(h.any(dice), send_from(c.client, from));
        co_await tandem::test::stop_at_some_time(sending, dice);
        const auto sent = co_await as_result(sending);
        c.client.shutdown();
        co_await scope.join();
        EXPECT_EQ(came.size(), sent ? sent.value() : 0U);
        EXPECT_TRUE(is_prefix(came, all));
      });
    }(at, folder / "f", whole, random));
  });
}

task<void> send_lent(tcp_stream& by, std::span<const std::byte> what) {
  co_await by.write_all_zero_copy(what);
}

/// The buffer is the sender's again when the await is over: what is written into it then is not sent.
TEST(moving_race, a_buffer_that_was_lent_is_not_read_any_more_when_its_send_has_ended) {
  homes at;
  const bytes whole = pattern(size, 5);
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, const bytes& all, std::mt19937_64& dice) -> task<void> {
      connection c = co_await make_connection();
      bytes came;
      bytes lent = all;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(h.any(dice), take_all(c.server, came));
        auto sending = tandem::spawn(h.any(dice), send_lent(c.client, lent));
        co_await tandem::test::stop_at_some_time(sending, dice);
        const auto sent = co_await as_result(sending);
        std::fill(lent.begin(), lent.end(), std::byte{0xff});
        c.client.close();
        co_await scope.join();
        EXPECT_TRUE(is_prefix(came, all));
        if (sent) {
          EXPECT_EQ(came.size(), all.size());
        }
      });
    }(at, whole, random));
  });
}

task<std::uint64_t> relay(tcp_stream& from, tcp_stream& to) {
  co_return co_await tandem::io::copy(from, to);
}
task<void> write_whole(tcp_stream& to, const bytes& what) {
  (void)co_await as_result(to.write_all(what));
  to.shutdown();
}

TEST(moving_race, a_proxy_that_is_stopped_has_passed_on_a_prefix) {
  homes at;
  const bytes whole = pattern(4 * size, 7);  // so that it splices
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, const bytes& all, std::mt19937_64& dice) -> task<void> {
      connection in = co_await make_connection();
      connection out = co_await make_connection();
      bytes came;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(h.any(dice), take_all(out.server, came));
        scope.spawn(h.any(dice), write_whole(in.client, all));
        auto copying = tandem::spawn(h.any(dice), relay(in.server, out.client));
        co_await tandem::test::stop_at_some_time(copying, dice);
        const auto copied = co_await as_result(copying);
        in.server.close();
        out.client.close();
        co_await scope.join();
        EXPECT_TRUE(is_prefix(came, all));
        if (copied) {
          EXPECT_EQ(came.size(), copied.value());
        }
      });
    }(at, whole, random));
  });
}

}  // namespace
