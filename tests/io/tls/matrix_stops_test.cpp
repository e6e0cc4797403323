// matrix_stops_test.cpp: stops and time-outs, while a foreign program is silent, or takes nothing.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/resume_on.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "io/tls/matrix_support.hpp"

namespace {

namespace io = tandem::io;
using tandem::as_result;
using tandem::result;
using tandem::task;
using tandem::with_timeout;
using tandem::test::bytes_of;
using tandem::test::conversation;
using tandem::test::end_cell;
using tandem::test::end_row;
using tandem::test::ending;
using tandem::test::expect_finish;
using tandem::test::expect_read;
using tandem::test::expect_write;
using tandem::test::failure_of;
using tandem::test::finish_of;
using tandem::test::is_server;
using tandem::test::long_enough;
using tandem::test::matrix_test;
using tandem::test::numbered;
using tandem::test::peer_request;
using tandem::test::short_time;
using tandem::test::wire_end;

// --- In the handshake

task<result<io::tls_stream>> shake(conversation& both, io::any_stream below) {
  co_return co_await as_result(both.handshake(std::move(below)));
}
task<result<io::tls_stream>> shake_for(conversation& both, io::any_stream below,
                                       std::chrono::milliseconds limit) {
  co_return co_await as_result(with_timeout(limit, both.handshake(std::move(below))));
}

/// Of a handshake's messages the peer's last ones never come: a server's all, of a client's all but
/// the first. They meet in the middle of it, then.
void keep_back_handshake(conversation& both) {
  if (is_server(both.request().kind)) {
    both.wire().keep_back(wire_end::peers);
  } else {
    both.wire().keep_back_after_first(wire_end::peers);
  }
}

void stop_handshake(conversation& both, const end_row& expected) {
  keep_back_handshake(both);
  auto shaking = both.runtime()->spawn(both.runtime().workers(), shake(both, both.connect()));
  both.wire().wait_for_more(wire_end::ours, 0);  // our first message: now we wait for theirs
  shaking.cancel();
  const result<io::tls_stream> got = shaking.wait();
  EXPECT_EQ(static_cast<int>(failure_of(got)), static_cast<int>(expected.handshake));
  both.wire().wait_for_end(wire_end::ours);
}

void time_out_handshake(conversation& both, const end_row& expected) {
  keep_back_handshake(both);
  const result<io::tls_stream> got = both.run(shake_for(both, both.connect(), short_time));
  EXPECT_EQ(static_cast<int>(failure_of(got)), static_cast<int>(expected.handshake));
  both.wire().wait_for_end(wire_end::ours);
}

// --- In a read, after which it goes on

task<void> let_others_run(int times) {
  for (int i = 0; i < times; ++i) co_await tandem::yield();
}

/// From the home of the one that is stopped: it waits by then.
task<result<std::size_t>> stopped_read(io::tls_stream& stream) {
  tandem::executor& home = stream.thread_executor();
  co_await tandem::resume_on(home);
  auto reading = tandem::spawn(home, tandem::test::read_some(stream));
  co_await let_others_run(5);
  reading.cancel();
  co_return co_await std::move(reading);
}
task<result<std::size_t>> timed_read(io::tls_stream& stream) {
  std::array<std::byte, 16> room;
  co_return co_await as_result(with_timeout(short_time, stream.read(room)));
}

void end_in_read(conversation& both, const end_row& expected) {
  const bool by_stop = expected.what == ending::stop_in_read;
  expect_read(both.run(by_stop ? stopped_read(both.stream()) : timed_read(both.stream())),
              expected.read);
  both.talk("after the stop");
}

// --- In a write, after which it goes on

/// Until it is stopped. @param written  so much has been, whenever one looks
task<void> write_on(io::tls_stream& stream, std::size_t& written) {
  while (true) {
    const std::string next = numbered(written, 16 * 1024);
    written += co_await stream.write(bytes_of(next));
  }
}

task<result<std::size_t>> count_until_stop(io::tls_stream& stream, std::size_t& written) {
  const auto ended = co_await as_result(write_on(stream, written));
  co_return ended.exception();
}

/// When it seems to be stuck, as it is bound to be; a stop that comes too early is a stop, too.
task<result<std::size_t>> stopped_write(io::tls_stream& stream, std::size_t& written) {
  tandem::executor& home = stream.thread_executor();
  co_await tandem::resume_on(home);
  auto writing = tandem::spawn(home, count_until_stop(stream, written));
  for (std::size_t before = 0; written == 0 || before != written;) {
    before = written;
    co_await let_others_run(50);
  }
  writing.cancel();
  co_return co_await std::move(writing);
}
task<result<std::size_t>> timed_write(io::tls_stream& stream, std::size_t& written) {
  const auto ended = co_await as_result(with_timeout(short_time, write_on(stream, written)));
  co_return ended.exception();
}

/// What has arrived, from the first number to the last words.
std::string arrived(const std::string& all, std::string_view last_words) {
  const std::size_t first = all.find(numbered(0, 8));
  const std::size_t last = all.find(last_words);
  if (first == std::string::npos || last == std::string::npos) return "nothing";
  return all.substr(first, last - first);
}

void end_in_write(conversation& both, const end_row& expected) {
  const bool by_stop = expected.what == ending::stop_in_write;
  std::size_t written = 0;
  both.wire().keep_back(wire_end::ours);
  expect_write(both.run(by_stop ? stopped_write(both.stream(), written)
                                : timed_write(both.stream(), written)),
               expected.write);
  both.wire().let_pass(wire_end::ours);
  constexpr std::string_view last_words = "\n9 last words\n";
  std::string heard;
  if (both.peer().echoes()) {
    heard = both.it_says(last_words);
  } else {
    both.we_say_and_it_hears(last_words);
    heard = both.peer().process().output();
  }
  EXPECT_TRUE(arrived(heard, last_words) == numbered(0, written)) << written << " bytes";
}

// --- In finish

task<result<bool>> stopped_finish(io::tls_stream& stream) {
  tandem::executor& home = stream.thread_executor();
  co_await tandem::resume_on(home);
  auto finishing = tandem::spawn(home, finish_of(stream));
  co_await let_others_run(5);
  finishing.cancel();
  co_return co_await std::move(finishing);
}
task<result<bool>> timed_finish(io::tls_stream& stream) {
  co_return co_await as_result(with_timeout(short_time, stream.finish(long_enough)));
}

void end_in_finish(conversation& both, const end_row& expected) {
  const std::size_t before = both.wire().taken(wire_end::ours);
  both.wire().keep_back(wire_end::ours);
  expect_finish(both.run(finish_of(both.stream(), short_time)), expected.finish);
  both.wire().wait_for_more(wire_end::ours, before);  // our farewell has been sent
  expect_finish(both.run(timed_finish(both.stream())), tandem::test::deadline);
  expect_finish(both.run(stopped_finish(both.stream())), tandem::test::user_stop);
  both.stream().close();
  both.wire().let_pass(wire_end::ours);
  both.wire().wait_for_end(wire_end::ours);
}

class tls_end_by_us : public matrix_test {};

TEST_P(tls_end_by_us, is_the_documented_one) {
  const end_cell& cell = GetParam();
  conversation both(peer_request(cell.peer, cell.version));
  const bool in_handshake = cell.row.handshake != tandem::test::works;
  if (!in_handshake) both.open();
  switch (cell.row.what) {
    case ending::stop_in_handshake: stop_handshake(both, cell.row); break;
    case ending::timeout_in_handshake: time_out_handshake(both, cell.row); break;
    case ending::stop_in_read:
    case ending::timeout_in_read: end_in_read(both, cell.row); break;
    case ending::stop_in_write:
    case ending::timeout_in_write: end_in_write(both, cell.row); break;
    case ending::silent_in_finish: end_in_finish(both, cell.row); break;
    default: FAIL() << "a row of matrix_ends_test.cpp";
  }
}

INSTANTIATE_TEST_SUITE_P(matrix, tls_end_by_us,
                         ::testing::ValuesIn(tandem::test::cells_between(ending::stop_in_handshake,
                                                                         ending::silent_in_finish)),
                         tandem::test::name_of_cell);

}  // namespace
