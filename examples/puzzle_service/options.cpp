// options.cpp: the command line of puzzle_service.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <tuple>
#include <utility>

namespace service {

namespace {

void add_seconds(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                 const std::string& description) {
  app.add_option_function<double>(
         name,
         [&target](double seconds) {
           target = std::chrono::round<std::chrono::milliseconds>(
               std::chrono::duration<double>(seconds));
         },
         description)
      ->check(CLI::Range(0.0, 86'400.0))
      ->default_str(std::to_string(target.count() / 1000))
      ->type_name("SECONDS");
}

}  // namespace

bool service_options::tells_of_tasks() const noexcept {
  return debug.value_or(address == "::1" || address.starts_with("127."));
}

std::optional<service_options> parse_options(int argc, char** argv, int& exit_code) {
  service_options options;
  std::pair<std::string, std::string> files;
  CLI::App app(
      "Solves puzzles over HTTP/1.1, and knows its answers again: POST /solve, GET /solved, GET "
      "/stats, GET /events, GET /debug/tasks, GET /");
  app.option_defaults()->always_capture_default();
  app.add_option("--address", options.address, "IPv4 or IPv6 address to listen on");
  app.add_option("--port", options.port, "port; 0 picks a free one");
  app.add_option("--tls", files, "HTTPS: PEM files of a certificate and its chain, and of its key")
      ->type_name("CERT KEY");
  app.add_option("--threads", options.threads, "worker threads; 0: one per CPU, at least 2");
  app.add_option("--io-threads", options.io_threads,
                 "completion threads; 0: a quarter of the CPUs");
  app.add_option("--header-limit", options.header_limit_bytes,
                 "bytes of a request's header, else 431")
      ->check(CLI::Range(std::size_t{256}, std::size_t{1} << 20));
  app.add_option("--body-limit", options.body_limit_bytes, "bytes of a request's body, else 413")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  app.add_option("--connections", options.connection_limit, "open connections; one more gets 503")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--turned-away", options.turned_away_limit,
                 "clients that are told so at the same time; one more is closed")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--searches", options.search_limit, "searches at the same time; one more gets 503")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--streams", options.stream_limit,
                 "clients of GET /events at the same time; one more gets 503")
      ->check(CLI::Range(0, 1'000'000));
  add_seconds(app, "--idle", options.idle_time,
              "for a whole request to arrive, or an answer, or a piece of one, to leave");
  add_seconds(app, "--search-time", options.search_time, "for one search, else 422; 0: no limit");
  app.add_option("--search-nodes", options.search_nodes,
                 "positions that one search may keep, else 422; 0: no limit");
  app.add_option("--search-memory", options.search_memory_mib,
                 "MiB that one search may take, else 422; 0: no limit")
      ->check(CLI::Range(0, 16'777'216));
  app.add_option(
         "--database", options.database,
         "where answers are kept: a file (SQLite), postgresql://USER@HOST/NAME, memory (until "
         "the service ends) or none")
      ->type_name("WHERE")
      ->check([](const std::string& where) -> std::string {
        if (where.find('=') == std::string::npos || where.find('/') != std::string::npos) return {};
        return "looks like a connection string of libpq: write postgresql://USER@HOST/NAME, or, "
               "for a file of that name, ./" +
               where;
      });
  app.add_option("--database-limit", options.database_limit,
                 "answers that are kept, the oldest go; 0: 1000 in memory, else 100000")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000'000}));
  add_seconds(app, "--grace", options.grace_time,
              "for answers in flight to be finished after SIGINT or SIGTERM");
  auto* const tells = app.add_flag_callback(
      "--debug", [&options] { options.debug = true; },
      "GET /debug/tasks and /debug/advice answer; not said: if --address is a loopback address");
  app.add_flag_callback(
         "--no-debug", [&options] { options.debug = false; }, "they do not")
      ->excludes(tells);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  std::tie(options.certificate, options.key) = files;
  return options;
}

}  // namespace service
