// never_lost_signals.cpp: signals that interrupt, writes to nobody.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::read_to_end;

extern "C" void count_signal(int) noexcept;
std::atomic<int> signals_seen{0};
extern "C" void count_signal(int) noexcept {
  signals_seen.fetch_add(1, std::memory_order_relaxed);  // a count
}

/// Counts a signal while it lives. System calls that it interrupts are not restarted.
class counted_signal {
 public:
  explicit counted_signal(int number) : number_(number) {
    signals_seen.store(0);
    struct sigaction action{};
    action.sa_handler = &count_signal;
    EXPECT_EQ(::sigaction(number, &action, &before_), 0);
  }
  counted_signal(const counted_signal&) = delete;
  counted_signal& operator=(const counted_signal&) = delete;
  ~counted_signal() { EXPECT_EQ(::sigaction(number_, &before_, nullptr), 0); }

 private:
  int number_;
  struct sigaction before_{};
};

/// Interrupts the thread that made it, again and again.
class storm {
 public:
  storm()
      : target_(::pthread_self()), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            ::pthread_kill(target_, SIGUSR1);
            std::this_thread::sleep_for(20us);
          }
        }) {}

 private:
  counted_signal counted_{SIGUSR1};
  pthread_t target_;
  std::jthread thread_;  // last: it ends first
};

/// Everything that waits or transfers once, in a runtime whose owner's thread does all but the
/// ring's work.
TEST(never_lost, signals_that_interrupt_every_call_change_no_outcome) {
  tandem::runtime_options options;
  options.min_threads = 0;
  const storm interrupting;
  for (int round = 0; round < 3; ++round) {
    tandem::run(
        []() -> task<void> {
          tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
          const auto accepts = [](tcp_listener& l) -> task<tcp_stream> {
            co_return co_await l.accept();
          };
          const auto connects = [](endpoint peer) -> task<tcp_stream> {
            co_return co_await tcp_stream::connect(peer);
          };
          auto [server, client] =
              co_await tandem::fork_join(accepts(listener), connects(listener.local_endpoint()));
          const std::vector<std::byte> sent = pattern(2'000'000, 9);
          const auto sends = [](tcp_stream& to, const std::vector<std::byte>& bytes) -> task<void> {
            const auto all = std::span<const std::byte>(bytes);
            co_await to.write_all(all.first(1'000'000));
            const std::array<std::span<const std::byte>, 2> rest{all.subspan(1'000'000, 1),
                                                                 all.subspan(1'000'001)};
            co_await to.write_all(rest);
            to.shutdown();
          };
          co_await with_scope([&](task_scope& scope) -> task<void> {
            scope.spawn(sends(client, sent));
            std::vector<std::byte> got;
            while (true) {
              const tandem::io::leased_buffer some = co_await server.receive();
              if (some.empty()) break;
              got.insert(got.end(), some.bytes().begin(), some.bytes().end());
            }
            EXPECT_EQ(got.size(), sent.size());
            const auto differs = std::mismatch(got.begin(), got.end(), sent.begin(), sent.end());
            EXPECT_TRUE(differs.first == got.end()) << "from byte " << differs.first - got.begin();
          });
          co_await server.write_all(pattern(10, 1));
          server.shutdown();
          EXPECT_EQ((co_await read_to_end(client)).size(), 10U);
          co_await tandem::sleep_for(1ms);
        }(),
        options);
  }
  EXPECT_GT(signals_seen.load(), 0);
}

// On the threads of a runtime SIGPIPE is blocked; this one's owner has it as the program has it.
TEST(never_lost, writing_to_nobody_is_an_error_and_never_a_signal) {
  const counted_signal counted(SIGPIPE);
  tandem::runtime_options options;
  options.min_threads = 0;
  tandem::run(
      []() -> task<void> {
        const std::vector<std::byte> some = pattern(1000, 1);
        const std::array<std::span<const std::byte>, 2> parts{some, some};
        for (int kind = 0; kind < 3; ++kind) {
          for (const bool on_its_thread : {false, true}) {
            connection c = co_await make_connection();
            c.server.abort();
            std::error_code failed;
            if (on_its_thread) co_await tandem::resume_on(c.client.thread_executor());
            while (!failed) {
              if (kind == 0) {
                failed = (co_await as_result(c.client.write(some))).error();
              } else if (kind == 1) {
                failed = (co_await as_result(c.client.write_all(some))).error();
              } else {
                failed = (co_await as_result(c.client.write_all(parts))).error();
              }
            }
            EXPECT_TRUE(failed == std::errc::broken_pipe || failed == std::errc::connection_reset);
            // After the first error the system would send the signal each time.
            EXPECT_EQ((co_await as_result(c.client.write_all(some))).error(),
                      std::errc::broken_pipe);
          }
        }
      }(),
      options);
  EXPECT_EQ(signals_seen.load(), 0);
}

}  // namespace
