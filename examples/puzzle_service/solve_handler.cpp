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
#include <tandem/event.hpp>
#include <tandem/stop.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <utility>
#include <vector>

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
  search_order(puzzles::solve_request wanted, question canonical, const service_options& options)
      : asked(std::move(wanted)), text(std::move(canonical)), request(asked) {
    clamp(request, options);
    request.threads = &worker_threads;
  }
  search_order(const search_order&) = delete;
  search_order& operator=(const search_order&) = delete;

  const puzzles::solve_request asked;
  const question text;
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
  // One that the store was faster than has not been stopped by anybody.
  if (answer.is_cancelled() && answer.reason() != tandem::stop_reason::race_lost) {
    running.note_stop();
  }
  if (answer) running.note(answer.value().nodes);
  co_return std::move(answer).value();
}

/// How a question came to its answer: one of the two.
class finding {
 public:
  finding(puzzles::solve_answer found) : searched(std::move(found)) {}  // NOLINT
  finding(known_answer found) : known(std::move(found)) {}              // NOLINT

  puzzles::solve_answer searched;
  known_answer known;  // null: it was searched
};

/// Ends when the store knows the answer, or by a stop.
tandem::task<known_answer> look_up(exchange& call, const search_order& order) {
  tandem::task<known_answer> looking = call.service.keeper.look_up(order.text);
  auto known = co_await tandem::as_result(std::move(looking));
  if (known && known.value()) co_return std::move(known).value();
  tandem::event never;
  co_await never.wait();
  co_return nullptr;
}

/// Searches, and meanwhile asks the store. Whoever has it first stops the other; to look up stops
/// at once, whatever the database does: the answer waits for none.
tandem::task<finding> find_answer(exchange& call, running_search& running, search_order& order) {
  tandem::task<puzzles::solve_answer> searching = search(call, running, order);
  if (!call.service.keeper.keeps() || call.request.wants_fresh) {
    puzzles::solve_answer found = co_await std::move(searching);
    co_return finding(std::move(found));
  }
  tandem::task<known_answer> looking = look_up(call, order);
  auto both = co_await tandem::when_any(std::move(searching), std::move(looking));
  auto& [searched, known] = both.results;
  if (!searched && known) co_return finding(std::move(known).value());
  co_return finding(std::move(searched).value());
}

/// An answer with its status, before it is text.
class verdict {
 public:
  verdict(unsigned code, ordered_json content) : status(code), body(std::move(content)) {}

  unsigned status;
  ordered_json body;
};

/// What belongs to this request rather than to the answer.
template <class Ids>
void append_circumstances(ordered_json& body, const exchange& call, const Ids& workers,
                          bool was_kept, std::int64_t solved_at) {
  body["worker_threads"] = workers;
  body["completion_threads"] = call.completion_threads.ids();
  body["kept"] = was_kept;
  body["solved_at"] = time_text(solved_at);
}

verdict verdict_of(const exchange& call, const kept_answer& known) {
  ordered_json body = ordered_json::parse(known.answer, nullptr, false);
  if (!body.is_object()) return verdict(500, {{"error", "what was kept is damaged"}});
  append_circumstances(body, call, std::vector<long>(), true, known.solved_at);
  return verdict(200, std::move(body));
}

verdict judge(const exchange& call, const search_order& order,
              const puzzles::solve_answer& answer) {
  if (answer.hit_limit() && !own_limit(order.asked, order.request, answer.outcome)) {
    return verdict(422, {{"error", too_far(answer, order.request)}});
  }
  ordered_json body = puzzles::to_json(answer);
  body["outcome"] = to_string(answer.outcome);
  kept_answer made = made_to_keep(order.text, order.asked, answer, body.dump());
  const std::int64_t solved_at = made.solved_at;
  if (is_complete(answer)) call.service.keeper.keep(std::move(made));
  append_circumstances(body, call, order.worker_threads.ids(), false, solved_at);
  return verdict(200, std::move(body));
}

verdict judge(const exchange& call, const search_order& order, const finding& found) {
  return found.known ? verdict_of(call, *found.known) : judge(call, order, found.searched);
}

verdict judge(const exchange& call, const search_order& order, tandem::result<finding>& outcome) {
  if (outcome) return judge(call, order, outcome.value());
  const http_response failure = failure_response(outcome.exception());
  return verdict(failure.status, ordered_json::parse(failure.body));
}

http_response response_of(const verdict& found) {
  return http_response(found.status, "application/json", found.body.dump() + "\n");
}

tandem::task<void> send_verdict(event_writer& events, verdict found) {
  if (found.status == 200) co_return co_await events.send("answer", found.body);
  found.body["status"] = found.status;
  co_await events.send("error", found.body);
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
  std::optional<tandem::result<finding>> outcome;
  auto searching = [&]() -> tandem::task<void> {
    tandem::task<finding> body = find_answer(call, running, order);
    outcome = co_await tandem::as_result(std::move(body));
    news.close();
  };
  tandem::task<void> search_side = searching();
  tandem::task<void> client_side = report(events, news);
  // A client that has gone, or takes nothing, fails the report, and that stops the search.
  co_await tandem::when_all(std::move(search_side), std::move(client_side));
  co_await send_verdict(events, judge(call, order, *outcome));
}

/// At once, for a client that would take events.
tandem::task<void> stream_known(exchange& call, const kept_answer& known) {
  event_writer events(call.pieces);
  co_await events.begin(call.request, call.keep_alive());
  co_await send_verdict(events, verdict_of(call, known));
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

  question asked(request);
  if (!call.request.wants_fresh) {
    if (const known_answer known = call.service.keeper.recall(asked)) {
      if (call.request.wants_events) {
        co_await stream_known(call, *known);
        co_return http_response();
      }
      co_return response_of(verdict_of(call, *known));
    }
  }
  running_search running(call.service);
  if (!running.admitted()) co_return error_response(503, "too many searches at once: try again");
  search_order order(std::move(request), std::move(asked), call.service.options);
  if (call.request.wants_events) {
    co_await stream_search(call, running, order);
    co_return http_response();
  }
  tandem::task<finding> searching = find_answer(call, running, order);
  const finding found = co_await std::move(searching);
  co_return response_of(judge(call, order, found));
}

}  // namespace service
