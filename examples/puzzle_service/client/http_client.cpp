// http_client.cpp: a small HTTP/1.1 client on tandem.
// SPDX-License-Identifier: MIT
#include "http_client.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <tandem/io/bytes_of.hpp>
#include <utility>

namespace client {

namespace {

// The number that follows `label` in a header.
template <class Number>
Number number_after(std::string_view header, std::string_view label) {
  const std::size_t at = header.find(label);
  Number number{};
  if (at != std::string_view::npos) {
    const char* const first = header.data() + at + label.size();
    const auto parsed = std::from_chars(first, header.data() + header.size(), number);
    if (parsed.ec == std::errc()) return number;
  }
  throw std::runtime_error(fmt::format("no '{}' in the answer", label));
}

}  // namespace

tandem::task<http_client> http_client::connect(tandem::io::endpoint server) {
  tandem::io::tcp_stream stream = co_await tandem::io::tcp_stream::connect(server);
  co_return http_client(std::move(stream));
}

tandem::task<void> http_client::send(std::string requests) {
  co_await stream_.write_all(tandem::io::bytes_of(requests));
}

tandem::task<answer> http_client::receive() {
  std::size_t header_end = received_.find("\r\n\r\n");
  while (header_end == std::string::npos) {
    co_await read_more();
    header_end = received_.find("\r\n\r\n");
  }
  const std::size_t body_begin = header_end + 4;
  const std::string header = received_.substr(0, body_begin);
  answer answer;
  answer.status = number_after<int>(header, "HTTP/1.1 ");
  const auto length = number_after<std::size_t>(header, "Content-Length: ");
  while (received_.size() < body_begin + length) co_await read_more();
  answer.body = received_.substr(body_begin, length);
  received_.erase(0, body_begin + length);
  co_return answer;
}

tandem::task<void> http_client::read_more() {
  std::array<std::byte, 8192> bytes;
  const std::size_t count = co_await stream_.read(bytes);
  if (count == 0) throw std::runtime_error("the service closed the connection");
  received_ += tandem::io::text_of(std::span(bytes).first(count));
}

std::string get_request(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: puzzle_service\r\n\r\n", path);
}

std::string post_request(std::string_view path, std::string_view json) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: puzzle_service\r\nContent-Type: application/json\r\n"
      "Cache-Control: no-cache\r\nContent-Length: {}\r\n\r\n{}",
      path, json.size(), json);
}

}  // namespace client
