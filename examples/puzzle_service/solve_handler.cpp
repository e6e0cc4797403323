// solve_handler.cpp: POST /solve: a search on the worker pool, answered from the completion pool.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tandem/errors.hpp>
#include <utility>

#include "router.hpp"
#include "solve.hpp"

namespace service {

namespace {

/// One running search, counted for /stats.
class running_search {
 public:
  explicit running_search(service_state& service) noexcept
      : service_(service),
        admitted_(service.searches_running.fetch_add(1) < service.options.search_limit) {}
  running_search(const running_search&) = delete;
  running_search& operator=(const running_search&) = delete;
  ~running_search() { service_.searches_running.fetch_sub(1); }

  bool admitted() const noexcept { return admitted_; }

 private:
  service_state& service_;
  bool admitted_;
};

/// The smaller of two limits, of which 0 is none.
template <class T>
T stricter(T a, T b) {
  if (a == T{}) return b;
  return b == T{} ? a : std::min(a, b);
}

/// Keeps to the service's limits. That of positions is one of memory, which counting does not need.
void clamp(puzzles::solve_request& request, const service_options& options) {
  if (!request.count) request.node_limit = stricter(request.node_limit, options.search_nodes);
  request.time_limit = stricter(request.time_limit, options.search_time);
}

/// A limit that the request set itself is an answer (200); one of the service's is an error.
bool own_limit(const puzzles::solve_request& asked, const puzzles::solve_request& clamped,
               tandem::search_outcome outcome) {
  if (outcome == tandem::search_outcome::node_limit) {
    return asked.node_limit != 0 && asked.node_limit == clamped.node_limit;
  }
  return asked.time_limit.count() != 0 && asked.time_limit == clamped.time_limit;
}

http_response too_far(const puzzles::solve_answer& answer, const puzzles::solve_request& limits) {
  if (answer.outcome == tandem::search_outcome::node_limit) {
    return error_response(
        422, fmt::format("the search was given up: it exceeds {} positions", limits.node_limit));
  }
  return error_response(
      422, fmt::format("the search was given up after {} ms and {} positions: it takes too long",
                       limits.time_limit.count(), answer.nodes));
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

  const running_search running(call.service);
  if (!running.admitted()) co_return error_response(503, "too many searches at once: try again");
  call.service.searches_total.fetch_add(1, std::memory_order_relaxed);

  const puzzles::solve_request asked = request;
  clamp(request, call.service.options);
  const puzzles::solve_request limits = request;
  puzzles::thread_set worker_threads;
  request.threads = &worker_threads;
  // From here to its end the search runs on the workers; then this coroutine goes on at its home.
  tandem::task<puzzles::solve_answer> search = puzzles::solve(std::move(request));
  const puzzles::solve_answer answer = co_await std::move(search);
  call.completion_threads.note();
  if (answer.hit_limit() && !own_limit(asked, limits, answer.outcome)) {
    co_return too_far(answer, limits);
  }

  nlohmann::ordered_json body = puzzles::to_json(answer);
  body["outcome"] = to_string(answer.outcome);
  body["worker_threads"] = worker_threads.ids();
  body["completion_threads"] = call.completion_threads.ids();
  co_return http_response(200, "application/json", body.dump() + "\n");
}

}  // namespace service
