// tcp_shutdown_test.cpp: ending a direction, also where it has ended already.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/readiness.hpp>

#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::shutdown_kind;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::read_to_end;

constexpr std::array kinds{shutdown_kind::write, shutdown_kind::read, shutdown_kind::both};

TEST(tcp_shutdown, ending_a_direction_again_is_no_error_also_when_both_have_ended) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    c.client.shutdown();
    c.client.shutdown();
    EXPECT_TRUE((co_await read_to_end(c.server)).empty());
    c.server.shutdown();
    EXPECT_TRUE((co_await read_to_end(c.client)).empty());
    // Nothing is left of the connection: the system says that there is none.
    for (tcp_stream* const each : {&c.server, &c.client}) {
      for (const shutdown_kind kind : kinds) EXPECT_NO_THROW(each->shutdown(kind));
    }
  });
}

TEST(tcp_shutdown, after_the_peers_reset_it_is_no_error_and_reads_and_writes_still_tell_of_it) {
  on_every_home([]() -> task<void> {
    for (const shutdown_kind kind : kinds) {
      for (const bool reads : {true, false}) {
        connection c = co_await make_connection();
        c.client.abort();
        co_await tandem::io::readable(c.server.native_handle());  // the reset is there
        EXPECT_NO_THROW(c.server.shutdown(kind));
        EXPECT_NO_THROW(c.server.shutdown(kind));
        std::array<std::byte, 4> room;
        std::error_code told;
        if (reads) {
          told = (co_await as_result(c.server.read(room))).error();
        } else {
          told = (co_await as_result(c.server.write(bytes_of("x")))).error();
        }
        EXPECT_EQ(told, std::errc::connection_reset);
        EXPECT_NO_THROW(c.server.shutdown(kind));
      }
    }
  });
}

TEST(tcp_shutdown, a_closed_stream_is_still_an_error) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    c.client.close();
    try {
      c.client.shutdown();
      ADD_FAILURE() << "it was closed";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::bad_file_descriptor);
    }
  });
}

TEST(tcp_shutdown, a_copy_whose_target_has_gone_at_its_good_end_has_succeeded) {
  on_every_home([]() -> task<void> {
    connection from = co_await make_connection();
    connection to = co_await make_connection();
    co_await from.client.write_all(bytes_of("all of it"));
    from.client.shutdown();
    tandem::io::buffered_reader reader(from.server);
    tandem::io::copy_options first;
    first.pass_end = false;
    EXPECT_EQ(co_await copy(reader, to.client, first), 9U);
    // The other one has heard enough.
    to.server.abort();
    co_await tandem::io::readable(to.client.native_handle());
    EXPECT_EQ(co_await copy(reader, to.client), 0U);
  });
}

}  // namespace
