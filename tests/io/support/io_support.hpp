// io_support.hpp: what several io tests need: connected pairs, patterns, homes, counted descriptors.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "loopback_ports.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

/// Both ends of a connection over loopback.
class connection {
 public:
  io::tcp_stream client;
  io::tcp_stream server;
};

inline task<connection> make_connection(io::tcp_options options = {}) {
  io::listen_options listening;
  listening.connections = options;
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0), listening);
  connection made;
  made.client = co_await io::tcp_stream::connect(listener.local_endpoint(), options);
  made.server = co_await listener.accept();
  co_return made;
}

/// As above; the accepted end is bound to that completion thread.
inline task<connection> make_connection_on(io::completion_pool& pool, unsigned thread) {
  std::vector<io::tcp_listener> shards =
      io::tcp_listener::bind_sharded(pool, io::endpoint::loopback_v4(0));
  io::tcp_listener listener = std::move(shards.at(thread));
  shards.clear();  // so the kernel gives all to the one that is left
  connection made;
  made.client = co_await io::tcp_stream::connect(listener.local_endpoint());
  made.server = co_await listener.accept();
  co_return made;
}

inline task<void> write_and_end(io::tcp_stream& to, std::span<const std::byte> bytes) {
  co_await to.write_all(bytes);
  to.shutdown();
}

/// Sends back what comes, until the peer has ended.
inline task<void> echo(io::tcp_stream stream) {
  std::array<std::byte, 1024> buffer;
  while (const std::size_t n = co_await stream.read(buffer)) {
    co_await stream.write_all(std::span(buffer).first(n));
  }
}

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes) {
    seed = seed * 1664525U + 1013904223U;
    each = static_cast<std::byte>(seed >> 24);
  }
  return bytes;
}

using io::bytes_of;

/// Reads until the end of the stream.
template <io::readable_stream Stream>
task<std::vector<std::byte>> read_to_end(Stream& stream) {
  std::vector<std::byte> all;
  std::vector<std::byte> buffer(16 * 1024);
  while (const std::size_t n = co_await stream.read(buffer)) {
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n));
  }
  co_return all;
}

/// The defaults, but for a number of threads that only resize() changes: so whoever counts
/// descriptors finds those of no ring that came meanwhile.
inline io::completion_options steady_threads() {
  io::completion_options options;
  options.adaptive = false;
  return options;
}

/// A pool of so many threads, which keeps its stalls to itself, and which only resize() changes.
inline io::completion_options threads_between(unsigned least, unsigned most) {
  io::completion_options options = steady_threads();
  options.min_threads = least;
  options.max_threads = most;
  options.on_stall = [](const io::stall_report&) {};
  return options;
}

/// Every home that a waiting task can have: its operation goes to the ring directly or by the
/// inbox.
template <class Body>
void on_every_home(Body body) {
  test_runtime rt;
  io::completion_pool& pool = io::install(*rt, steady_threads());
  for (executor* home :
       {static_cast<executor*>(&rt.workers()), &pool.thread(0).executor(), &pool.executor()}) {
    rt.run([](executor* where, Body b) -> task<void> {
      co_await resume_on(*where);
      co_await b();
    }(home, body));
  }
}

}  // namespace tandem::test
