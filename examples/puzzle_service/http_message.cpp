// http_message.cpp: answers as text.
// SPDX-License-Identifier: MIT
#include "http_message.hpp"

#include <fmt/format.h>

#include <exception>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>

namespace service {

namespace {

std::string_view reason_of(unsigned status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

}  // namespace

http_response error_response(unsigned status, std::string_view message) {
  const nlohmann::json body = {{"error", message}};
  // The message may quote what the client sent, which need not be UTF-8.
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  http_response made(status, "application/json", body.dump(-1, ' ', false, replace) + "\n");
  if (status == 503) made.retry_after = std::chrono::seconds(1);
  return made;
}

http_response failure_response(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return error_response(503, "out of memory");
  } catch (const std::exception& error) {
    return error_response(500, error.what());
  } catch (...) {
    return error_response(500, "something went wrong");
  }
}

void append_response(std::string& out, const http_response& response, bool keep_alive,
                     bool head_only) {
  fmt::format_to(std::back_inserter(out),
                 "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                 "Cache-Control: no-store\r\nConnection: {}\r\n",
                 response.status, reason_of(response.status), response.content_type,
                 response.body.size(), keep_alive ? "keep-alive" : "close");
  if (!response.allow.empty()) {
    fmt::format_to(std::back_inserter(out), "Allow: {}\r\n", response.allow);
  }
  if (response.retry_after.count() > 0) {
    fmt::format_to(std::back_inserter(out), "Retry-After: {}\r\n", response.retry_after.count());
  }
  out += "\r\n";
  if (!head_only) out += response.body;
}

void append_stream_header(std::string& out, std::string_view content_type, bool is_chunked,
                          bool keep_alive) {
  fmt::format_to(std::back_inserter(out),
                 "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
                 "{}Connection: {}\r\n\r\n",
                 content_type, is_chunked ? "Transfer-Encoding: chunked\r\n" : "",
                 keep_alive ? "keep-alive" : "close");
}

}  // namespace service
