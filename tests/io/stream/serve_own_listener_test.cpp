// serve_own_listener_test.cpp: servers whose listeners fail, stop themselves, never wait or throw early.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/stream/any_stream_support.hpp"
#include "io/stream/serve_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::any_stream;
using tandem::io::serve;
using tandem::io::serve_options;
using tandem::io::serve_options_for;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::make_memory_connection;
using tandem::test::memory_listener;
using tandem::test::memory_stream;
using tandem::test::on_every_home;
using tandem::test::task_stream;

/// What each accept() of a scripted_listener does, one after the other; then it is closed.
enum class script { gives, is_too_slow, is_cancelled, has_no_memory, is_out_of_order };

class scripted_listener {
 public:
  explicit scripted_listener(std::vector<script> all) : all_(std::move(all)) {}

  task<task_stream> accept() {
    if (at_ == all_.size()) {
      throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor));
    }
    switch (all_[at_++]) {
      case script::gives: break;
      case script::is_too_slow: co_await tandem::with_timeout(1ms, tandem::sleep_for(1h)); break;
      case script::is_cancelled: throw tandem::operation_cancelled(tandem::stop_reason::user);
      case script::has_no_memory: throw std::bad_alloc();
      case script::is_out_of_order: throw std::runtime_error("out of order");
    }
    co_return make_memory_connection<task_stream>().first;
  }

 private:
  std::vector<script> all_;
  std::size_t at_ = 0;
};

TEST(serve_own_listener, an_accept_that_stops_itself_fails_and_the_next_one_goes_on) {
  on_every_home([]() -> task<void> {
    for (const std::size_t listeners : {1U, 3U}) {
      std::atomic<int> served{0};
      std::atomic<int> told{0};
      serve_options_for<task_stream> options;
      options.first_pause = options.longest_pause = 1ms;
      options.on_accept_error = [&told](const std::error_code&, std::chrono::milliseconds) {
        ++told;
      };
      const auto handler = [&served](any_stream) -> task<void> {
        ++served;
        co_return;
      };
      const std::vector<script> all{
          script::gives, script::is_too_slow,   script::gives, script::is_cancelled,
          script::gives, script::has_no_memory, script::gives};
      std::vector<scripted_listener> them(listeners, scripted_listener(all));
      const auto ended = co_await as_result(serve(std::move(them), handler, options));
      EXPECT_EQ(ended.error(), std::errc::bad_file_descriptor);
      EXPECT_GE(served, 4);
      EXPECT_GE(told, 3);
    }
  });
}

TEST(serve_own_listener, one_out_of_order_ends_the_server_after_what_it_had_accepted) {
  on_every_home([]() -> task<void> {
    std::atomic<int> served{0};
    const auto handler = [&served](any_stream) -> task<void> {
      co_await tandem::sleep_for(5ms);
      ++served;
    };
    const std::vector<script> all{script::gives, script::gives, script::is_out_of_order};
    const auto ended = co_await as_result(serve(scripted_listener(all), handler));
    EXPECT_FALSE(ended);
    EXPECT_THROW(std::rethrow_exception(ended.exception()), std::runtime_error);
    EXPECT_EQ(served, 2);
  });
}

/// There is always another one.
class endless_listener {
 public:
  task<tcp_stream> accept() { co_return tcp_stream(); }
};

TEST(serve_own_listener, one_that_never_waits_hears_of_the_stop_and_keeps_nobody_from_the_thread) {
  on_every_home([]() -> task<void> {
    std::atomic<int> served{0};
    tandem::event enough;
    const auto handler = [&](any_stream) -> task<void> {
      if (++served == 200) enough.set();
      co_return;
    };
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(serve(endless_listener(), handler));
      co_await enough.wait();
      scope.request_stop();
    });
    EXPECT_GE(served, 200);
  });
}

/// Gives tandem's own awaiter, but may throw instead.
class strict_listener {
 public:
  explicit strict_listener(int& calls)
      : calls_(&calls), inner_(tcp_listener::bind(tandem::io::endpoint::loopback_v4(0))) {}
  tandem::io::accept_awaiter accept() {
    if (++*calls_ == 2) throw std::runtime_error("no more today");
    return inner_.accept();
  }
  tandem::io::endpoint where() const { return inner_.local_endpoint(); }

 private:
  int* calls_;
  tcp_listener inner_;
};

TEST(serve_own_listener, what_its_call_throws_is_the_servers_failure) {
  on_every_home([]() -> task<void> {
    int calls = 0;
    strict_listener listener(calls);
    const tandem::io::endpoint here = listener.where();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tandem::io::endpoint there) -> task<void> {
        tcp_stream client = co_await tcp_stream::connect(there);
        std::array<std::byte, 4> room;
        EXPECT_EQ(co_await client.read(room), 0U);
      }(here));
      const auto handler = [](tcp_stream) -> task<void> { co_return; };
      const auto ended = co_await as_result(serve(std::move(listener), handler));
      EXPECT_FALSE(ended);
      EXPECT_THROW(std::rethrow_exception(ended.exception()), std::runtime_error);
    });
    EXPECT_EQ(calls, 2);
  });
}

/// A connection that cannot be moved out of its source, sometimes.
class awkward_stream {
 public:
  awkward_stream(std::shared_ptr<int> moves, int throws_at)
      : moves_(std::move(moves)), throws_at_(throws_at) {}
  awkward_stream(awkward_stream&& other) : throws_at_(other.throws_at_) {  // NOLINT
    if (++*other.moves_ == throws_at_) throw std::runtime_error("move");
    moves_ = other.moves_;
  }
  task<std::size_t> read(std::span<std::byte>) { co_return 0; }
  task<std::size_t> write(std::span<const std::byte> bytes) { co_return bytes.size(); }
  task<void> write_all(std::span<const std::byte>) { co_return; }
  void shutdown() {}
  void close() {}

 private:
  std::shared_ptr<int> moves_;
  int throws_at_;
};

class awkward_listener {
 public:
  explicit awkward_listener(int throws_at) : throws_at_(throws_at) {}
  task<awkward_stream> accept() {
    if (given_++ == 3) {
      throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor));
    }
    co_return awkward_stream(std::make_shared<int>(0), throws_at_);
  }

 private:
  int throws_at_;
  int given_ = 0;
};

TEST(serve_own_listener, a_connection_whose_move_throws_is_closed_and_nothing_is_lost) {
  on_every_home([]() -> task<void> {
    for (int throws_at = 1; throws_at < 8; ++throws_at) {
      for (const std::size_t limit : {0U, 1U}) {
        std::atomic<int> served{0};
        serve_options_for<awkward_stream> options;
        options.max_connections = limit;
        options.on_handler_error = [](const std::exception_ptr&) {};
        options.on_accept_error = [](const std::error_code&, std::chrono::milliseconds) {};
        const auto handler = [&served](any_stream) -> task<void> {
          ++served;
          co_return;
        };
        const auto ended =
            co_await tandem::with_timeout(20s, [](auto server) -> task<tandem::result<void>> {
              co_return co_await as_result(std::move(server));
            }(serve(awkward_listener(throws_at), handler, options)));
        EXPECT_FALSE(ended);
        EXPECT_LE(served, 3);
      }
    }
  });
}

/// Accepts streams that are any_streams already, from a memory_listener; stopped at every moment.
class any_listener {
 public:
  task<any_stream> accept() { co_return any_stream(co_await inner_.accept()); }
  auto here() const { return inner_.here(); }

 private:
  memory_listener<memory_stream> inner_;
};

TEST(serve_own_listener, stopped_at_any_moment_it_ends) {
  on_every_home([]() -> task<void> {
    for (int round = 0; round < 60; ++round) {
      any_listener listener;
      const auto here = listener.here();
      serve_options_for<any_stream> options;
      options.drain_timeout = 1ms;
      options.max_connections = round % 3 == 0 ? 2 : 0;
      if (round % 2 == 0) {
        options.max_connections = 2;
        options.max_over_limit = 1;
        options.over_limit = [](any_stream) -> task<void> { co_await tandem::sleep_for(1h); };
      }
      std::vector<memory_stream> peers;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(serve(std::move(listener), tandem::test::echo_any, options));
        try {
          for (int i = 0; i < 5; ++i) {
            peers.push_back(here.connect());
            if (round % 4 == 0) co_await tandem::yield();
          }
        } catch (const std::system_error&) {}
        if (round != 0) co_await tandem::sleep_for(std::chrono::microseconds(round * 20));
        scope.request_stop();
      });
    }
  });
}

}  // namespace
