// select_io_test.cpp: connections, bytes and readiness as branches of a select: none is lost when another wins.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <tandem/as_result.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/select.hpp>
#include <tandem/selector.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stopped.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::channel;
using tandem::event;
using tandem::select;
using tandem::selector;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;

/// A stream of numbers, so that whoever reads it sees what is missing.
task<void> write_numbers(tcp_stream& to, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    co_await to.write_all(std::as_bytes(std::span(&i, 1)));
    if (i % 7 == 0) co_await tandem::yield();
  }
  to.shutdown(tandem::io::shutdown_kind::write);
}

/// Takes what comes, and expects the numbers from 0 on.
class number_reader {
 public:
  void take(std::span<const std::byte> bytes) {
    for (const std::byte each : bytes) {
      reinterpret_cast<std::byte*>(&number_)[at_++] = each;  // NOLINT
      if (at_ < sizeof number_) continue;
      at_ = 0;
      EXPECT_EQ(number_, seen_);
      ++seen_;
    }
  }
  std::uint32_t seen() const noexcept { return seen_; }

 private:
  std::uint32_t number_ = 0;
  std::uint32_t seen_ = 0;
  std::size_t at_ = 0;
};

struct connected {
  tcp_stream client;
  tcp_stream server;
};
task<connected> connect_both(tcp_listener& listener) {
  auto connecting = tandem::spawn([](endpoint where) -> task<tcp_stream> {
    co_return co_await tcp_stream::connect(where);
  }(listener.local_endpoint()));
  connected made;
  made.server = co_await listener.accept();
  made.client = co_await connecting;
  co_return made;
}

TEST(select_io, no_byte_is_lost_whichever_branch_wins) {
  on_every_home([]() -> task<void> {
    constexpr std::uint32_t numbers = 3000;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connected both = co_await connect_both(listener);
    channel<int> other(4);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(write_numbers(both.client, numbers));
      scope.spawn([](channel<int>& to) -> task<void> {
        for (int i = 0; i < 500; ++i) co_await to.send(i);
      }(other));
      number_reader reader;
      int others = 0;
      for (bool is_over = false; !is_over || others < 500;) {
        auto hit = co_await select(both.server.receive(), other.receive(),
                                   tandem::sleep_for(std::chrono::microseconds(others % 90)));
        if (hit.index() == 0) {
          is_over = hit.get<0>().empty();
          reader.take(hit.get<0>().bytes());
        } else if (hit.index() == 1) {
          EXPECT_EQ(hit.get<1>(), others++);
        }
      }
      EXPECT_EQ(reader.seen(), numbers);
    });
  });
}

TEST(select_io, no_byte_is_lost_when_selects_are_stopped) {
  on_every_home([]() -> task<void> {
    constexpr std::uint32_t numbers = 2000;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connected both = co_await connect_both(listener);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(write_numbers(both.client, numbers));
      number_reader reader;
      event never;
      const auto once = [](tcp_stream& from, event& no, number_reader& into) -> task<bool> {
        auto hit = co_await select(from.receive(), no.wait());
        into.take(hit.get<0>().bytes());
        co_return hit.get<0>().empty();
      };
      for (int round = 0;; ++round) {
        auto ended = co_await tandem::as_result(tandem::with_timeout(
            std::chrono::microseconds(round % 50), once(both.server, never, reader)));
        if (ended.has_value() && ended.value()) break;
      }
      EXPECT_EQ(reader.seen(), numbers);
    });
  });
}

/// Connections, each of which says its number; both ways to accept. @returns how many came
template <class Accept>
task<std::uint32_t> accept_numbers(tcp_listener& listener, std::uint32_t count, Accept accept) {
  std::vector<char> seen(count);
  std::uint32_t came = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn([](endpoint where, std::uint32_t all) -> task<void> {
      for (std::uint32_t i = 0; i < all; ++i) {
        tcp_stream client = co_await tcp_stream::connect(where);
        co_await client.write_all(std::as_bytes(std::span(&i, 1)));
        client.shutdown(tandem::io::shutdown_kind::write);
      }
    }(listener.local_endpoint(), count));
    for (int turn = 0; came < count; ++turn) {
      tcp_stream got = co_await accept(listener, turn);
      if (!got.is_open()) continue;
      ++came;
      std::uint32_t number = count;
      const std::vector<std::byte> bytes = co_await tandem::test::read_to_end(got);
      EXPECT_EQ(bytes.size(), sizeof number);
      if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
      if (number >= count || std::exchange(seen[number], char{1}) != 0) {
        ADD_FAILURE() << "connection " << number << " came twice";
      }
    }
  });
  co_return came;
}

TEST(select_io, no_connection_is_lost_whichever_branch_wins) {
  on_every_home([]() -> task<void> {
    constexpr std::uint32_t count = 60;
    const auto take = [](tcp_listener& listener, int turn) -> task<tcp_stream> {
      auto hit = co_await select(listener.accept(),
                                 tandem::sleep_for(std::chrono::microseconds(turn % 80)));
      if (hit.index() == 0) co_return std::move(hit).get<0>();
      co_return tcp_stream();
    };
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    EXPECT_EQ(co_await accept_numbers(listener, count, take), count);
    const auto take_ahead = [](tcp_listener& from, int turn) -> task<tcp_stream> {
      auto hit =
          co_await select(from.incoming(), tandem::sleep_for(std::chrono::microseconds(turn % 80)));
      if (hit.index() == 0) co_return std::move(hit).get<0>();
      co_return tcp_stream();
    };
    tcp_listener other = tcp_listener::bind(endpoint::loopback_v4(0));
    EXPECT_EQ(co_await accept_numbers(other, count, take_ahead), count);
  });
}

TEST(select_io, an_accept_that_lost_and_one_by_itself_take_turns) {
  on_every_home([]() -> task<void> {
    constexpr std::uint32_t count = 40;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const auto take = [](tcp_listener& from, int turn) -> task<tcp_stream> {
      if (turn % 3 == 0) co_return co_await from.accept();
      auto hit = co_await select(from.accept(), tandem::sleep_for(0us));
      if (hit.index() == 0) co_return std::move(hit).get<0>();
      co_return tcp_stream();
    };
    EXPECT_EQ(co_await accept_numbers(listener, count, take), count);
  });
}

TEST(select_io, an_accept_is_taken_beside_a_branch_that_is_always_ready) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    auto connecting = tandem::spawn([](endpoint where) -> task<tcp_stream> {
      co_return co_await tcp_stream::connect(where);
    }(listener.local_endpoint()));
    const tcp_stream client = co_await connecting;
    event always(true);
    int turns = 0;
    while (true) {
      auto hit = co_await select(always.wait(), listener.accept());
      ++turns;
      if (hit.index() == 1) break;
    }
    EXPECT_LE(turns, 4);
  });
}

TEST(select_io, a_kept_connection_is_closed_with_its_listener) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
      event always(true);
      for (int i = 0; i < 2; ++i) {
        (void)co_await select(tandem::biased, tandem::as_result(always.wait()), listener.accept());
      }
    }
    while (open_descriptors() > before) co_await tandem::sleep_for(1ms);
  });
}

TEST(select_io, readiness_takes_nothing) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connected both = co_await connect_both(listener);
    channel<int> other(1);
    const auto descriptor = both.server.native_handle();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](channel<int>& to, tcp_stream& client) -> task<void> {
        co_await tandem::sleep_for(2ms);
        co_await to.send(1);
        co_await tandem::sleep_for(2ms);
        const std::byte one{1};
        co_await client.write_all(std::span(&one, 1));
      }(other, both.client));
      auto first = co_await select(tandem::io::readable(descriptor), other.receive());
      EXPECT_EQ(first.index(), 1U);
      auto second = co_await select(tandem::io::readable(descriptor), other.receive());
      EXPECT_EQ(second.index(), 0U);
      auto again = co_await select(other.receive(), tandem::io::readable(descriptor));
      EXPECT_EQ(again.index(), 1U);
      auto ready = co_await select(tandem::io::writable(descriptor), other.receive());
      EXPECT_EQ(ready.index(), 0U);
      std::byte got{};
      EXPECT_EQ(co_await both.server.read(std::span(&got, 1)), 1U);
      EXPECT_EQ(got, std::byte{1});
    });
  });
}

TEST(select_io, a_stop_ends_all_waits) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connected both = co_await connect_both(listener);
    const auto wait = [](tcp_listener& from, tcp_stream& stream) -> task<void> {
      (void)co_await select(from.accept(), stream.receive(), tandem::sleep_for(1h),
                            tandem::io::readable(stream.native_handle()));
    };
    for (int i = 0; i < 30; ++i) {
      auto ended = co_await tandem::as_result(
          tandem::with_timeout(std::chrono::microseconds(i * 20), wait(listener, both.server)));
      EXPECT_TRUE(ended.is_cancelled());
      auto handled = co_await tandem::as_result(tandem::with_timeout(
          std::chrono::microseconds(i * 20), [](tcp_listener& from) -> task<std::size_t> {
            auto hit = co_await select(from.accept(), tandem::stopped());
            co_return hit.index();
          }(listener)));
      EXPECT_TRUE(handled.has_value() && handled.value() == 1U);
    }
  });
}

TEST(select_io, a_selector_over_connections_and_bytes) {
  on_every_home([]() -> task<void> {
    constexpr std::uint32_t numbers = 1000;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connected both = co_await connect_both(listener);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(write_numbers(both.client, numbers));
      scope.spawn([](endpoint where) -> task<void> {
        for (int i = 0; i < 20; ++i) {
          (void)co_await tcp_stream::connect(where);
          co_await tandem::yield();
        }
      }(listener.local_endpoint()));
      number_reader reader;
      int connections = 0;
      selector next(both.server.receive(), listener.accept());
      for (bool is_over = false; !is_over || connections < 20;) {
        auto hit = co_await next.next();
        if (hit.index() == 1) {
          ++connections;
          continue;
        }
        is_over = hit.get<0>().empty();
        reader.take(hit.get<0>().bytes());
      }
      EXPECT_EQ(reader.seen(), numbers);
      EXPECT_EQ(connections, 20);
    });
  });
}

}  // namespace
