// http_parser.cpp: the parser of Boost.Beast behind a small interface.
// SPDX-License-Identifier: MIT
#include "http_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

namespace service {

namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

http_method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get: return http_method::get;
    case http::verb::head: return http_method::head;
    case http::verb::post: return http_method::post;
    default: return http_method::other;
  }
}

// "/stats?x#y" and "http://host/stats?x" are both path "/stats" and query "x".
void split_target(std::string_view target, http_request& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
}

// Whether one of a header's list is `type`, whatever its parameters.
template <class Fields>
bool names(const Fields& header, http::field field, std::string_view type) {
  for (auto [each, end] = header.equal_range(field); each != end; ++each) {
    std::string_view list = view(each->value());
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      std::string_view one = list.substr(0, std::min(comma, list.find(';')));
      list.remove_prefix(std::min(comma + 1, list.size()));
      one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
      one = one.substr(0, one.find_last_not_of(" \t") + 1);
      if (iequals(one, type)) return true;
    }
  }
  return false;
}

}  // namespace

class http_parser::impl {
 public:
  using parser = http::request_parser<http::string_body>;

  impl(std::size_t header_limit, std::size_t body_limit)
      : header_limit_(header_limit), body_limit_(body_limit) {
    restart();
  }

  void restart() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<std::uint32_t>(header_limit_));
    parser_->body_limit(body_limit_);
    header_seen_ = false;
    continue_sent_ = false;
  }

  state feed(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    if (!parser_->got_some()) {
      // RFC 9112, 2.2: an empty line before the request line is no error.
      while (bytes.starts_with("\r\n")) skip(bytes, consumed, 2);
      if (bytes.empty() || bytes == "\r") return state::incomplete;
    }
    while (!parser_->is_done()) {
      boost::beast::error_code error;
      const std::size_t used =
          parser_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
      skip(bytes, consumed, used);
      if (error && error != http::error::need_more) return fail(error);
      if (parser_->is_header_done() && !header_seen_) {
        header_seen_ = true;
        if (!check_header()) return state::failed;
      }
      if (parser_->is_done()) break;
      if (error == http::error::need_more || bytes.empty()) return state::incomplete;
    }
    return state::complete;
  }

  bool is_started() const noexcept { return parser_->got_some(); }

  bool take_continue() {
    if (!header_seen_ || parser_->get().version() < 11 || continue_sent_ || parser_->is_done())
      return false;
    const auto expect = parser_->get().find(http::field::expect);
    if (expect == parser_->get().end() || !iequals(expect->value(), "100-continue")) return false;
    continue_sent_ = true;
    return true;
  }

  http_request take() {
    auto& message = parser_->get();
    http_request request;
    request.method = method_of(message.method());
    split_target(view(message.target()), request);
    request.keep_alive = message.keep_alive();
    request.is_http_1_0 = message.version() < 11;
    request.wants_events = names(message, http::field::accept, "text/event-stream");
    request.wants_fresh = names(message, http::field::cache_control, "no-cache");
    request.body = std::move(message.body());
    restart();
    return request;
  }

  const http_response& error() const { return error_; }

 private:
  static void skip(std::string_view& bytes, std::size_t& consumed, std::size_t count) {
    bytes.remove_prefix(count);
    consumed += count;
  }

  state fail(const boost::beast::error_code& error) {
    if (error == http::error::header_limit) {
      error_ = error_response(431, fmt::format("the header exceeds {} bytes", header_limit_));
    } else if (error == http::error::body_limit) {
      error_ = error_response(413, fmt::format("the body exceeds {} bytes", body_limit_));
    } else {
      error_ = error_response(400, "malformed request: " + error.message());
    }
    return state::failed;
  }

  // What the parser lets pass, and RFC 9112 does not.
  bool check_header() {
    const auto& header = parser_->get();
    const char* wrong = nullptr;
    if (header.version() != 10 && header.version() != 11) {
      wrong = "malformed request: neither HTTP/1.0 nor HTTP/1.1";
    } else if (header.version() == 11 && header.count(http::field::host) != 1) {
      wrong = "malformed request: it needs exactly one Host header";
    } else if (header.count(http::field::transfer_encoding) != 0 &&
               (!parser_->chunked() || header.count(http::field::content_length) != 0)) {
      wrong = "malformed request: this Transfer-Encoding leaves its length unclear";
    } else if (header.target().empty() || header.target().find('\0') != std::string_view::npos) {
      wrong = "malformed request: bad target";
    }
    if (wrong != nullptr) error_ = error_response(400, wrong);
    return wrong == nullptr;
  }

  const std::size_t header_limit_;
  const std::size_t body_limit_;
  std::optional<parser> parser_;
  http_response error_;
  bool header_seen_ = false;
  bool continue_sent_ = false;
};

http_parser::http_parser(std::size_t header_limit, std::size_t body_limit)
    : impl_(std::make_unique<impl>(header_limit, body_limit)) {}
http_parser::~http_parser() = default;

http_parser::state http_parser::feed(std::string_view bytes, std::size_t& consumed) {
  return impl_->feed(bytes, consumed);
}
bool http_parser::is_started() const noexcept { return impl_->is_started(); }
bool http_parser::take_continue() { return impl_->take_continue(); }
http_request http_parser::take() { return impl_->take(); }
const http_response& http_parser::error() const { return impl_->error(); }

}  // namespace service
