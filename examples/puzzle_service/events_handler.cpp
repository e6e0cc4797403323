// events_handler.cpp: GET /events: the statistics again and again, as server-sent events.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/event.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <utility>

#include "event_writer.hpp"
#include "query.hpp"
#include "router.hpp"
#include "stats.hpp"

namespace service {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// One stream under way, counted for /stats.
class running_stream {
 public:
  explicit running_stream(service_state& service) noexcept
      : service_(service),
        admitted_(service.event_streams.fetch_add(1) < service.options.stream_limit) {}
  running_stream(const running_stream&) = delete;
  running_stream& operator=(const running_stream&) = delete;
  ~running_stream() { service_.event_streams.fetch_sub(1); }

  bool admitted() const noexcept { return admitted_; }

 private:
  service_state& service_;
  bool admitted_;
};

/// How fast a count has grown within the last second. Searches tell of their progress ten times a
/// second, so that a shorter look would see it jump.
class rate {
 public:
  double of(std::uint64_t count, clock::time_point now) {
    while (samples_.size() > 1 && samples_[1].first <= now - 1s) samples_.pop_front();
    samples_.emplace_back(now, count);
    const std::chrono::duration<double> time = now - samples_.front().first;
    const std::uint64_t grown = count - samples_.front().second;
    return time.count() > 0 ? static_cast<double>(grown) / time.count() : 0;
  }

 private:
  std::deque<std::pair<clock::time_point, std::uint64_t>> samples_;
};

/// "interval_ms=100".
///
/// @throws  bad_query
std::chrono::milliseconds interval_of(std::string_view text) {
  constexpr std::array<std::string_view, 1> known{"interval_ms"};
  const query asked(text, known);
  return std::chrono::milliseconds(asked.number("interval_ms", 10, 60'000, 250));
}

tandem::task<void> wait_for(tandem::event& happened) { co_await happened.wait(); }

}  // namespace

tandem::task<http_response> show_events(exchange& call) {
  service_state& service = call.service;
  std::chrono::milliseconds interval{};
  std::string complaint;
  try {
    interval = interval_of(call.request.query);
  } catch (const bad_query& wrong) {
    complaint = wrong.what();
  }
  if (!complaint.empty()) co_return error_response(422, complaint);
  const running_stream running(service);
  if (!running.admitted()) co_return error_response(503, "too many event streams: try again later");

  event_writer events(call.pieces);
  co_await events.begin(call.request, call.keep_alive());
  if (call.request.method == http_method::head) co_return http_response();
  rate nodes;
  while (!service.is_draining()) {
    nlohmann::ordered_json stats = stats_json(service);
    stats["nodes_per_second"] = std::llround(
        nodes.of(service.searched_nodes.load(std::memory_order_relaxed), clock::now()));
    co_await events.send("stats", stats);
    tandem::task<void> ending = wait_for(service.drain());
    (void)co_await tandem::as_result(tandem::with_timeout(interval, std::move(ending)));
    tandem::throw_if_stopped();
  }
  co_return http_response();
}

}  // namespace service
