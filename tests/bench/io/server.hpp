// server.hpp: tandem's servers of suite io: one listener, a handler for each connection, for ever.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "command_line.hpp"

namespace tandem::bench {

/// Answers with what it reads.
template <class Stream>
task<void> echo_by_reads(Stream client) {
  std::array<std::byte, 4096> buffer;
  while (true) {
    auto got = co_await as_result(client.read(buffer));
    if (!got || got.value() == 0) co_return;
    auto sent = co_await as_result(client.write_all(std::span(buffer).first(got.value())));
    if (!sent) co_return;
  }
}

/// Serves until the process is killed. With the workers as home `threads` counts workers, beside
/// one completion thread; else it counts completion threads, beside one worker that sleeps.
///
/// @param bind  makes the listener of the pool that it is given
template <class Bind, class Handler>
int serve_from(Bind bind, const server_command& command, io::handler_home home, Handler handler) {
  const auto threads = static_cast<unsigned>(command.threads);
  const bool on_workers = home == io::handler_home::workers;
  runtime_options pools;
  pools.min_threads = on_workers ? threads : 1;
  runtime owner(pools);
  io::completion_options completion;
  completion.min_threads = on_workers ? 1 : threads;
  completion.adaptive = false;  // its peers have so many, too
  auto listener = bind(io::install(owner, completion));
  io::serve_options_for<io::accepted_stream_t<decltype(listener)>> options;
  options.home = home;
  owner.spawn(io::serve(std::move(listener), std::move(handler), options)).wait();
  return 0;
}

/// As above, over TCP.
template <class Handler>
int serve_for_ever(const server_command& command, io::handler_home home, Handler handler) {
  const auto bind = [&](io::completion_pool& pool) {
    return io::tcp_listener::bind(pool, io::endpoint::loopback_v4(command.port));
  };
  return serve_from(bind, command, home, std::move(handler));
}

}  // namespace tandem::bench
