// solve_handler.cpp: POST /solve: a search on the worker pool, answered from the completion pool.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "event_writer.hpp"
#include "latest_value.hpp"
#include "router.hpp"
#include "running_search.hpp"
#include "solve.hpp"
#include "thread_set.hpp"

namespace service {

namespace {

using nlohmann::ordered_json;
using progress = tandem::search_progress;

/// The smaller of two limits, of which 0 is none.
template <class T>
T stricter(T a, T b) {
  if (a == T{}) return b;
  return b == T{} ? a : std::min(a, b);
}

/// Keeps to the service's limits. That of positions is for searches that keep them.
void clamp(puzzles::solve_request& request, const service_options& options) {
  const bool keeps_positions =
      !request.is_count() && request.chosen_solver() != puzzles::solver_kind::iterative_deepening;
  if (keeps_positions) request.node_limit = stricter(request.node_limit, options.search_nodes);
  request.time_limit = stricter(request.time_limit, options.search_time);
  request.memory_limit_bytes =
      stricter(request.memory_limit_bytes, options.search_memory_mib * 1024 * 1024);
}

/// A limit that the request set itself is an answer (200); one of the service's is an error.
bool own_limit(const puzzles::solve_request& asked, const puzzles::solve_request& clamped,
               tandem::search_outcome outcome) {
  switch (outcome) {
    case tandem::search_outcome::node_limit: return asked.node_limit == clamped.node_limit;
    case tandem::search_outcome::memory_limit:
      return asked.memory_limit_bytes == clamped.memory_limit_bytes;
    default: return asked.time_limit == clamped.time_limit;
  }
}

std::string too_far(const puzzles::solve_answer& answer, const puzzles::solve_request& limits) {
  if (answer.outcome == tandem::search_outcome::node_limit) {
    return fmt::format("the search was given up: it exceeds {} positions", limits.node_limit);
  }
  if (answer.outcome == tandem::search_outcome::memory_limit) {
    return fmt::format("the search was given up after {} positions: it needs more than {} MiB",
                       answer.nodes, limits.memory_limit_bytes / (1024 * 1024));
  }
  return fmt::format("the search was given up after {} ms and {} positions: it takes too long",
                     limits.time_limit.count(), answer.nodes);
}

/// What is to be searched, within which limits, and who wants to know how it goes on.
class search_order {
 public:
  search_order(puzzles::solve_request wanted, const service_options& options)
      : asked(std::move(wanted)), request(asked) {
    clamp(request, options);
    request.threads = &worker_threads;
  }
  search_order(const search_order&) = delete;
  search_order& operator=(const search_order&) = delete;

  const puzzles::solve_request asked;
  puzzles::solve_request request;  // within the service's limits
  puzzles::thread_set worker_threads;
};

/// The search; from its begin to its end it runs on the workers, then this goes on at its home.
tandem::task<puzzles::solve_answer> search(exchange& call, running_search& running,
                                           search_order& order) {
  puzzles::solve_request request = order.request;
  request.progress = [&running, tell = std::move(request.progress)](const progress& seen) {
    running.note(seen.nodes);
    if (tell) tell(seen);
  };
  tandem::task<puzzles::solve_answer> searching = puzzles::solve(std::move(request));
  auto answer = co_await tandem::as_result(std::move(searching));
  call.completion_threads.note();
  if (answer.is_cancelled()) running.note_stop();
  if (answer) running.note(answer.value().nodes);
  co_return std::move(answer).value();
}

/// An answer with its status, before it is text.
class verdict {
 public:
  verdict(unsigned code, ordered_json content) : status(code), body(std::move(content)) {}

  unsigned status;
  ordered_json body;
};

verdict judge(const exchange& call, const search_order& order,
              const puzzles::solve_answer& answer) {
  if (answer.hit_limit() && !own_limit(order.asked, order.request, answer.outcome)) {
    return verdict(422, {{"error", too_far(answer, order.request)}});
  }
  ordered_json body = puzzles::to_json(answer);
  body["outcome"] = to_string(answer.outcome);
  body["worker_threads"] = order.worker_threads.ids();
  body["completion_threads"] = call.completion_threads.ids();
  return verdict(200, std::move(body));
}

verdict judge(const exchange& call, const search_order& order,
              tandem::result<puzzles::solve_answer>& outcome) {
  if (outcome) return judge(call, order, outcome.value());
  const http_response failure = failure_response(outcome.exception());
  return verdict(failure.status, ordered_json::parse(failure.body));
}

ordered_json progress_json(const progress& seen) {
  const auto elapsed = std::chrono::round<std::chrono::milliseconds>(seen.elapsed);
  return {{"nodes", seen.nodes},
          {"depth", seen.depth},
          {"nodes_per_second", std::llround(seen.nodes_per_second)},
          {"elapsed_ms", elapsed.count()},
          {"memory_bytes", seen.memory_bytes}};
}

/// Sends what the search tells, the newest only, until nothing more comes.
tandem::task<void> report(event_writer& events, latest_value<progress>& news) {
  while (true) {
    tandem::task<std::optional<progress>> taking = news.take();
    const std::optional<progress> seen = co_await std::move(taking);
    if (!seen) co_return;
    co_await events.send("progress", progress_json(*seen));
  }
}

/// Searches, and answers as events.
tandem::task<void> stream_search(exchange& call, running_search& running, search_order& order) {
  event_writer events(call.pieces);
  co_await events.begin(call.request, call.keep_alive());
  latest_value<progress> news;
  order.request.progress = [&news](const progress& seen) { news.put(seen); };
  std::optional<tandem::result<puzzles::solve_answer>> outcome;
  auto searching = [&]() -> tandem::task<void> {
    tandem::task<puzzles::solve_answer> body = search(call, running, order);
    outcome = co_await tandem::as_result(std::move(body));
    news.close();
  };
  tandem::task<void> search_side = searching();
  tandem::task<void> client_side = report(events, news);
  // A client that has gone, or takes nothing, fails the report, and that stops the search.
  co_await tandem::when_all(std::move(search_side), std::move(client_side));
  verdict found = judge(call, order, *outcome);
  if (found.status == 200) co_return co_await events.send("answer", found.body);
  found.body["status"] = found.status;
  co_await events.send("error", found.body);
}

}  // namespace

tandem::task<http_response> solve_puzzle(exchange& call) {
  const auto json = nlohmann::json::parse(call.request.body, nullptr, false);
  if (json.is_discarded()) co_return error_response(400, "the body is no JSON");

  puzzles::solve_request request;
  std::string complaint;
  try {
    request = puzzles::request_from_json(json);
  } catch (const std::invalid_argument& wrong) {
    complaint = wrong.what();
  }
  if (!complaint.empty()) co_return error_response(422, complaint);

  running_search running(call.service);
  if (!running.admitted()) co_return error_response(503, "too many searches at once: try again");
  search_order order(std::move(request), call.service.options);
  if (call.request.wants_events) {
    co_await stream_search(call, running, order);
    co_return http_response();
  }
  tandem::task<puzzles::solve_answer> searching = search(call, running, order);
  const puzzles::solve_answer answer = co_await std::move(searching);
  const verdict found = judge(call, order, answer);
  co_return http_response(found.status, "application/json", found.body.dump() + "\n");
}

}  // namespace service
