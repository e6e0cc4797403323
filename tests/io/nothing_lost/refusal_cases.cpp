// refusal_cases.cpp: sockets, timers and the pool itself. Files and the rest: refusal_cases_more.cpp.
// SPDX-License-Identifier: MIT
#include "io/nothing_lost/refusal_cases.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <new>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/foreign_pair.hpp"
#include "waits.hpp"

namespace tandem::test {

namespace {

using namespace std::chrono_literals;
using io::completion_options;
using io::completion_pool;
using io::endpoint;
using io::leased_buffer;
using io::tcp_listener;
using io::tcp_stream;

using few = refused_program;

/// Both are what a refusal may lead to.
template <class Call>
void refused_or_done(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {}
}

task<void> answer(tcp_stream& server, std::size_t bytes) {
  std::array<std::byte, 64> buffer;
  for (std::size_t left = bytes; left != 0;) {
    const std::size_t n = co_await server.read(buffer);
    if (n == 0) co_return;
    co_await server.write_all(std::span(buffer).first(n));
    left -= n;
  }
}

task<void> ask(tcp_stream& client, std::size_t bytes) {
  const std::vector<std::byte> sent = pattern(bytes, 1);
  std::vector<std::byte> got(bytes);
  co_await client.write_all(sent);
  for (std::size_t have = 0; have < bytes;) {
    const std::size_t n = co_await client.read(std::span(got).subspan(have));
    if (n == 0) co_return;
    have += n;
  }
  EXPECT_EQ(got, sent);
}

task<void> exchange(connection& both) {
  (void)co_await when_all(ask(both.client, 200), answer(both.server, 200));
}

task<void> exchange_here() {
  connection both = co_await make_connection();
  co_await exchange(both);
}

}  // namespace

void start_and_end() {
  refused_program both(few::few_threads(2, 3));
  EXPECT_EQ(both.pool().size(), 2U);
}

void run_tasks() {
  refused_program program(few::few_threads(2, 2));
  const auto child = [](completion_pool& pool) -> task<void> {
    co_await resume_on(pool.executor());
    co_await tandem::yield();
    co_await resume_on(pool.thread(1).executor());
    co_await tandem::yield();
  };
  program.run_at_home([](completion_pool& pool, auto& each) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) scope.spawn(each(pool));
      for (int i = 0; i < 3; ++i) scope.spawn(pool.executor(), each(pool));
      co_return;
    });
  }(program.pool(), child));
}

void wait_for_timers() {
  refused_program program(few::few_threads(1, 1));
  program.run_at_home([]() -> task<void> {
    co_await sleep_for(1ms);
    co_await sleep_for(300us);
    const auto late = co_await as_result(with_timeout(1ms, sleep_for(1h)));
    EXPECT_FALSE(late.has_value());
  }());
  program.run([]() -> task<void> { co_await sleep_for(1ms); }());
}

void exchange_bytes() {
  refused_program program(few::few_threads(2, 2));
  refused_or_done([&] { program.run_at_home(exchange_here()); });
  refused_or_done([&] { program.run(exchange_here()); });
  // Whatever was refused before: now it works.
  program.run(exchange_here());
}

void receive_and_take_incoming() {
  refused_program program(few::few_threads(1, 1));
  const auto body = [](completion_pool& pool) -> task<void> {
    tcp_listener listener = tcp_listener::bind(pool, endpoint::loopback_v4(0));
    for (int round = 0; round < 2; ++round) {
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
      tcp_stream server = co_await listener.incoming();
      const std::vector<std::byte> sent = pattern(600, 2);  // more than the buffers hold at first
      co_await client.write_all(sent);
      client.shutdown();
      std::vector<leased_buffer> all;
      std::size_t have = 0;
      for (int failures = 0; true;) {
        auto came = co_await as_result(server.receive());
        if (!came) {
          // Told once; then it goes on where it was.
          EXPECT_EQ(came.error(), std::errc::not_enough_memory);
          if (++failures == 2) std::move(came).value();
          continue;
        }
        leased_buffer got = std::move(came).value();
        if (got.empty()) break;
        EXPECT_TRUE(std::equal(got.bytes().begin(), got.bytes().end(),
                               sent.begin() + static_cast<std::ptrdiff_t>(have)));
        have += got.size();
        if (all.size() < 6) all.push_back(std::move(got));
      }
      EXPECT_EQ(have, sent.size());
    }
  };
  program.run_at_home(body(program.pool()));
}

void bring_many_homes_at_once() {
  constexpr int homes = 12;
  refused_program program(few::few_threads(1, 1));
  const foreign_pair pair;
  std::atomic<int> ended{0};
  int failed = 0;
  refused_or_done([&] {
    std::vector<strand> strands;
    for (int i = 0; i < homes; ++i) strands.emplace_back(program->workers());
    std::vector<join_handle<void>> all;
    all.reserve(homes);
    const auto wait = [](plain_socket socket, std::atomic<int>& count) -> task<void> {
      co_await io::readable(socket);
      ++count;
    };
    std::exception_ptr failure;
    try {
      for (strand& each : strands) all.push_back(program->spawn(each, wait(pair.ours(), ended)));
      // They are with the backend before they become ready, together.
      while (program.pool().stats().submitted < homes) std::this_thread::yield();
    } catch (...) {
      failure = std::current_exception();
    }
    pair.peer_writes("x");
    for (auto& each : all) {
      ++failed;
      refused_or_done([&] {
        each.wait();
        --failed;
      });
    }
    if (failure != nullptr) std::rethrow_exception(failure);
    EXPECT_EQ(ended + failed, homes);
    EXPECT_LE(failed, 1);
  });
}

namespace {

/// A client that does not use tandem.
class plain_client {
 public:
  explicit plain_client(std::uint16_t port)
      : socket_(open_plain(socket_kind::stream_v4)),
        is_connected_(connect_plain(socket_, port) == std::errc{}) {}
  plain_client(plain_client&& other) noexcept
      : socket_(std::exchange(other.socket_, io::no_descriptor)),
        is_connected_(other.is_connected_) {}
  ~plain_client() {
    if (socket_ != io::no_descriptor) close_plain(socket_);
  }

  bool is_connected() const noexcept { return is_connected_; }
  /// Waits for the answer, or the end. @returns whether it was answered
  bool ask() const noexcept {
    if (!is_connected_ || send_plain(socket_, "question", 8) != 8) return false;
    std::array<char, 8> buffer;
    for (std::size_t have = 0; have < buffer.size();) {
      const std::ptrdiff_t count =
          receive_plain(socket_, buffer.data() + have, buffer.size() - have);
      if (count <= 0) return false;
      have += static_cast<std::size_t>(count);
    }
    return true;
  }

 private:
  plain_socket socket_;
  bool is_connected_;
};

}  // namespace

void serve_clients() {
  constexpr int clients = 3;
  refused_program program(few::few_threads(1, 1));
  std::atomic<int> told{0};
  tcp_listener listener = tcp_listener::bind(program.pool(), endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  io::serve_options options;
  options.max_connections = 2;
  options.on_handler_error = [&](const std::exception_ptr&) { ++told; };
  options.on_accept_error = [&](const std::error_code&, std::chrono::milliseconds) { ++told; };
  auto server = program->spawn(program.pool().thread(0).executor(),
                               io::serve(std::move(listener), echo, options));
  int answered = 0;
  for (int i = 0; i < clients; ++i) answered += plain_client(port).ask() ? 1 : 0;
  server.cancel();
  bool failed = false;
  try {
    server.wait();
  } catch (const std::bad_alloc&) {
    failed = true;
  } catch (const std::system_error&) {
    failed = true;
  }
  EXPECT_TRUE(answered == clients || told > 0 || failed) << answered;
}

void accept_a_burst() {
  constexpr int burst = 24;  // more than a queue has places of its own, in one batch
  refused_program program;
  tcp_listener listener = tcp_listener::bind(program.pool(), endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  const auto next = [](tcp_listener& from) -> task<tcp_stream> {
    co_return co_await from.incoming();
  };
  std::vector<plain_client> clients;
  clients.reserve(burst + 1);
  clients.emplace_back(port);
  (void)program.run_at_home(next(listener));  // it accepts without being asked from now on
  flag come;
  auto keeper =
      program->spawn(program.pool().thread(0).executor(), [](const flag& all) -> task<void> {
        all.wait(false);  // it keeps the thread from its ring
        co_return;
      }(come));
  for (int i = 0; i < burst; ++i) clients.emplace_back(port);
  come = true;
  keeper.wait();
  int taken = 0;
  int told = 0;
  while (taken + told < burst) {
    try {
      (void)program.run_at_home(next(listener));
      ++taken;
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::not_enough_memory);
      if (++told == 2) break;
    }
  }
  EXPECT_EQ(taken + told, burst);
  for (const plain_client& each : clients) EXPECT_TRUE(each.is_connected());
}

void resize_and_go_on() {
  refused_program program(few::few_threads(1, 3));
  completion_pool& pool = program.pool();
  const auto body = [](completion_pool& all, std::atomic<bool>& moved) -> task<void> {
    connection both = co_await make_connection();
    connection other = co_await make_connection();
    const auto wait = [](connection& each, std::atomic<bool>& open) -> task<void> {
      while (!open) co_await tandem::yield();
      const auto byte = std::byte{7};
      co_await each.client.write_all(std::span(&byte, 1));
    };
    const auto read = [](connection& each) -> task<void> {
      std::byte byte{};
      EXPECT_EQ(co_await each.server.read(std::span(&byte, 1)), 1U);
    };
    const auto receive = [](connection& each) -> task<void> {
      auto got = co_await as_result(each.server.receive());
      if (!got && !got.is_cancelled()) {
        // Told once; then it goes on where it was.
        EXPECT_EQ(got.error(), std::errc::not_enough_memory);
        got = co_await as_result(each.server.receive());
      }
      if (got.is_cancelled()) co_return;  // one of the other three was refused
      EXPECT_EQ(std::move(got).value().size(), 1U);
    };
    (void)all;
    (void)co_await when_all(wait(both, moved), read(both), wait(other, moved), receive(other));
  };
  std::atomic<bool> moved{false};
  auto running = program->spawn(body(pool, moved));
  for (const unsigned wanted : {2U, 3U, 1U, 2U}) {
    const unsigned before = pool.size();
    try {
      pool.resize(wanted);
      EXPECT_EQ(pool.size(), wanted);
    } catch (const std::bad_alloc&) {
      EXPECT_GE(pool.size(), before);
    } catch (const std::system_error&) {
      EXPECT_GE(pool.size(), before);
    }
  }
  moved = true;
  refused_or_done([&] { running.wait(); });
  program.run(exchange_here());
}

void grow_by_itself() {
  completion_options options = few::few_threads(1, 2);
  options.adaptive = true;
  options.adaptive.period = 4ms;
  options.adaptive.looks = 4;
  options.adaptive.stalled_for = 1ms;
  options.adaptive.keep_alive = 2ms;
  refused_program program(options);
  // Refused once, the thread comes after keep_alive.
  program.run_at_home([](completion_pool& pool) -> task<void> {
    while (pool.size() != 2) std::this_thread::yield();
    co_return;
  }(program.pool()));
  program.run(exchange_here());
}

void end_with_open_connections() {
  refused_program program(few::few_threads(2, 2));
  std::vector<connection> left;
  left.reserve(2);
  tcp_listener listener = tcp_listener::bind(program.pool(), endpoint::loopback_v4(0));
  refused_or_done([&] {
    program.run([](std::vector<connection>& all) -> task<void> {
      for (int i = 0; i < 2; ++i) all.push_back(co_await make_connection());
      for (connection& each : all) {
        co_await each.client.write_all(bytes_of("some"));
        (void)co_await each.server.receive();
      }
    }(left));
  });
  refused_or_done([&] {
    program.run([](tcp_listener& open) -> task<void> {
      tcp_stream client = co_await tcp_stream::connect(open.local_endpoint());
      (void)co_await open.incoming();
    }(listener));
  });
  // Tasks that wait, and are stopped by the end.
  for (connection& each : left) {
    refused_or_done([&] {
      (void)program->spawn([](tcp_stream& from) -> task<void> {
        (void)co_await as_result(from.receive());
      }(each.server));
    });
  }
  program->shutdown();
}

}  // namespace tandem::test
