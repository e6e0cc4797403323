// main.cpp: puzzle_client: has puzzles solved by puzzle_service, checks and tabulates the answers.
// SPDX-License-Identifier: MIT
//
// First every puzzle by itself on one kept connection, for honest times; then all of them once more
// at the same time: half of them pipelined on one connection, the others on one connection each.
// Both rounds have to give the same answers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tandem/io/endpoint.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "http_client.hpp"
#include "jobs.hpp"

namespace {

using client::answer;
using client::http_client;
using client::job;
using nlohmann::ordered_json;
using namespace std::chrono_literals;

std::string to_request(const job& each) {
  return client::post_request("/solve", each.request.dump());
}

ordered_json checked(const job& asked, const answer& got) {
  ordered_json parsed = ordered_json::parse(got.body, nullptr, false);
  if (parsed.is_discarded()) throw std::runtime_error(asked.name + ": the answer is no JSON");
  const std::string mistake = client::find_mistake(asked, got.status, parsed);
  if (!mistake.empty()) throw std::runtime_error(asked.name + ": " + mistake);
  return parsed;
}

ordered_json row_of(const job& asked, const ordered_json& got) {
  const double milliseconds = got["milliseconds"];
  const double nodes = got["nodes"];
  ordered_json row;
  row["name"] = asked.name;
  for (const char* key :
       {"puzzle", "solver", "solved", "moves", "solutions", "nodes", "milliseconds"}) {
    row[key] = got[key];
  }
  row["nodes_per_second"] = milliseconds > 0 ? std::round(nodes / milliseconds * 1000) : 0.0;
  for (const char* key : {"worker_threads", "completion_threads", "path"}) row[key] = got[key];
  row["request"] = asked.request;
  return row;
}

void print_row(const ordered_json& row) {
  const auto ids = [&](const char* key) {
    const auto numbers = row[key].get<std::vector<int>>();
    return fmt::format("{}", fmt::join(numbers, " "));
  };
  fmt::print("{:<24} {:<19} {:>6} {:>9} {:>9.1f} {:>10.0f}  {:<17} {}\n",
             row["name"].get<std::string>(), row["solver"].get<std::string>(),
             row["moves"].is_null() ? "-" : row["moves"].dump(), row["nodes"].get<std::uint64_t>(),
             row["milliseconds"].get<double>(), row["nodes_per_second"].get<double>(),
             ids("worker_threads"), ids("completion_threads"));
  std::fflush(stdout);
}

tandem::task<ordered_json> one_by_one(tandem::io::endpoint server, const std::vector<job>& jobs) {
  fmt::print("{:<24} {:<19} {:>6} {:>9} {:>9} {:>10}  {:<17} {}\n", "puzzle", "solver", "moves",
             "nodes", "ms", "nodes/s", "worker threads", "completion threads");
  http_client connection = co_await http_client::connect(server);
  ordered_json rows = ordered_json::array();
  for (const job& each : jobs) {
    co_await connection.send(to_request(each));
    const answer got = co_await connection.receive();
    rows.push_back(row_of(each, checked(each, got)));
    print_row(rows.back());
  }
  co_return rows;
}

tandem::task<void> on_one_connection(tandem::io::endpoint server, std::vector<const job*> jobs) {
  http_client connection = co_await http_client::connect(server);
  std::string requests = client::get_request("/stats");
  for (const job* each : jobs) requests += to_request(*each);
  co_await connection.send(std::move(requests));
  const answer stats = co_await connection.receive();
  if (stats.status != 200)
    throw std::runtime_error("GET /stats: status " + std::to_string(stats.status));
  for (const job* each : jobs) {
    const answer got = co_await connection.receive();
    (void)checked(*each, got);
  }
}

tandem::task<void> at_once(tandem::io::endpoint server, const std::vector<job>& jobs) {
  auto body = [&](tandem::task_scope& scope) -> tandem::task<void> {
    std::vector<const job*> pipelined;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i % 2 == 0) {
        pipelined.push_back(&jobs[i]);
      } else {
        scope.spawn(on_one_connection(server, std::vector<const job*>{&jobs[i]}));
      }
    }
    scope.spawn(on_one_connection(server, std::move(pipelined)));
    co_return;
  };
  co_await tandem::with_scope(body);
}

tandem::task<ordered_json> solve_all(tandem::io::endpoint server, const std::vector<job>& jobs) {
  ordered_json rows = co_await one_by_one(server, jobs);
  const auto began = std::chrono::steady_clock::now();
  co_await at_once(server, jobs);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  fmt::print("the same {} at once, {} of them pipelined: {:.0f} ms\n", jobs.size(),
             (jobs.size() + 1) / 2, took.count());
  co_return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::string server_text = "127.0.0.1:8080";
  std::string file;
  double seconds = 120;
  CLI::App app("Has puzzles solved by puzzle_service and checks the answers");
  app.add_option("--server", server_text, "address:port of the service")->capture_default_str();
  app.add_option("--json", file, "writes the table there, as an array of objects");
  app.add_option("--timeout", seconds, "for everything, in seconds")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto server = tandem::io::endpoint::parse(server_text);
    const std::vector<job> jobs = client::main_jobs();
    tandem::task<ordered_json> solving = solve_all(server, jobs);
    auto limited = [&]() -> tandem::task<ordered_json> {
      co_return co_await tandem::with_timeout(std::chrono::duration<double>(seconds),
                                              std::move(solving));
    };
    const ordered_json rows = tandem::run(limited());
    if (!file.empty()) {
      std::ofstream out(file);
      out << "[\n";
      for (std::size_t i = 0; i < rows.size(); ++i)
        out << rows[i].dump() << (i + 1 < rows.size() ? ",\n" : "\n");
      out << "]\n";
      if (!out.flush()) throw std::runtime_error("cannot write " + file);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "puzzle_client: {}\n", error.what());
    return 1;
  }
  return 0;
}
