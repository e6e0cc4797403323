// mosquitto_support.hpp: clients of examples/migrations/mosquitto beside a real broker, or beside one that a test plays.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/support/servers.hpp"
#include "mosquitto_client.hpp"

namespace tandem::test {

using migrations::mosquitto_category;
using migrations::mosquitto_client;
using migrations::mqtt_message;

using message_stream = tandem::callback_values<mqtt_message>;

inline constexpr int no_pings = 0;

inline std::error_code mosquitto_code(int code) { return {code, mosquitto_category}; }

/// Whether the connection was lost, in one of the ways in which the system, or the library, says so.
inline bool is_loss(std::error_code code) {
  return code == mosquitto_code(MOSQ_ERR_CONN_LOST) || code == mosquitto_code(MOSQ_ERR_NO_CONN) ||
         code == std::errc::broken_pipe || code == std::errc::connection_reset;
}

/// One broker for all tests of this process, which each of them leaves as it has found it.
class mosquitto_adapter : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool is_installed = test_server::is_installed("mosquitto");
    if (!is_installed) GTEST_SKIP() << "no mosquitto (Debian: apt-get install mosquitto)";
    mosquitto_lib_init();
    port_ = broker().port();  // begins on this thread, which stays
  }
  void TearDown() override { mosquitto_lib_cleanup(); }

  static test_server& broker() { return shared_server("mosquitto"); }
  int port() const { return port_; }

 private:
  int port_ = 0;
};

/// Runs `body(client)` with a client that is not connected.
template <class Body>
task<void> with_client(Body body, const char* id = "test") {
  const auto inside = [&](io::foreign_loop& loop) -> task<void> {
    mosquitto_client client(loop, id);
    co_await body(client);
  };
  co_await io::with_foreign_loop(inside);
}

/// Runs `body(client, messages)` with a client that is connected, and hears `topic`.
template <class Body>
task<void> with_listener(int port, std::string topic, std::size_t room,
                         tandem::overflow_policy policy, Body body) {
  const auto connected = [&](mosquitto_client& client) -> task<void> {
    co_await client.connect("127.0.0.1", port, no_pings);
    const auto listening = [&](message_stream& messages) -> task<void> {
      co_await client.subscribe(topic, 2);
      co_await body(client, messages);
    };
    co_await with_callbacks(client.messages(room, policy), listening);
  };
  co_await with_client(connected);
}
template <class Body>
task<void> with_listener(int port, Body body) {
  co_await with_listener(port, "t/#", 1000, overflow_policy::fail, body);
}

inline std::span<const std::byte> bytes_of_packet(const std::vector<unsigned char>& packet) {
  return std::as_bytes(std::span(packet));
}

inline const std::vector<unsigned char> accepted{0x20, 2, 0, 0};  // CONNACK

/// Reads one packet. @returns  what it begins with: its kind; nothing at the end
inline task<int> read_packet(io::tcp_stream& from) {
  std::array<std::byte, 1> byte;
  if (co_await from.read(byte) == 0) co_return 0;
  const int kind = std::to_integer<int>(byte[0]);
  std::size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (co_await from.read(byte) == 0) co_return 0;
    size += std::to_integer<std::size_t>(byte[0] & std::byte{0x7F}) << shift;
    if ((byte[0] & std::byte{0x80}) == std::byte{0}) break;
  }
  std::vector<std::byte> rest(size);
  for (std::span<std::byte> left = rest; !left.empty();) {
    const std::size_t came = co_await from.read(left);
    if (came == 0) co_return 0;
    left = left.subspan(came);
  }
  co_return kind;
}

inline task<void> read_until_end(io::tcp_stream& from) {
  std::array<std::byte, 1024> dropped;
  while (co_await from.read(dropped) > 0) {}
}

/// Runs `body(port)` beside a broker, which is `play(stream)` for one connection. It ends with the body.
template <class Play, class Body>
task<void> beside_played(Play play, Body body) {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const auto broker = [&]() -> task<void> {
    io::tcp_stream stream = co_await listener.accept();
    co_await play(stream);
  };
  const auto both = [&](task_scope& scope) -> task<void> {
    const auto played = [&]() -> task<void> { (void)co_await as_result(broker()); };
    scope.spawn(played);
    co_await body(listener.local_endpoint().port());
    scope.request_stop();
  };
  co_await with_scope(both);
}

}  // namespace tandem::test
