// http.cpp: requests by Boost.Beast's parser, ranges, types, heads of answers.
// SPDX-License-Identifier: MIT
#include "http.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cctype>
#include <charconv>
#include <utility>

namespace files {

namespace {

namespace http = boost::beast::http;

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

http_request refuse(unsigned status) {
  http_request request;
  request.status = status;
  request.keep_alive = false;
  return request;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<http_request> parse_request(std::string_view bytes, std::size_t& consumed) {
  consumed = 0;
  http::request_parser<http::empty_body> parser;
  boost::beast::error_code error;
  std::size_t skipped = 0;  // RFC 9112, 2.2: empty lines before the request line
  while (bytes.substr(skipped).starts_with("\r\n")) skipped += 2;
  if (skipped == bytes.size()) return std::nullopt;
  // One put() takes the whole header, or asks for more.
  consumed =
      skipped +
      parser.put(boost::asio::const_buffer(bytes.data() + skipped, bytes.size() - skipped), error);
  if (error == http::error::need_more) return std::nullopt;
  if (error == http::error::header_limit) return refuse(431);
  if (error) return refuse(error == http::error::body_limit ? 413 : 400);
  if (!parser.is_header_done()) return std::nullopt;
  const auto& message = parser.get();
  const unsigned version = message.version();
  if (version != 10 && version != 11) return refuse(400);
  if (version == 11 && message.count(http::field::host) != 1) return refuse(400);
  // A body, of whatever length, would have to be read before the next request.
  if (!parser.is_done() || message.count(http::field::transfer_encoding) != 0) return refuse(413);
  http_request request;
  request.keep_alive = message.keep_alive();
  request.is_head = message.method() == http::verb::head;
  if (!request.is_head && message.method() != http::verb::get) request.status = 405;
  request.target = text(message.target());
  request.range = text(message[http::field::range]);
  request.none_match = text(message[http::field::if_none_match]);
  return request;
}

std::optional<std::string> relative_path(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  constexpr std::string_view scheme = "http://";  // as a client asks a proxy, RFC 9112, 3.2.2
  if (target.starts_with(scheme)) {
    target = target.substr(std::min(target.size(), target.find('/', scheme.size())));
  }
  if (!target.starts_with('/')) return std::nullopt;
  std::string path;
  while (!target.empty()) {
    target.remove_prefix(1);
    std::string_view raw = target.substr(0, target.find('/'));
    target.remove_prefix(raw.size());
    std::string component;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      char c = raw[i];
      if (c == '%') {
        if (i + 2 >= raw.size()) return std::nullopt;
        const int high = hex_digit(raw[i + 1]);
        const int low = hex_digit(raw[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        c = static_cast<char>(high * 16 + low);
        i += 2;
      }
      if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 32) return std::nullopt;
      component += c;
    }
    if (component.empty()) continue;
    if (component.front() == '.') return std::nullopt;
    if (!path.empty()) path += '/';
    path += component;
  }
  return path;
}

range_answer find_range(std::string_view field, std::uint64_t size, byte_range& range) {
  constexpr std::string_view unit = "bytes=";
  if (!field.starts_with(unit)) return range_answer::whole;
  field.remove_prefix(unit.size());
  const std::size_t dash = field.find('-');
  if (dash == std::string_view::npos) return range_answer::whole;
  const auto first = number(field.substr(0, dash));
  const auto last = number(field.substr(dash + 1));
  if (dash == 0) {  // the last so many bytes
    if (!last) return range_answer::whole;
    if (*last == 0 || size == 0) return range_answer::unsatisfiable;
    range = byte_range(size - std::min(*last, size), size);
    return range_answer::part;
  }
  const bool is_open = dash + 1 == field.size();
  if (!first || (!last && !is_open) || (last && *last < *first)) return range_answer::whole;
  if (*first >= size) return range_answer::unsatisfiable;
  range = byte_range(*first, is_open || *last >= size ? size : *last + 1);
  return range_answer::part;
}

std::string_view content_type(std::string_view path) {
  using entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array types{
      entry{"css", "text/css; charset=utf-8"},
      entry{"csv", "text/csv; charset=utf-8"},
      entry{"gif", "image/gif"},
      entry{"html", "text/html; charset=utf-8"},
      entry{"ico", "image/x-icon"},
      entry{"jpeg", "image/jpeg"},
      entry{"jpg", "image/jpeg"},
      entry{"js", "text/javascript; charset=utf-8"},
      entry{"json", "application/json"},
      entry{"md", "text/markdown; charset=utf-8"},
      entry{"mp4", "video/mp4"},
      entry{"pdf", "application/pdf"},
      entry{"png", "image/png"},
      entry{"svg", "image/svg+xml"},
      entry{"txt", "text/plain; charset=utf-8"},
      entry{"wasm", "application/wasm"},
      entry{"webp", "image/webp"},
      entry{"xml", "application/xml"},
  };
  const std::size_t dot = path.find_last_of("./");
  std::string extension(dot == std::string_view::npos || path[dot] == '/' ? ""
                                                                          : path.substr(dot + 1));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const found = std::find_if(
      types.begin(), types.end(), [&](const entry& each) { return each.first == extension; });
  return found == types.end() ? "application/octet-stream" : found->second;
}

std::string_view reason(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Bad Request";
  }
}

std::string response_head(unsigned status, std::uint64_t length, bool keep_alive,
                          std::string_view more) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + ' ';
  head += reason(status);
  head += "\r\n";
  head += more;
  if (status == 405) head += "Allow: GET, HEAD\r\n";
  if (status != 304) head += "Content-Length: " + std::to_string(length) + "\r\n";
  head += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return head;
}

}  // namespace files
