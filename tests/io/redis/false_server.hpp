// false_server.hpp: something that listens and answers what a test wants.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <utility>

#include "io/redis/redis_support.hpp"

namespace tandem::test {

/// Where a false server listens: on loopback.
class false_server {
 public:
  redis::options where() const {
    redis::options made;
    made.host = "127.0.0.1";
    made.port = listener_.local_endpoint().port();
    made.initial_delay = std::chrono::milliseconds(1);
    return made;
  }
  task<io::tcp_stream> accept() { co_return co_await listener_.accept(); }
  /// Of a connect(), which asks first whether this is a Redis.
  task<io::tcp_stream> accept_greeting();

 private:
  io::tcp_listener listener_ = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
};

/// Reads until `count` commands, or parts of such, have begun: an array's star each.
inline task<void> reads_commands(io::tcp_stream& from, int count) {
  std::array<std::byte, 4096> room;
  while (count > 0) {
    const std::size_t got = co_await from.read(room);
    if (got == 0) co_return;
    for (const std::byte each : std::span(room).first(got)) {
      if (each == std::byte{'*'}) --count;
    }
  }
}

/// As much as the client takes.
inline task<void> says(io::tcp_stream& to, std::string text) {
  const result<void> said = co_await as_result(to.write_all(io::bytes_of(text)));
  if (said.is_cancelled()) said.value();
}

inline task<io::tcp_stream> false_server::accept_greeting() {
  io::tcp_stream made = co_await accept();
  co_await reads_commands(made, 1);
  co_await says(made, "+PONG\r\n");
  co_return made;
}

/// Until the client has closed it.
inline task<void> reads_to_end(io::tcp_stream& from) {
  std::array<std::byte, 4096> room;
  try {
    while (co_await from.read(room) != 0) {}
  } catch (const std::system_error&) {  // a reset is an end, too
    co_return;
  }
}

/// Runs `client(options)` beside `server(listening)`; when the client has ended, the server is stopped.
template <class Server, class Client>
void against(Server server, Client client) {
  test_runtime rt;
  rt.run([](Server serve, Client use) -> task<void> {
    false_server listening;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        try {
          co_await serve(listening);
        } catch (const operation_cancelled&) {
          co_return;
        }
      });
      co_await use(listening.where());
      scope.request_stop();
    });
  }(server, client));
}

}  // namespace tandem::test
