// copy_linux_test.cpp: where Linux refuses to move bytes itself; pipes between connections.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "io/copy/refused_moves.hpp"
#include "io/stream/scripted_stream.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::copy;
using tandem::io::copy_options;
using tandem::io::file;
using tandem::io::tcp_stream;
using tandem::io::unix_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::read_to_end;
using tandem::test::refused_moves;
using tandem::test::temporary_folder;
using tandem::test::write_and_end;

constexpr std::size_t size = 3'000'001;

template <class Stream>
task<std::uint64_t> send_and_end(Stream& to, file& from, std::uint64_t at) {
  const std::uint64_t sent = co_await to.send_file(from, at, size);
  to.shutdown();
  co_return sent;
}

TEST(copy_linux, where_the_system_refuses_a_buffer_does_it_within_the_same_call) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 1);
  put(folder / "f", whole);
  for (const int error : {EINVAL, ENOSYS, EOPNOTSUPP}) {
    const refused_moves refused(error);
    on_every_home([&]() -> task<void> {
      file from = co_await file::open(folder / "f");
      connection c = co_await make_connection();
      auto ended =
          co_await tandem::when_all(send_and_end(c.client, from, 0), read_to_end(c.server));
      EXPECT_EQ(std::get<0>(ended), size);
      EXPECT_EQ(std::get<1>(ended), whole);
      file to = co_await file::open(folder / "to", tandem::test::new_file());
      EXPECT_EQ(co_await copy(from, to), size);
      EXPECT_EQ(co_await tandem::io::read_file_bytes(folder / "to"), whole);
    });
    EXPECT_GE(refused.asked(), 6U);
  }
}

TEST(copy_linux, files_of_two_file_systems_are_copied_by_a_buffer) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 2);
  put(folder / "f", whole);
  const refused_moves refused(EXDEV);
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "f");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    EXPECT_EQ(co_await copy(from, to), size);
    EXPECT_EQ(co_await tandem::io::read_file_bytes(folder / "to"), whole);
  });
}

TEST(copy_linux, a_failure_of_the_system_is_told) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 1));
  const refused_moves refused(EIO);
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "f");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    connection c = co_await make_connection();
    EXPECT_EQ((co_await as_result(copy(from, to))).error(), std::errc::io_error);
    EXPECT_EQ((co_await as_result(c.client.send_file(from, 0, 10))).error(), std::errc::io_error);
  });
}

TEST(copy_linux, a_disk_that_is_full_is_told) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 1));
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "f");
    file full = co_await file::open("/dev/full", tandem::io::open_mode::write);
    EXPECT_EQ((co_await as_result(copy(from, full))).error(), std::errc::no_space_on_device);
  });
}

TEST(copy_linux, a_file_that_says_it_is_empty_is_read) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file from = co_await file::open("/proc/self/maps");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    EXPECT_GT(co_await copy(from, to), 100U);
  });
}

TEST(copy_linux, what_is_opened_for_appending_or_past_the_cache_is_copied_and_sent_too) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 4);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    tandem::io::open_options appending = tandem::test::new_file();
    appending.append = true;
    file from = co_await file::open(folder / "f");
    file to = co_await file::open(folder / "to", appending);
    EXPECT_EQ(co_await copy(from, to), size);
    EXPECT_EQ(co_await tandem::io::read_file_bytes(folder / "to"), whole);
    tandem::io::open_options past;
    past.direct = true;
    auto direct = co_await as_result(file::open(folder / "f", past));
    if (!direct) co_return;  // a file system without: none to be sent
    connection c = co_await make_connection();
    auto ended =
        co_await tandem::when_all(send_and_end(c.client, direct.value(), 0), read_to_end(c.server));
    EXPECT_EQ(std::get<1>(ended), whole);
  });
}

TEST(copy_linux, a_unix_stream_is_sent_files_and_relayed_likewise) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 5);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "f");
    auto [one, other] = unix_stream::pair();
    connection c = co_await make_connection();
    auto ended = co_await tandem::when_all(send_and_end(one, from, 0), copy(other, c.client),
                                           read_to_end(c.server));
    EXPECT_EQ(std::get<0>(ended), size);
    EXPECT_EQ(std::get<1>(ended), size);
    EXPECT_EQ(std::get<2>(ended), whole);
    one.close();
    EXPECT_EQ((co_await as_result(other.send_file(from, 0, size))).error(), std::errc::broken_pipe);
  });
}

void expect_copied(std::uint64_t copied, std::uint64_t progress, const std::vector<std::byte>& got,
                   const std::vector<std::byte>& whole) {
  EXPECT_EQ(copied, whole.size());
  EXPECT_EQ(progress, whole.size());
  EXPECT_EQ(got, whole);
}

// All of it lies in the system's buffers before the copy begins, so each read fills the buffer.
task<void> expect_waiting_bytes_relayed(std::size_t buffers) {
  connection in = co_await make_connection();
  connection out = co_await make_connection();
  std::uint64_t progress = 0;
  copy_options options;
  options.buffer_bytes = 4096;
  options.progress = &progress;
  const std::vector<std::byte> whole = pattern(buffers * options.buffer_bytes, 6);
  co_await write_and_end(in.client, whole);
  const std::uint64_t copied = co_await copy(in.server, out.client, options);
  out.client.shutdown();
  const std::vector<std::byte> got = co_await read_to_end(out.server);
  expect_copied(copied, progress, got, whole);
}

TEST(copy_linux, between_connections_much_at_once_goes_by_a_pipe_and_little_does_not) {
  on_every_home([]() -> task<void> {
    const std::size_t before = tandem::test::splices_made();
    co_await expect_waiting_bytes_relayed(7);
    EXPECT_EQ(tandem::test::splices_made(), before);
    co_await expect_waiting_bytes_relayed(16);
    EXPECT_GT(tandem::test::splices_made(), before);
  });
}

TEST(copy_linux, between_connections_all_of_it_arrives_while_it_is_being_written) {
  const std::vector<std::byte> whole = pattern(40'000'000, 6);
  on_every_home([&]() -> task<void> {
    connection in = co_await make_connection();
    connection out = co_await make_connection();
    std::uint64_t progress = 0;
    copy_options options;
    options.progress = &progress;
    auto ended =
        co_await tandem::when_all(write_and_end(in.client, whole),
                                  copy(in.server, out.client, options), read_to_end(out.server));
    expect_copied(std::get<1>(ended), progress, std::get<2>(ended), whole);
  });
}

TEST(copy_linux, a_relay_that_is_stopped_has_counted_what_was_sent_and_no_more) {
  const std::vector<std::byte> much = pattern(40'000'000, 7);
  on_every_home([&]() -> task<void> {
    connection in = co_await make_connection();
    connection out = co_await make_connection();
    std::uint64_t progress = 0;
    std::vector<std::byte> got(15'000'000);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all) -> task<void> {
        (void)co_await as_result(s.write_all(all));
      }(in.client, much));
      scope.spawn([](tcp_stream& from, tcp_stream& to, std::uint64_t& told) -> task<void> {
        copy_options options;
        options.progress = &told;
        EXPECT_TRUE((co_await as_result(copy(from, to, options))).is_cancelled());
      }(in.server, out.client, progress));
      for (std::size_t n = 0; n < got.size();) {
        n += co_await out.server.read(std::span(got).subspan(n));
      }
      scope.request_stop();
    });
    out.client.shutdown();
    const std::vector<std::byte> rest = co_await read_to_end(out.server);
    got.insert(got.end(), rest.begin(), rest.end());
    EXPECT_EQ(progress, got.size());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), much.begin()));
  });
}

TEST(copy_linux, without_a_descriptor_for_a_pipe_a_relay_goes_on_by_its_buffer) {
  const std::vector<std::byte> much = pattern(20'000'000, 8);
  on_every_home([&]() -> task<void> {
    connection in = co_await make_connection();
    connection out = co_await make_connection();
    const tandem::test::no_descriptors none;
    auto ended = co_await tandem::when_all(write_and_end(in.client, much),
                                           copy(in.server, out.client), read_to_end(out.server));
    EXPECT_EQ(std::get<2>(ended), much);
  });
}

task<void> move_for_a_while(std::string folder, std::chrono::microseconds limit) {
  connection in = co_await make_connection();
  connection out = co_await make_connection();
  file from = co_await file::open(folder + "/f");
  file to = co_await file::open(folder + "/to", tandem::test::new_file());
  auto all = tandem::when_all(copy(from, in.client), copy(in.server, out.client),
                              copy(out.server, to), copy(from, to));
  (void)co_await as_result(tandem::with_timeout(limit, std::move(all)));
}

TEST(copy_linux, copies_that_are_stopped_anywhere_leave_nothing_open) {
  const temporary_folder folder;
  put(folder / "f", pattern(20'000'000, 9));
  const auto round = [&](std::chrono::microseconds limit) {
    tandem::test::test_runtime rt;
    rt.run(move_for_a_while(folder.path(), limit));
  };
  constexpr std::size_t threads = 2;  // main and the watchdog
  round(1h);
  const std::size_t before = tandem::test::holdings_of_process(threads).handles;
  tandem::test::for_rounds(
      40, [&](std::mt19937_64& random) { round(std::chrono::microseconds(random() % 20'000)); });
  EXPECT_EQ(tandem::test::holdings_of_process(threads).handles, before);
}

}  // namespace
