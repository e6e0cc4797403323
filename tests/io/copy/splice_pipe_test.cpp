// splice_pipe_test.cpp: bytes through a pipe of the system's, between connections and files.
// SPDX-License-Identifier: MIT
#include <tandem/io/splice_pipe.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "io/copy/refused_moves.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::splice_pipe;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::read_to_end;
using tandem::test::temporary_folder;
using tandem::test::write_and_end;

constexpr std::size_t size = 3'000'001;

task<std::size_t> pass(splice_pipe& pipe, tcp_stream& from, tcp_stream& to) {
  std::size_t all = 0;
  while (const std::size_t came = co_await pipe.fill_from(from)) {
    EXPECT_EQ(pipe.held(), came);
    while (pipe.held() != 0) all += co_await pipe.drain_to(to);
  }
  to.shutdown();
  co_return all;
}

TEST(splice_pipe, it_passes_a_stream_from_one_connection_to_another) {
  const std::vector<std::byte> whole = pattern(size, 1);
  on_every_home([&]() -> task<void> {
    splice_pipe pipe;
    EXPECT_GE(pipe.capacity(), 4096U);
    connection in = co_await make_connection();
    connection out = co_await make_connection();
    auto ended =
        co_await tandem::when_all(write_and_end(in.client, whole),
                                  pass(pipe, in.server, out.client), read_to_end(out.server));
    EXPECT_EQ(std::get<1>(ended), size);
    EXPECT_EQ(std::get<2>(ended), whole);
  });
}

task<void> send_parts(splice_pipe& pipe, file& from, tcp_stream& to) {
  std::size_t at = 0;
  while (const std::size_t came = co_await pipe.fill_from(from, at, 100'000)) {
    EXPECT_LE(came, 100'000U);
    at += came;
    while (pipe.held() != 0) (void)co_await pipe.drain_to(to);
  }
  to.shutdown();
}

task<void> store_parts(splice_pipe& pipe, tcp_stream& from, file& to) {
  std::size_t at = 0;
  while (co_await pipe.fill_from(from, 70'000) != 0) {
    while (pipe.held() != 0) at += co_await pipe.drain_to(to, at);
  }
  EXPECT_EQ(at, size);
}

TEST(splice_pipe, it_passes_a_file_to_a_connection_and_that_to_a_file) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 2);
  put(folder / "from", whole);
  on_every_home([&]() -> task<void> {
    splice_pipe out;
    splice_pipe in;
    file from = co_await file::open(folder / "from");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    connection c = co_await make_connection();
    (void)co_await tandem::when_all(send_parts(out, from, c.client), store_parts(in, c.server, to));
    EXPECT_EQ(co_await tandem::io::read_file_bytes(folder / "to"), whole);
  });
}

TEST(splice_pipe, one_that_holds_something_is_not_filled_and_an_empty_one_gives_nothing) {
  const temporary_folder folder;
  put(folder / "f", pattern(100, 2));
  on_every_home([&]() -> task<void> {
    splice_pipe pipe;
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection();
    EXPECT_EQ(co_await pipe.drain_to(c.client), 0U);
    EXPECT_EQ((co_await as_result(pipe.fill_from(c.server, 0))).error(),
              std::errc::invalid_argument);
    EXPECT_EQ(co_await pipe.fill_from(source, 0), 100U);
    EXPECT_EQ((co_await as_result(pipe.fill_from(c.server))).error(), std::errc::invalid_argument);
    EXPECT_EQ((co_await as_result(pipe.fill_from(source, 0))).error(), std::errc::invalid_argument);
    EXPECT_EQ(co_await pipe.drain_to(c.client, 30), 30U);
    EXPECT_EQ(pipe.held(), 70U);
  });
}

TEST(splice_pipe, a_stop_takes_nothing_that_is_not_held) {
  on_every_home([]() -> task<void> {
    splice_pipe pipe;
    connection c = co_await make_connection();
    EXPECT_TRUE(
        (co_await as_result(tandem::with_timeout(5ms, pipe.fill_from(c.server)))).is_cancelled());
    EXPECT_EQ(pipe.held(), 0U);
    co_await c.client.write_all(bytes_of("later"));
    EXPECT_EQ(co_await pipe.fill_from(c.server), 5U);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(pipe.drain_to(c.server))).is_cancelled());
    });
    EXPECT_EQ(pipe.held(), 5U);
  });
}

TEST(splice_pipe, a_stop_while_the_peer_does_not_read_keeps_the_rest_held) {
  on_every_home([]() -> task<void> {
    splice_pipe pipe;
    connection in = co_await make_connection();
    tandem::io::tcp_options small;
    small.send_buffer_bytes = 16 * 1024;
    small.receive_buffer_bytes = 16 * 1024;
    connection out = co_await make_connection(small);
    const std::vector<std::byte> whole = pattern(size, 3);
    std::size_t filled = 0;
    std::size_t given = 0;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all) -> task<void> {
        (void)co_await as_result(s.write_all(all));
      }(in.client, whole));
      while (true) {
        if (pipe.held() == 0) filled += co_await pipe.fill_from(in.server);
        auto some = co_await as_result(tandem::with_timeout(20ms, pipe.drain_to(out.client)));
        if (!some) break;
        given += some.value();
      }
      scope.request_stop();
    });
    EXPECT_EQ(filled, given + pipe.held());
    out.client.shutdown();
    EXPECT_EQ((co_await read_to_end(out.server)).size(), given);
  });
}

TEST(splice_pipe, a_peer_that_has_left_is_an_error_and_no_signal) {
  const temporary_folder folder;
  put(folder / "f", pattern(100'000, 2));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection();
    c.server.abort();
    std::error_code failure;
    splice_pipe pipe;
    while (!failure) {
      if (pipe.held() == 0) (void)co_await pipe.fill_from(source, 0);
      failure = (co_await as_result(pipe.drain_to(c.client))).error();
    }
    EXPECT_TRUE(failure == std::errc::broken_pipe || failure == std::errc::connection_reset);
  });
}

TEST(splice_pipe, without_a_descriptor_there_is_none) {
  const tandem::test::no_descriptors none;
  try {
    const splice_pipe pipe;
    ADD_FAILURE() << "it was made";
  } catch (const std::system_error& failure) {
    EXPECT_EQ(failure.code(), std::errc::too_many_files_open);
  }
}

TEST(splice_pipe, a_failure_of_the_system_is_told) {
  on_every_home([]() -> task<void> {
    const tandem::test::refused_moves refused(EINVAL);
    splice_pipe pipe;
    connection c = co_await make_connection();
    co_await c.client.write_all(bytes_of("x"));
    EXPECT_EQ((co_await as_result(pipe.fill_from(c.server))).error(), std::errc::invalid_argument);
  });
}

TEST(splice_pipe_death, destroying_or_moving_one_that_is_being_filled_is_refused) {
  for (const bool moves : {false, true}) {
    EXPECT_DEATH(
        {
          tandem::test::test_runtime rt(1);
          rt.run([](bool is_moved) -> task<void> {
            connection c = co_await make_connection();
            std::optional<splice_pipe> pipe(std::in_place);
            auto filling = tandem::spawn([](splice_pipe& room, tcp_stream& from) -> task<void> {
              (void)co_await as_result(room.fill_from(from));  // nothing comes
            }(*pipe, c.server));
            co_await tandem::yield();  // on one worker it waits now
            if (is_moved) splice_pipe(std::move(*pipe));
            pipe.reset();
            c.client.close();
            co_await filling;
          }(moves));
        },
        "in flight");
  }
}

}  // namespace
