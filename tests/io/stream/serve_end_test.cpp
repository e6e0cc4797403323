// serve_end_test.cpp: how serve() drains, and what it does when no descriptor is left.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"
#include "refusing_port.hpp"

/// ENFILE is the whole machine's, so this process gets it from here: of the next `refused_accepts`
/// calls. What a ring accepts does not come by here.
static std::atomic<int> refused_accepts{0};
static bool is_refused() {
  int left = refused_accepts.load();
  while (left > 0 && !refused_accepts.compare_exchange_weak(left, left - 1)) {}
  if (left > 0) errno = ENFILE;
  return left > 0;
}
extern "C" int accept4(int descriptor, sockaddr* peer, socklen_t* size, int flags) {
  if (is_refused()) return -1;
  return static_cast<int>(::syscall(SYS_accept4, descriptor, peer, size, flags));
}
// Where there is no accept4(), as in the platform room posix.
extern "C" int accept(int descriptor, sockaddr* peer, socklen_t* size) {
  if (is_refused()) return -1;
  return static_cast<int>(::syscall(SYS_accept4, descriptor, peer, size, 0));
}

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::serve;
using tandem::io::serve_options;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

TEST(serve_drain, connections_finish_after_a_stop_and_new_peers_are_refused) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    tandem::event may_end;
    const auto handler = [&](tcp_stream stream) -> task<void> {
      begun.set();
      co_await may_end.wait();
      co_await stream.write_all(bytes_of("goodbye"));
    };
    const auto port = tandem::test::refusing_port::for_listeners();
    const endpoint here = port.where();
    tcp_listener listener = tcp_listener::bind(here);
    serve_options options;
    options.drain_timeout = 1h;
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    tcp_stream client = co_await tcp_stream::connect(here);
    co_await begun.wait();
    serving.cancel();
    while (co_await as_result(tcp_stream::connect(here))) co_await tandem::sleep_for(100us);
    EXPECT_FALSE(serving.is_done());
    may_end.set();
    EXPECT_EQ((co_await read_to_end(client)).size(), 7U);
    co_await serving;  // returns: a stop is how it ends
  });
}

TEST(serve_drain, connections_that_take_too_long_are_stopped) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    for (const auto drain : {0ms, 2ms}) {
      tandem::event begun;
      std::atomic<tandem::stop_reason> reason{tandem::stop_reason::none};
      const auto handler = [&](tcp_stream stream) -> task<void> {
        begun.set();
        try {
          std::byte byte{};
          (void)co_await stream.read(std::span(&byte, 1));
        } catch (const tandem::operation_cancelled& e) {
          reason = e.reason();
          throw;  // no failure: nobody is told
        }
      };
      serve_options options;
      options.drain_timeout = drain;
      options.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
      auto serving = tandem::spawn(serve(std::move(listener), handler, options));
      co_await begun.wait();
      serving.cancel();
      co_await serving;
      EXPECT_EQ(reason, tandem::stop_reason::deadline);
      EXPECT_TRUE((co_await read_to_end(client)).empty());
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(serve_drain, a_handler_may_hear_of_it_and_end_early) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    const auto handler = [&](tcp_stream stream, std::stop_token draining) -> task<void> {
      std::byte byte{};
      begun.set();
      const auto next =
          co_await as_result(tandem::with_stop(draining, stream.read(std::span(&byte, 1))));
      EXPECT_TRUE(next.is_cancelled());
      EXPECT_FALSE(tandem::stop_requested());
      co_await stream.write_all(bytes_of("bye"));
    };
    serve_options options;
    options.drain_timeout = 1h;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    co_await begun.wait();
    serving.cancel();
    EXPECT_EQ((co_await read_to_end(client)).size(), 3U);
    co_await serving;
  });
}

TEST(serve_drain, what_a_handler_stops_then_is_no_failure) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    const auto handler = [&](tcp_stream stream, std::stop_token draining) -> task<void> {
      std::byte byte{};
      begun.set();
      (void)co_await tandem::with_stop(draining, stream.read(std::span(&byte, 1)));
    };
    serve_options options;
    options.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE(); };
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    co_await begun.wait();
    serving.cancel();
    co_await serving;
    EXPECT_TRUE((co_await read_to_end(client)).empty());
  });
}

TEST(serve_drain, a_stop_before_it_begins_and_one_at_any_moment_end_it) {
  on_every_home([]() -> task<void> {
    const auto handler = [](tcp_stream stream) -> task<void> {
      (void)co_await as_result(stream.write_all(bytes_of("x")));
    };
    // When the listener is gone the client may not arrive at somebody else's.
    const auto port = tandem::test::refusing_port::for_listeners();
    const std::size_t before = open_descriptors();
    const endpoint here = port.where();
    for (int round = 0; round < 60; ++round) {
      tcp_listener listener = tcp_listener::bind(here);
      auto client = tandem::spawn([](endpoint peer) -> task<void> {
        (void)co_await as_result(tcp_stream::connect(peer));
      }(here));
      co_await tandem::with_timeout(std::chrono::microseconds(round * 10),
                                    serve(std::move(listener), handler));
      co_await client;
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(serve_errors, without_descriptors_it_pauses_longer_and_longer_and_goes_on_afterwards) {
  on_every_home([]() -> task<void> {
    std::mutex mutex;
    std::vector<std::chrono::milliseconds> pauses;
    tandem::event often_enough;
    serve_options options;
    options.first_pause = 1ms;
    options.longest_pause = 4ms;
    options.on_accept_error = [&](const std::error_code& error, std::chrono::milliseconds pause) {
      EXPECT_EQ(error, std::errc::too_many_files_open);
      const std::lock_guard guard(mutex);
      pauses.push_back(pause);
      if (pauses.size() == 5) often_enough.set();
    };
    const auto handler = [](tcp_stream stream) -> task<void> {
      co_await stream.write_all(bytes_of("served"));
    };
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    // Connected, but not accepted before no descriptor is left.
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(co_await tcp_stream::connect(here));
    tandem::join_handle<void> serving;
    task<void> server = serve(std::move(listener), handler, options);
    {
      const tandem::test::no_descriptors none;
      serving = tandem::spawn(std::move(server));
      co_await often_enough.wait();
    }
    for (tcp_stream& each : clients) EXPECT_EQ((co_await read_to_end(each)).size(), 6U);
    serving.cancel();
    co_await serving;
    pauses.resize(5);
    EXPECT_EQ(pauses, (std::vector<std::chrono::milliseconds>{1ms, 2ms, 4ms, 4ms, 4ms}));
  });
}

TEST(serve_errors, a_machine_without_files_is_told_of_and_waited_for) {
  if (!TANDEM_TEST_HAS_ASIO) GTEST_SKIP() << "built without the backend that calls accept";
  test_runtime rt;
  tandem::io::completion_options asio;
  asio.backend = tandem::io::io_backend::asio;
  tandem::io::install(*rt, asio);
  rt.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    tcp_stream client = co_await tcp_stream::connect(here);
    refused_accepts = 1;
    EXPECT_EQ((co_await as_result(listener.accept())).error(),
              std::errc::too_many_files_open_in_system);
    std::vector<std::chrono::milliseconds> pauses;  // all on one completion thread
    serve_options options;
    options.first_pause = 1ms;
    options.longest_pause = 2ms;
    options.on_accept_error = [&](const std::error_code& error, std::chrono::milliseconds pause) {
      EXPECT_EQ(error, std::errc::too_many_files_open_in_system);
      pauses.push_back(pause);
    };
    refused_accepts = 3;
    tandem::join_handle<void> serving = tandem::spawn(serve(
        std::move(listener),
        [](tcp_stream stream) -> task<void> { co_await stream.write_all(bytes_of("served")); },
        options));
    EXPECT_EQ((co_await read_to_end(client)).size(), 6U);
    serving.cancel();
    co_await serving;
    EXPECT_EQ(pauses, (std::vector<std::chrono::milliseconds>{1ms, 2ms, 2ms}));
  }());
}

}  // namespace
