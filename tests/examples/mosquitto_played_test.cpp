// mosquitto_played_test.cpp: the adapter of examples/migrations/mosquitto beside a broker that refuses, is slow, or sends garbage.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <random>
#include <tandem/event.hpp>
#include <tandem/timeout.hpp>

#include "mosquitto_support.hpp"
#include "sanitized.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using tandem::as_result;
using tandem::task;
using tandem::io::tcp_stream;

constexpr int disconnect_packet = 0xE0;

// A broker of the test's own: these need no installed one.
class mosquitto_played : public ::testing::Test {
 protected:
  void SetUp() override { mosquitto_lib_init(); }
  void TearDown() override { mosquitto_lib_cleanup(); }
};

TEST_F(mosquitto_played, a_broker_that_refuses_is_told_in_the_words_of_the_library) {
  on_every_home([]() -> task<void> {
    for (int code = 1; code <= 5; ++code) {
      const auto play = [code](tcp_stream& stream) -> task<void> {
        (void)co_await read_packet(stream);
        const std::vector<unsigned char> refused{0x20, 2, 0, static_cast<unsigned char>(code)};
        co_await stream.write_all(bytes_of_packet(refused));
        co_await read_until_end(stream);
      };
      const auto body = [code](int port) -> task<void> {
        const auto connecting = [&](mosquitto_client& client) -> task<void> {
          const auto connected = co_await as_result(client.connect("127.0.0.1", port, no_pings));
          EXPECT_EQ(connected.error(), mosquitto_code(-code));
          EXPECT_EQ(connected.error().message(), mosquitto_connack_string(code));
          const auto later = co_await as_result(client.publish("t", "x", 1));
          EXPECT_EQ(later.error(), mosquitto_code(MOSQ_ERR_NO_CONN));
        };
        co_await with_client(connecting);
      };
      co_await beside_played(play, body);
    }
  });
}

TEST_F(mosquitto_played, a_subscription_that_is_not_granted_is_denied) {
  on_every_home([]() -> task<void> {
    // Refused; nothing said of it at all.
    const std::vector<std::vector<unsigned char>> answers{{0x90, 3, 0, 1, 0x80}, {0x90, 2, 0, 1}};
    const std::vector<int> codes{MOSQ_ERR_ACL_DENIED, MOSQ_ERR_PROTOCOL};
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& answer = answers[i];
      const int code = codes[i];
      const auto play = [&](tcp_stream& stream) -> task<void> {
        (void)co_await read_packet(stream);
        co_await stream.write_all(bytes_of_packet(accepted));
        (void)co_await read_packet(stream);
        co_await stream.write_all(bytes_of_packet(answer));
        co_await read_until_end(stream);
      };
      const auto body = [code](int port) -> task<void> {
        const auto connecting = [&](mosquitto_client& client) -> task<void> {
          co_await client.connect("127.0.0.1", port, no_pings);
          const auto subscribed = co_await as_result(client.subscribe("t", 1));
          EXPECT_EQ(subscribed.error(), mosquitto_code(code));
        };
        co_await with_client(connecting);
      };
      co_await beside_played(play, body);
    }
  });
}

TEST_F(mosquitto_played, answers_that_come_byte_by_byte_are_answers) {
  on_every_home([]() -> task<void> {
    const auto play = [](tcp_stream& stream) -> task<void> {
      // CONNACK; SUBACK of number 1; "x" under "t"; PUBACK of number 2.
      const std::vector<std::vector<unsigned char>> answers{
          accepted, {0x90, 3, 0, 1, 1}, {0x30, 4, 0, 1, 't', 'x', 0x40, 2, 0, 2}};
      for (const auto& answer : answers) {
        (void)co_await read_packet(stream);
        for (const unsigned char& each : answer) {
          co_await stream.write_all(std::as_bytes(std::span(&each, 1)));
        }
      }
      co_await read_until_end(stream);
    };
    const auto body = [](int port) -> task<void> {
      const auto listening = [](mosquitto_client& client, message_stream& messages) -> task<void> {
        co_await client.publish("t", "x", 1);
        auto message = co_await messages.next();
        EXPECT_TRUE(message.has_value() && *message == mqtt_message("t", "x"));
      };
      co_await with_listener(port, listening);
    };
    co_await beside_played(play, body);
  });
}

// However it goes: in order, or stopped at a broker that says nothing.
TEST_F(mosquitto_played, a_client_that_goes_says_so) {
  on_every_home([]() -> task<void> {
    for (const bool is_silent : {false, true}) {
      std::vector<int> heard;
      tandem::event has_gone;
      const auto play = [&](tcp_stream& stream) -> task<void> {
        heard.push_back(co_await read_packet(stream));
        if (!is_silent) co_await stream.write_all(bytes_of_packet(accepted));
        heard.push_back(co_await read_packet(stream));
        heard.push_back(co_await read_packet(stream));
        has_gone.set();
      };
      const auto body = [&](int port) -> task<void> {
        const auto connecting = [&](mosquitto_client& client) -> task<void> {
          const auto connected = co_await as_result(
              tandem::with_timeout(is_silent ? std::chrono::milliseconds(5) : std::chrono::hours(1),
                                   client.connect("127.0.0.1", port, no_pings)));
          EXPECT_EQ(connected.has_value(), !is_silent);
        };
        co_await with_client(connecting);
        co_await has_gone.wait();
      };
      co_await beside_played(play, body);
      EXPECT_EQ(heard, (std::vector<int>{0x10, disconnect_packet, 0}));
    }
  });
}

/// Any bytes, or what looks like a packet, of which the kind, the length and the content are anything.
std::vector<unsigned char> garbage(std::mt19937_64& random) {
  std::vector<unsigned char> bytes;
  for (std::uint64_t packets = 1 + random() % 4; packets > 0; --packets) {
    const std::uint64_t size = random() % 40;
    bytes.push_back(static_cast<unsigned char>(random()));
    const bool is_honest = random() % 2 == 0;
    bytes.push_back(static_cast<unsigned char>(is_honest ? size : random()));
    for (std::uint64_t i = 0; i < size; ++i) {
      // Short lengths and small numbers get further.
      bytes.push_back(static_cast<unsigned char>(random() % 2 == 0 ? random() % 3 : random()));
    }
  }
  return bytes;
}

TEST_F(mosquitto_played, garbage_ends_every_wait_with_an_error_or_is_an_answer) {
  int lost = 0;
  on_every_home([&]() -> task<void> {
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds(300)); ++seed) {
      std::mt19937_64 random(seed);
      const std::uint64_t packets_before = random() % 3;
      const auto play = [&](tcp_stream& stream) -> task<void> {
        (void)co_await read_packet(stream);
        if (packets_before > 0) co_await stream.write_all(bytes_of_packet(accepted));
        if (packets_before > 1) (void)co_await read_packet(stream);
        const auto bytes = garbage(random);
        co_await stream.write_all(bytes_of_packet(bytes));
        stream.shutdown();
        co_await read_until_end(stream);
      };
      const auto check = [&](std::error_code error) {
        if (!error) return;
        ++lost;
        EXPECT_TRUE(error.category() == mosquitto_category ||
                    error.category() == std::system_category())
            << seed << ": " << error.message();
      };
      const auto body = [&](int port) -> task<void> {
        const auto all = [&](mosquitto_client& client) -> task<void> {
          const auto connected = co_await as_result(client.connect("127.0.0.1", port, no_pings));
          check(connected.error());
          if (!connected) co_return;
          const auto use = [&](message_stream& messages) -> task<void> {
            check((co_await as_result(client.subscribe("t", 1))).error());
            check((co_await as_result(client.publish("t", "x", 2))).error());
            check((co_await as_result(client.publish("t", "x", 0))).error());
            while ((co_await messages.next()).has_value()) {}
          };
          try {
            co_await with_callbacks(client.messages(100, tandem::overflow_policy::drop_newest),
                                    use);
          } catch (const std::system_error& error) {  // it was lost as soon as it was accepted
            check(error.code());
          }
        };
        co_await with_client(all);
      };
      co_await beside_played(play, body);
    }
  });
  EXPECT_GT(lost, 0);
}

// The library's own clock, which counts seconds: 5 until it asks whether somebody is there, 5 until it gives up.
TEST_F(mosquitto_played, a_broker_that_has_fallen_silent_is_told_by_the_library) {
  if (!is_nightly())
    GTEST_SKIP() << "ten seconds of the library's own clock: for tests/run.sh nightly";
  test_runtime rt;
  const auto play = [](tcp_stream& stream) -> task<void> {
    (void)co_await read_packet(stream);
    co_await stream.write_all(bytes_of_packet(accepted));
    co_await read_until_end(stream);
  };
  const auto body = [](int port) -> task<void> {
    const auto connecting = [&](mosquitto_client& client) -> task<void> {
      co_await client.connect("127.0.0.1", port, 5);
      const auto published = co_await as_result(client.publish("t", "x", 1));
      EXPECT_EQ(published.error(), mosquitto_code(MOSQ_ERR_KEEPALIVE));
    };
    co_await with_client(connecting);
  };
  rt.run(beside_played(play, body));
}

}  // namespace
