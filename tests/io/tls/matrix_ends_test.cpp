// matrix_ends_test.cpp: connections with foreign programs end: cleanly, cut, reset, by halves.
// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include "io/tls/matrix_support.hpp"

namespace {

namespace io = tandem::io;
using tandem::task;
using tandem::test::conversation;
using tandem::test::end_cell;
using tandem::test::end_row;
using tandem::test::ending;
using tandem::test::expect_finish;
using tandem::test::expect_read;
using tandem::test::expect_write;
using tandem::test::finish_of;
using tandem::test::is_server;
using tandem::test::matrix_test;
using tandem::test::peer_kind;
using tandem::test::peer_mode;
using tandem::test::peer_request;
using tandem::test::read_some;
using tandem::test::read_to_end;
using tandem::test::wire_end;
using tandem::test::write_some;

constexpr std::string_view request_of_page = "GET / HTTP/1.0\r\n\r\n";
constexpr std::string_view page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Servers say farewell after a page alone, and curl after one that has come.
bool ends_after_page(peer_kind peer) { return is_server(peer) || peer == peer_kind::curl; }

peer_request request_for(const end_cell& cell) {
  const bool wants_page =
      (cell.row.what == ending::clean || cell.row.what == ending::half_close_by_peer)
          ? ends_after_page(cell.peer)
          : cell.row.what == ending::half_close_by_us && is_server(cell.peer);
  return {cell.peer, cell.version, wants_page ? peer_mode::page : peer_mode::talk};
}

/// All that comes until the peer's farewell.
std::string hear_to_end(conversation& both) {
  const std::vector<std::byte> heard = both.run(read_to_end(both.stream()));
  return {reinterpret_cast<const char*>(heard.data()), heard.size()};  // NOLINT
}

/// The peer says farewell, and nothing before that which would not have been read.
void let_peer_end(conversation& both) {
  if (is_server(both.request().kind)) {
    both.we_say(request_of_page);
    EXPECT_NE(hear_to_end(both).find("200"), std::string::npos);
  } else if (both.request().kind == peer_kind::curl) {
    both.we_say(page);
  } else {
    both.peer().process().end_input();
  }
}

void end_cleanly(conversation& both, const end_row& expected) {
  let_peer_end(both);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_finish(both.run(finish_of(both.stream())), expected.finish);
  both.stream().close();
  if (is_server(both.request().kind)) return;
  EXPECT_EQ(both.peer().process().exit_status(), 0);
}

void end_by_kill(conversation& both, const end_row& expected) {
  both.peer().process().kill();
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_finish(both.run(finish_of(both.stream())), expected.finish);
}

void end_by_reset(conversation& both, const end_row& expected) {
  both.wire().reset_ours();
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_write(both.run(write_some(both.stream(), "lost")), expected.write);
  expect_finish(both.run(finish_of(both.stream())), expected.finish);
}

task<void> say_farewell(io::tls_stream& stream) {
  stream.shutdown();
  co_return;
}

/// A server answers a request that was all we had to say; a client does not know yet that it was.
void let_peer_go_on(conversation& both) {
  if (is_server(both.request().kind)) {
    both.we_say(request_of_page);
    both.run(say_farewell(both.stream()));
    EXPECT_NE(hear_to_end(both).find("200"), std::string::npos);
    return;
  }
  both.wire().keep_back(wire_end::ours);
  both.run(say_farewell(both.stream()));
  both.it_says("3 this is still heard\n");
  both.wire().let_pass(wire_end::ours);
}

void end_by_half(conversation& both, const end_row& expected) {
  let_peer_go_on(both);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_write(both.run(write_some(both.stream(), "too late")), expected.write);
  expect_finish(both.run(finish_of(both.stream())), expected.finish);
}

void end_by_half_of_peer(conversation& both, const end_row& expected) {
  let_peer_end(both);
  expect_read(both.run(read_some(both.stream())), expected.read);
  expect_write(both.run(write_some(both.stream(), "3 we go on\n")), expected.write);
  // The only one of these programs that listens on when it has said farewell.
  if (both.request().kind == peer_kind::gnutls_cli) both.peer().prints("3 we go on\n");
  expect_finish(both.run(finish_of(both.stream())), expected.finish);
}

class tls_end_by_peer : public matrix_test {};

TEST_P(tls_end_by_peer, is_the_documented_one) {
  const end_cell& cell = GetParam();
  conversation both(request_for(cell));
  both.open();
  switch (cell.row.what) {
    case ending::clean: end_cleanly(both, cell.row); break;
    case ending::peer_is_killed: end_by_kill(both, cell.row); break;
    case ending::reset: end_by_reset(both, cell.row); break;
    case ending::half_close_by_us: end_by_half(both, cell.row); break;
    case ending::half_close_by_peer: end_by_half_of_peer(both, cell.row); break;
    default: FAIL() << "a row of matrix_stops_test.cpp";
  }
}

INSTANTIATE_TEST_SUITE_P(
    matrix, tls_end_by_peer,
    ::testing::ValuesIn(tandem::test::cells_between(ending::clean, ending::half_close_by_peer)),
    tandem::test::name_of_cell);

}  // namespace
