// accepting_test.cpp: a server that shakes hands with many clients at once, some of which never do.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "io/stream/serve_support.hpp"
#include "io/tls/tls_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::io::endpoint;
using tandem::io::serve_options;
using tandem::io::tcp_stream;
using tandem::io::tls_stream;
using tandem::io::tls::accepting;
using tandem::io::tls::accepting_counts;
using tandem::io::tls::accepting_options;
using tandem::io::tls::errc;
using tandem::io::tls::server_context;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::options_for_every_home;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::serve_while;
using tandem::test::served_by;
using tandem::test::trusting;

server_context common_context() { return server_context(served_by()); }

task<void> answer(tls_stream stream) {
  std::array<std::byte, 64> room;
  while (const std::size_t n = co_await stream.read(room)) {
    co_await stream.write_all(std::span(room).first(n));
  }
  EXPECT_TRUE(co_await stream.finish(1h));
}

task<tls_stream> connect_to(endpoint server) {
  co_return co_await tandem::io::tls::connect(co_await tcp_stream::connect(server), "localhost",
                                              trusting());
}

task<void> ask(endpoint server) {
  tls_stream stream = co_await connect_to(server);
  co_await stream.write_all(bytes_of("question"));
  stream.shutdown();
  EXPECT_EQ((co_await read_to_end(stream)).size(), 8U);
}

/// By an end, or by a reset.
task<void> expect_closed(tcp_stream& silent) {
  std::array<std::byte, 64> room;
  while (true) {
    const auto got = co_await as_result(silent.read(room));
    if (!got || got.value() == 0) break;
  }
}

task<void> until(const std::atomic<std::uint64_t>& count, std::uint64_t wanted) {
  while (count < wanted) co_await tandem::sleep_for(100us);
  EXPECT_EQ(count, wanted);
}

TEST(tls_accepting, every_client_is_served_whatever_the_home_of_server_and_handlers) {
  on_every_home([]() -> task<void> {
    accepting_counts counts;
    accepting_options options;
    options.counts = &counts;
    const auto handler = accepting(common_context(), answer, options);
    for (const serve_options& each : options_for_every_home()) {
      co_await serve_while(handler, each, [](endpoint here) -> task<void> {
        co_await tandem::with_scope([here](tandem::task_scope& clients) -> task<void> {
          for (int i = 0; i < 10; ++i) clients.spawn(ask(here));
          co_return;
        });
      });
    }
    EXPECT_EQ(counts.accepted, 30U);
    EXPECT_EQ(counts.failed + counts.timed_out + counts.crowded_out, 0U);
  });
}

TEST(tls_accepting, a_handler_may_take_any_stream_and_is_told_when_the_server_drains) {
  run_tls([]() -> task<void> {
    const auto handler = [](any_stream stream, std::stop_token draining) -> task<void> {
      EXPECT_NE(stream.target<tls_stream>(), nullptr);
      std::array<std::byte, 64> room;
      EXPECT_EQ(co_await stream.read(room), 4U);
      co_await stream.write_all(bytes_of("pong"));
      const auto waits = [](any_stream& from, std::span<std::byte> into) -> task<void> {
        (void)co_await from.read(into);
      };
      const auto rest =
          co_await as_result(tandem::with_stop(std::move(draining), waits(stream, room)));
      EXPECT_TRUE(rest.is_cancelled());
      co_await stream.write_all(bytes_of("farewell"));
      EXPECT_TRUE(co_await stream.target<tls_stream>()->finish(1h));
    };
    const auto hears_farewell = [](tls_stream& from) -> task<void> {
      EXPECT_EQ((co_await read_to_end(from)).size(), 8U);
      from.shutdown();
    };
    tls_stream client;
    tandem::join_handle<void> hearing;
    serve_options options;
    options.drain_timeout = 1h;
    co_await serve_while(accepting(common_context(), handler), options,
                         [&](endpoint here) -> task<void> {
                           client = co_await connect_to(here);
                           std::array<std::byte, 4> room;
                           co_await client.write_all(bytes_of("ping"));
                           EXPECT_EQ(co_await client.read(room), 4U);
                           hearing = tandem::spawn(hears_farewell(client));
                         });
    co_await std::move(hearing);
  });
}

TEST(tls_accepting, a_client_that_is_too_slow_is_dropped_and_nothing_is_said_of_it) {
  on_every_home([]() -> task<void> {
    accepting_counts counts;
    accepting_options options;
    options.counts = &counts;
    options.handshake_timeout = 20ms;
    serve_options serving;
    serving.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
    const auto handler = accepting(common_context(), answer, options);
    co_await serve_while(handler, serving, [](endpoint here) -> task<void> {
      tcp_stream silent = co_await tcp_stream::connect(here);
      co_await expect_closed(silent);
      // However long it goes on: the time is that of the whole handshake.
      tcp_stream slow = co_await tcp_stream::connect(here);
      const std::string begun("\x16\x03\x01\x40\x00\x01\x00\x3f\xf0\x03\x03", 11);
      (void)co_await as_result(slow.write_all(bytes_of(begun)));
      while (co_await as_result(slow.write_all(bytes_of("x")))) co_await tandem::sleep_for(1ms);
    });
    EXPECT_EQ(counts.timed_out, 2U);
    EXPECT_EQ(counts.accepted + counts.failed + counts.crowded_out, 0U);
  });
}

TEST(tls_accepting, the_oldest_handshake_has_to_go_when_there_is_no_place_for_a_new_one) {
  on_every_home([]() -> task<void> {
    accepting_counts counts;
    accepting_options options;
    options.counts = &counts;
    options.max_handshakes = 1;
    options.handshake_timeout = 1h;
    serve_options serving;
    serving.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
    const auto handler = accepting(common_context(), answer, options);
    co_await serve_while(handler, serving, [&](endpoint here) -> task<void> {
      for (std::uint64_t i = 1; i <= 5; ++i) {
        tcp_stream silent = co_await tcp_stream::connect(here);
        co_await ask(here);
        co_await expect_closed(silent);
        co_await until(counts.crowded_out, i);
      }
    });
    EXPECT_EQ(counts.accepted, 5U);
    EXPECT_EQ(counts.failed + counts.timed_out, 0U);
  });
}

TEST(tls_accepting, connections_that_have_shaken_hands_take_no_place) {
  run_tls([]() -> task<void> {
    accepting_counts counts;
    accepting_options options;
    options.counts = &counts;
    options.max_handshakes = 1;
    const auto handler = accepting(common_context(), answer, options);
    co_await serve_while(handler, serve_options(), [](endpoint here) -> task<void> {
      std::vector<tls_stream> clients;
      std::array<std::byte, 16> room;
      for (int i = 0; i < 5; ++i) {
        clients.push_back(co_await connect_to(here));
        co_await clients.back().write_all(bytes_of("hello"));
        EXPECT_EQ(co_await clients.back().read(room), 5U);  // so the server's side is over, too
      }
      for (tls_stream& each : clients) {
        co_await each.write_all(bytes_of("still here"));
        each.shutdown();
        EXPECT_EQ((co_await read_to_end(each)).size(), 10U);
      }
    });
    EXPECT_EQ(counts.accepted, 5U);
    EXPECT_EQ(counts.crowded_out, 0U);
  });
}

std::error_code code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& error) {
    return error.code();
  }
}

task<void> speak_something_else(endpoint here) {
  tcp_stream other = co_await tcp_stream::connect(here);
  co_await other.write_all(bytes_of("GET / HTTP/1.0\r\n\r\n"));
  co_await expect_closed(other);
}

TEST(tls_accepting, a_failed_handshake_is_a_failure_of_the_handler_unless_somebody_wants_to_know) {
  run_tls([]() -> task<void> {
    for (const bool wants_to_know : {false, true}) {
      accepting_counts counts;
      std::atomic<std::uint64_t> told{0};
      std::atomic<std::uint64_t> told_of_handlers{0};
      accepting_options options;
      options.counts = &counts;
      if (wants_to_know) {
        options.on_handshake_error = [&](const std::exception_ptr& failure) {
          EXPECT_EQ(code_of(failure), make_error_code(errc::not_tls));
          ++told;
        };
      }
      serve_options serving;
      serving.on_handler_error = [&](const std::exception_ptr& failure) {
        EXPECT_EQ(code_of(failure), make_error_code(errc::not_tls));
        ++told_of_handlers;
      };
      const auto handler = accepting(common_context(), answer, options);
      co_await serve_while(handler, serving, &speak_something_else);
      EXPECT_EQ(told, wants_to_know ? 1U : 0U);
      EXPECT_EQ(told_of_handlers, wants_to_know ? 0U : 1U);
      EXPECT_EQ(counts.failed, 1U);
      EXPECT_EQ(counts.accepted + counts.timed_out + counts.crowded_out, 0U);
    }
  });
}

// As load balancers do all day long, to see whether somebody is there.
TEST(tls_accepting, nothing_is_said_of_a_client_that_goes_before_its_first_word_but_it_is_counted) {
  run_tls([]() -> task<void> {
    for (const bool wants_to_know : {false, true}) {
      accepting_counts counts;
      std::atomic<std::uint64_t> told{0};
      accepting_options options;
      options.counts = &counts;
      if (wants_to_know) {
        options.on_handshake_error = [&](const std::exception_ptr& failure) {
          EXPECT_EQ(code_of(failure), make_error_code(errc::nothing_said));
          ++told;
        };
      }
      serve_options serving;
      serving.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
      const auto handler = accepting(common_context(), answer, options);
      co_await serve_while(handler, serving, [&](endpoint here) -> task<void> {
        tcp_stream silent = co_await tcp_stream::connect(here);
        silent.shutdown();
        co_await until(counts.failed, 1);
      });
      EXPECT_EQ(told, wants_to_know ? 1U : 0U);
    }
  });
}

TEST(tls_accepting, whoever_wants_to_know_hears_of_slow_and_crowded_out_clients_too) {
  run_tls([]() -> task<void> {
    accepting_counts counts;
    std::atomic<std::uint64_t> overcrowded{0};
    std::atomic<std::uint64_t> slow{0};
    accepting_options options;
    options.counts = &counts;
    options.max_handshakes = 1;
    options.handshake_timeout = 50ms;
    options.on_handshake_error = [&](const std::exception_ptr& failure) {
      ++(code_of(failure) == make_error_code(errc::overcrowded) ? overcrowded : slow);
    };
    const auto handler = accepting(common_context(), answer, options);
    co_await serve_while(handler, serve_options(), [&](endpoint here) -> task<void> {
      std::vector<tcp_stream> silent;
      for (int i = 0; i < 3; ++i) silent.push_back(co_await tcp_stream::connect(here));
      for (tcp_stream& each : silent) co_await expect_closed(each);
      while (overcrowded + slow < 3) co_await tandem::sleep_for(100us);
    });
    EXPECT_EQ(overcrowded, counts.crowded_out);
    EXPECT_EQ(slow, counts.timed_out);
    EXPECT_GE(slow, 1U);  // the last one, whom nobody crowds out
    EXPECT_EQ(counts.accepted + counts.failed, 0U);
  });
}

TEST(tls_accepting, handshakes_that_are_under_way_are_stopped_when_the_server_drains) {
  on_every_home([]() -> task<void> {
    accepting_options options;
    options.handshake_timeout = 1h;
    serve_options serving;
    serving.drain_timeout = 1h;
    serving.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
    tandem::io::serve_counts counts;
    serving.counts = &counts;
    tcp_stream silent;
    const auto handler = accepting(common_context(), answer, options);
    co_await serve_while(handler, serving, [&](endpoint here) -> task<void> {
      silent = co_await tcp_stream::connect(here);
      co_await until(counts.served, 1);
    });
    co_await expect_closed(silent);
  });
}

TEST(tls_accepting, what_a_handler_throws_is_told_as_ever_and_ends_nothing_else) {
  run_tls([]() -> task<void> {
    std::atomic<int> told{0};
    serve_options serving;
    serving.on_handler_error = [&](const std::exception_ptr&) { ++told; };
    const auto handler = [](tls_stream) -> task<void> {
      throw std::runtime_error("planned");
      co_return;
    };
    co_await serve_while(accepting(common_context(), handler), serving,
                         [](endpoint here) -> task<void> {
                           for (int i = 0; i < 3; ++i) {
                             tls_stream client = co_await connect_to(here);
                             EXPECT_TRUE((co_await tandem::test::end_of_read(client)).code);
                           }
                         });
    EXPECT_EQ(told, 3);
  });
}

}  // namespace
