// http_message.hpp: a request that has been read, and an answer that is to be sent.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace service {

enum class http_method : std::uint8_t { get, head, post, other };

/// A complete request.
class http_request {
 public:
  http_request() = default;

  http_method method = http_method::other;
  std::string path;   ///< without query and fragment: "/stats"
  std::string body;   ///< a chunked one is put together
  std::string query;  ///< what follows the '?'
  bool keep_alive = true;
  bool is_http_1_0 = false;
  bool wants_events = false;  ///< Accept names text/event-stream
  bool wants_fresh = false;   ///< Cache-Control says no-cache: not what was known before
};

/// An answer; the connection adds length and connection headers.
class http_response {
 public:
  http_response() = default;
  http_response(unsigned code, std::string_view type, std::string content)
      : status(code), content_type(type), body(std::move(content)) {}

  unsigned status = 200;
  std::string_view content_type = "application/json";  ///< of static storage
  std::string body;
  std::string_view allow;               ///< of static storage: the methods of a 405
  std::chrono::seconds retry_after{0};  ///< of a 503; 0: not said
};

/// `{"error": message}`
http_response error_response(unsigned status, std::string_view message);
/// The same about what a handler threw: 503 without memory, else 500.
http_response failure_response(const std::exception_ptr& failure);

/// Appends the answer as it goes over the wire. With `head_only` the body is announced and left
/// out.
void append_response(std::string& out, const http_response& response, bool keep_alive,
                     bool head_only = false);

/// Appends the header of a 200 whose length is not known yet.
void append_stream_header(std::string& out, std::string_view content_type, bool is_chunked,
                          bool keep_alive);

}  // namespace service
