// refusal_cases_more.cpp: files, signals, names, readers and writers, libraries that call back.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/event.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "io/nothing_lost/refusal_cases.hpp"
#include "io/support/file_support.hpp"
#include "io/support/foreign_pair.hpp"
#include "refusals.hpp"
#include "refusing_port.hpp"
#include "system.hpp"

namespace tandem::test {

namespace {

using io::completion_pool;
using io::endpoint;
using io::file;
using io::tcp_stream;

task<void> use_one_file(std::string path) {
  io::open_options options;
  options.mode = io::open_mode::read_write;
  options.create = true;
  file made = co_await file::open(path, options);
  const std::vector<std::byte> bytes = pattern(100, 3);
  co_await made.write_all_at(bytes, 0);
  co_await made.append(bytes);
  co_await made.sync();
  co_await made.truncate(150);
  EXPECT_EQ((co_await made.status()).size, 150U);
  std::vector<std::byte> got(150);
  co_await made.read_exactly_at(got, 0);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin()));
  file copied = co_await file::open(path + "-copy", options);
  EXPECT_EQ(co_await io::copy(made, copied), 150U);
}

task<void> replace_one_file(std::string path) {
  co_await io::write_file(path, std::string_view("new and longer"));
  EXPECT_EQ(co_await io::read_file(path), "new and longer");
}

}  // namespace

namespace {

const temporary_folder& folder() {
  static const temporary_folder only;
  return only;
}

void remove_one(const std::string& path) {
  const granted here;
  std::filesystem::remove(path);
}

}  // namespace

std::size_t files_left() { return folder().entries(); }

void use_files() {
  const std::string one = folder() / "one";
  const std::string whole = folder() / "whole";
  remove_one(one);
  {
    const granted here;
    put(whole, bytes_of("old"));
  }
  refused_program program;
  program.run_at_home(use_one_file(one));
  remove_one(one);
  program.run(use_one_file(one));
  try {
    program.run(replace_one_file(whole));
  } catch (...) {
    const granted here;
    const std::string is = get(whole);
    EXPECT_TRUE(is == "old" || is == "new and longer") << is;
    throw;
  }
}

namespace {

constexpr std::size_t longer_than_the_buffer = 100;

/// The peer ends in the middle: what was taken goes back.
task<void> read_what_ends_early(connection& both) {
  const std::vector<std::byte> sent = pattern(longer_than_the_buffer + 20, 4);
  co_await both.client.write_all(sent);
  io::buffered_reader reader(both.server, 16);
  std::vector<std::byte> first(longer_than_the_buffer);
  const auto done = co_await as_result(reader.read_exactly(first));
  if (!done) {
    // Nothing was taken, so all of it is read now.
    first.assign(first.size(), std::byte{});
    co_await reader.read_exactly(first);
  }
  EXPECT_TRUE(std::equal(first.begin(), first.end(), sent.begin()));
  both.client.shutdown();
  std::vector<std::byte> rest(longer_than_the_buffer);
  const auto ended = co_await as_result(reader.read_exactly(rest));
  EXPECT_FALSE(ended.has_value());
  EXPECT_EQ(co_await reader.read(rest), 20U);
}

task<void> write_and_frame(connection& both) {
  io::buffered_writer writer(both.client, 16);
  io::buffered_reader reader(both.server, 16);
  co_await writer.write_all(bytes_of("a line\r\n"));
  co_await writer.flush();
  EXPECT_EQ(co_await reader.read_until("\r\n", 100), "a line");
  const std::vector<std::byte> message = pattern(200, 5);
  co_await io::write_frame(both.client, message);
  auto got = co_await as_result(io::read_frame(reader));
  if (!got) {
    // Nothing was taken.
    EXPECT_EQ(co_await io::read_frame(reader), message);
    std::rethrow_exception(got.exception());
  }
  EXPECT_EQ(std::move(got).value(), message);
}

task<void> copy_to_the_end(connection& from, connection& to) {
  co_await from.client.write_all(bytes_of("what is passed on"));
  from.client.shutdown();
  EXPECT_EQ(co_await io::copy(from.server, to.client), 17U);
  EXPECT_EQ((co_await read_to_end(to.server)).size(), 17U);
}

task<void> connect_by_name() {
  EXPECT_EQ((co_await io::resolve("127.0.0.1", 80)).size(), 1U);
  v4_listener listener;
  const std::uint16_t port = listener.port();
  (void)co_await as_result(io::resolve("localhost", port));
  std::vector<endpoint> both;
  both.push_back(endpoint::loopback_v6(port));
  both.push_back(endpoint::loopback_v4(port));
  tcp_stream client = co_await tcp_stream::connect(std::move(both));
  tcp_stream server = co_await listener.tcp().accept();
}

task<void> take_a_signal() {
  io::signal_set signals({SIGINT});
  interrupt_this_process();
  EXPECT_EQ(co_await signals.wait(), SIGINT);
}

task<void> hear_of_it(io::foreign_loop& loop) {
  const foreign_pair pair;
  event heard;
  event over;
  bool is_refused = false;
  const auto on_ready = [&](plain_socket number, io::ready_events events) {
    is_refused = !events.readable();
    loop.forget(number);
    heard.set();
  };
  loop.watch(pair.peer(), io::watch_interest::none, [](plain_socket, io::ready_events) {});
  loop.watch(pair.ours(), io::watch_interest::read, on_ready);
  loop.watch(pair.ours(), io::watch_interest::none);
  loop.watch(pair.ours(), io::watch_interest::read);
  pair.peer_writes("x");
  co_await heard.wait();
  if (is_refused) throw std::bad_alloc();
  loop.deadline(tandem::now() + std::chrono::hours(1), [] {});
  loop.deadline(tandem::now() + std::chrono::microseconds(1), [&] { over.set(); });
  co_await over.wait();
}

}  // namespace

void drive_a_library() {
  refused_program program;
  program.run(io::with_foreign_loop(hear_of_it));
  program.run_at_home(io::with_foreign_loop(hear_of_it));
}

void use_the_rest() {
  refused_program program;
  for (const auto step : {&read_what_ends_early, &write_and_frame}) {
    program.run_at_home([](auto* use) -> task<void> {
      connection both = co_await make_connection();
      co_await use(both);
    }(step));
  }
  program.run_at_home([]() -> task<void> {
    connection from = co_await make_connection();
    connection to = co_await make_connection();
    co_await copy_to_the_end(from, to);
    co_await connect_by_name();
  }());
  program.run(take_a_signal());
}

}  // namespace tandem::test
