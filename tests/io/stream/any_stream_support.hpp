// any_stream_support.hpp: the same law for streams of every kind, held without their types.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tandem/io/any_stream.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "io/stream/memory_stream.hpp"
#include "io/support/io_support.hpp"

namespace tandem::test {

/// Both ends of a connection of some kind.
class any_connection {
 public:
  any_connection(io::any_stream one, io::any_stream other) noexcept
      : client(std::move(one)), server(std::move(other)) {}
  io::any_stream client;
  io::any_stream server;
};

/// A copy of `body` for a TCP connection and for two kinds of streams of the test's own: one whose
/// operations are awaiters, one whose operations are tasks. Each at every home.
template <class Body>
void for_every_kind(Body body) {
  on_every_home([body]() -> task<void> {
    connection tcp = co_await make_connection();
    co_await body(any_connection(std::move(tcp.client), std::move(tcp.server)));
    auto awaiters = make_memory_connection<memory_stream>();
    co_await body(any_connection(std::move(awaiters.first), std::move(awaiters.second)));
    auto tasks = make_memory_connection<task_stream>();
    co_await body(any_connection(std::move(tasks.first), std::move(tasks.second)));
  });
}

/// Sends back what comes, and the end.
inline task<void> echo_any(io::any_stream stream) {
  std::array<std::byte, 1024> buffer;
  while (const std::size_t n = co_await stream.read(buffer)) {
    co_await stream.write_all(std::span(buffer).first(n));
  }
  stream.shutdown();
}

}  // namespace tandem::test
