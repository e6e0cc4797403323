// serve_no_files_test.cpp: what serve() does when no descriptor is left, to its process or to the machine.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"

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
using tandem::test::read_to_end;
using tandem::test::test_runtime;

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
