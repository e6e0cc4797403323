// debug_handler.cpp: GET /debug/tasks and GET /debug/advice: for whoever runs the service.
// SPDX-License-Identifier: MIT
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "query.hpp"
#include "router.hpp"

namespace service {

namespace {

constexpr std::string_view not_told =
    "this service does not tell of its tasks: start it with --debug";

/// "format=text".
///
/// @throws  bad_query
report_kind kind_of(std::string_view text) {
  constexpr std::array<std::string_view, 1> known{"format"};
  const std::string format = query(text, known).text("format");
  if (format == "text") return report_kind::tasks_text;
  if (format.empty() || format == "json") return report_kind::tasks_json;
  throw bad_query("format is text or json");
}

tandem::task<http_response> tell(exchange& call, report_kind wanted, std::string_view type) {
  if (!call.service.options.tells_of_tasks()) co_return error_response(404, not_told);
  tandem::task<runtime_reports::text> asking = call.service.reports.get(wanted);
  const runtime_reports::text report = co_await std::move(asking);
  co_return http_response(200, type, *report);
}

}  // namespace

tandem::task<http_response> show_tasks(exchange& call) {
  report_kind wanted{};
  std::string complaint;
  try {
    wanted = kind_of(call.request.query);
  } catch (const bad_query& wrong) {
    complaint = wrong.what();
  }
  if (!complaint.empty()) co_return error_response(422, complaint);
  const bool is_text = wanted == report_kind::tasks_text;
  tandem::task<http_response> telling =
      tell(call, wanted, is_text ? "text/plain; charset=utf-8" : "application/json");
  co_return co_await std::move(telling);
}

tandem::task<http_response> show_advice(exchange& call) {
  if (!call.request.query.empty()) co_return error_response(422, "there is nothing to query here");
  tandem::task<http_response> telling = tell(call, report_kind::advice, "application/json");
  co_return co_await std::move(telling);
}

}  // namespace service
