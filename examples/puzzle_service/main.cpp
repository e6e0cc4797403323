// main.cpp: puzzle_service: an HTTP/1.1 service that solves puzzles on both pools of tandem.
// SPDX-License-Identifier: MIT
//
// Connections live on the completion pool, searches run on the worker pool: however long a search
// keeps the workers busy, GET /stats answers at once. See examples/README.md.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <utility>

#include "open_store.hpp"
#include "options.hpp"
#include "server.hpp"
#include "service.hpp"

namespace {

void run_service(const service::service_options& options) {
  tandem::runtime_options pools;
  if (options.threads > 0) pools.min_threads = options.threads;
  pools.name = "puzzle";
  pools.dump_on_signal = true;  // kill -QUIT: what each task waits for, on standard error
  // For GET /metrics. A segment is timed for some 100 ns, and a request takes many microseconds.
  if (pools.timed_tasks_one_in == 0) pools.timed_tasks_one_in = 1;
  // What was tried again until the end; why it has failed was said before.
  pools.on_suppressed_exception = [](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      fmt::print(stderr, "puzzle_service: given up: {}\n", error.what());
    }
  };
  tandem::runtime runtime(pools);
  tandem::io::completion_options completion;
  if (options.io_threads > 0) completion.min_threads = options.io_threads;
  auto& completions = tandem::io::install(runtime, completion);
  const auto log = [](const std::string& line) {
    fmt::print(stderr, "puzzle_service: {}\n", line);
  };
  auto store = service::open_store(options.database, options.database_limit, log);
  service::keeper_options keeping;
  keeping.log = log;
  service::service_state state(runtime, completions, options, std::move(store), std::move(keeping));
  tandem::sync_wait(completions.executor(), service::serve(state));
  runtime.shutdown();  // before what its tasks refer to
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const std::optional<service::service_options> options =
      service::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    run_service(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "puzzle_service: {}\n", error.what());
    return 1;
  }
  return 0;
}
