// router.cpp: the table of targets.
// SPDX-License-Identifier: MIT
#include "router.hpp"

#include <string_view>

#include "page.hpp"

namespace service {

namespace {

struct entry {
  std::string_view path;
  http_method method;  // get answers HEAD, too
  std::string_view allow;
  handler answer;
  bool is_long;
  const char* name;
};

constexpr entry table[] = {
    {"/stats", http_method::get, "GET, HEAD", &show_stats, false, "GET /stats"},
    {"/events", http_method::get, "GET, HEAD", &show_events, true, "GET /events"},
    {"/metrics", http_method::get, "GET, HEAD", &show_metrics, false, "GET /metrics"},
    {"/solve", http_method::post, "POST", &solve_puzzle, true, "POST /solve"},
    {"/solved", http_method::get, "GET, HEAD", &show_solved, true, "GET /solved"},
    {"/debug/tasks", http_method::get, "GET, HEAD", &show_tasks, true, "GET /debug/tasks"},
    {"/debug/advice", http_method::get, "GET, HEAD", &show_advice, true, "GET /debug/advice"},
};

constexpr entry any_solved = {"/solved/", http_method::get, "GET, HEAD", &show_solved_one,
                              true,       "GET /solved/KEY"};
constexpr entry any_page_file = {"/", http_method::get, "GET, HEAD", &show_page, false, "GET /"};

const entry* find(std::string_view path) noexcept {
  for (const entry& each : table) {
    if (each.path == path) return &each;
  }
  if (path.starts_with(any_solved.path)) return &any_solved;
  return find_page_file(path) != nullptr ? &any_page_file : nullptr;
}

tandem::task<http_response> not_found(exchange&) {
  co_return error_response(404,
                           "there is nothing here: try GET /, GET /solved, GET /stats, GET "
                           "/events, GET /metrics, GET /debug/tasks or POST /solve");
}

tandem::task<http_response> wrong_method(exchange& call) {
  const std::string_view allow = find(call.request.path)->allow;
  http_response response =
      error_response(405, std::string(call.request.path) + " allows " + std::string(allow));
  response.allow = allow;
  co_return response;
}

}  // namespace

route find_route(const http_request& request) noexcept {
  const entry* const found = find(request.path);
  if (found == nullptr) return {&not_found, false, "no such target"};
  const bool matches = request.method == found->method ||
                       (request.method == http_method::head && found->method == http_method::get);
  if (!matches) return {&wrong_method, false, "no such method"};
  return {found->answer, found->is_long, found->name};
}

}  // namespace service
