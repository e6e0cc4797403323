// mosquitto_adapter_end_test.cpp: a broker that pauses, is killed, or comes back, and stops at every wait of the adapter.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <tandem/blocking.hpp>
#include <tandem/retry.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "mosquitto_support.hpp"
#include "sanitized.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using tandem::as_result;
using tandem::task;

TEST_F(mosquitto_adapter, all_that_wait_are_told_when_the_broker_is_killed) {
  on_every_home([this]() -> task<void> {
    const auto body = [](mosquitto_client& client, message_stream& messages) -> task<void> {
      tandem::result<void> published;
      bool has_ended = false;
      const auto publishing = [&]() -> task<void> {
        published = co_await as_result(client.publish("t/x", "x", 1));
      };
      const auto listening = [&]() -> task<void> {
        has_ended = !(co_await messages.next()).has_value();
      };
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        co_await tandem::blocking([] { broker().pause(); });
        scope.spawn(publishing);
        scope.spawn(listening);
        co_await tandem::yield();
        co_await tandem::blocking([] { broker().kill(); });
        co_await scope.join();
      };
      co_await tandem::with_scope(all);
      EXPECT_TRUE(is_loss(published.error())) << published.error().message();
      EXPECT_TRUE(has_ended);
      const auto later = co_await as_result(client.publish("t/x", "x", 1));
      EXPECT_EQ(later.error(), mosquitto_code(MOSQ_ERR_NO_CONN));
      co_await tandem::blocking([] { broker().start(); });
    };
    co_await with_listener(port(), body);
  });
}

TEST_F(mosquitto_adapter, after_a_restart_another_client_goes_on) {
  on_every_home([this]() -> task<void> {
    int sessions = 0;
    const auto body = [&](mosquitto_client& client, message_stream& messages) -> task<void> {
      if (++sessions == 1) {
        co_await tandem::blocking([] {
          broker().kill();
          broker().start();
        });
      }
      co_await client.publish("t/x", "session " + std::to_string(sessions), 1);
      auto message = co_await messages.next();
      EXPECT_TRUE(message.has_value() && message->second == "session 2");
    };
    const auto session = [&]() -> task<void> { co_await with_listener(port(), body); };
    auto options = tandem::retry_options().attempts(5).initial_delay(1ms);
    co_await tandem::retry(session, options);
    EXPECT_EQ(sessions, 2);
  });
}

TEST_F(mosquitto_adapter, what_is_given_up_at_a_broker_that_pauses_arrives_later) {
  on_every_home([this]() -> task<void> {
    const auto body = [this](mosquitto_client& client, message_stream& messages) -> task<void> {
      co_await tandem::blocking([] { broker().pause(); });
      const auto given_up =
          co_await as_result(tandem::with_timeout(5ms, client.publish("t/x", "first", 1)));
      EXPECT_EQ(given_up.reason(), tandem::stop_reason::deadline);
      const auto connecting = [this](mosquitto_client& other) -> task<void> {
        co_await other.connect("127.0.0.1", port(), no_pings);
      };
      const auto not_connected =
          co_await as_result(tandem::with_timeout(5ms, with_client(connecting, "other")));
      EXPECT_EQ(not_connected.reason(), tandem::stop_reason::deadline);
      co_await tandem::blocking([] { broker().resume(); });
      co_await client.publish("t/x", "second", 1);
      auto first = co_await messages.next();
      auto second = co_await messages.next();
      EXPECT_TRUE(first.has_value() && first->second == "first");
      EXPECT_TRUE(second.has_value() && second->second == "second");
    };
    co_await with_listener(port(), body);
  });
}

// Each round is stopped at some moment; what follows finds a client that is usable, or says why not.
TEST_F(mosquitto_adapter, a_stop_at_any_wait_leaves_a_client_that_is_usable_or_not_connected) {
  std::array<int, 10> stopped_at{};  // by how many waits had ended; the last one: not stopped
  int usable = 0;
  int unconnected = 0;
  on_every_home([&, this]() -> task<void> {
    std::size_t ended = 0;
    const auto steps = [&, this](mosquitto_client& client) -> task<void> {
      co_await client.connect("127.0.0.1", port(), no_pings);
      ++ended;
      const auto use = [&](message_stream& messages) -> task<void> {
        co_await client.subscribe("t/#", 2);
        ++ended;
        for (int quality = 0; quality <= 2; ++quality) {
          co_await client.publish("t/x", "x", quality);
          ++ended;
          (void)co_await messages.next();
          ++ended;
        }
      };
      co_await with_callbacks(client.messages(10, tandem::overflow_policy::fail), use);
    };
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds(200)); ++seed) {
      const auto round = [&](mosquitto_client& client) -> task<void> {
        const std::chrono::microseconds moment(mix(seed) % 2000);
        ended = 0;
        const auto got = co_await as_result(tandem::with_timeout(moment, steps(client)));
        EXPECT_TRUE(got.has_value() || got.is_cancelled()) << got.error().message();
        ++stopped_at[got ? stopped_at.size() - 1 : ended];
        const auto after = co_await as_result(client.publish("t/after", "x", 1));
        ++(after ? usable : unconnected);
        EXPECT_TRUE(after || after.error() == mosquitto_code(MOSQ_ERR_NO_CONN));
      };
      co_await with_client(round);
    }
  });
  std::printf("%d usable, %d not connected; stopped after", usable, unconnected);
  for (const int each : stopped_at) std::printf(" %d", each);
  std::printf("\n");
}

TEST_F(mosquitto_adapter, a_client_may_go_with_messages_under_way) {
  on_every_home([this]() -> task<void> {
    const auto body = [](mosquitto_client& client, message_stream& /*messages*/) -> task<void> {
      co_await tandem::blocking([] { broker().pause(); });
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 100; ++i)
          scope.spawn(client.publish("t/x", std::string(10'000, 'x'), i % 3));
        co_await tandem::yield();
        scope.request_stop();
      };
      co_await tandem::with_scope(all);
      co_await tandem::blocking([] { broker().resume(); });
    };
    co_await with_listener(port(), body);
  });
}

}  // namespace
