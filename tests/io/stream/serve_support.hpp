// serve_support.hpp: servers that run while somebody asks them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <tandem/io/serve.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace tandem::test {

/// serve() with these options beside `use(address)`; stopped when that has ended.
template <class Handler, class Use>
task<void> serve_while(Handler handler, io::serve_options options, Use use) {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const io::endpoint here = listener.local_endpoint();
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), handler, options));
    co_await use(here);
    scope.request_stop();
  });
}

/// Options for each place where handlers may begin.
inline std::vector<io::serve_options> options_for_every_home() {
  std::vector<io::serve_options> all(3);
  all[0].home = io::handler_home::connection_thread;
  all[1].home = io::handler_home::completion_pool;
  all[2].home = io::handler_home::workers;
  return all;
}

}  // namespace tandem::test
