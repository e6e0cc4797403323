// connection.cpp: one client: requests in order, each answered with a file or a status.
// SPDX-License-Identifier: MIT
#include "connection.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <utility>
#include <vector>

namespace files {

namespace {

constexpr std::size_t header_limit_bytes = 8192;  // Beast's own, too
constexpr std::uint64_t piece_bytes = 1 << 20;
constexpr std::chrono::seconds linger_time{1};

}  // namespace

tandem::task<void> connection::run() {
  while (true) {
    std::size_t consumed = 0;
    const std::optional<http_request> request = parse_request(input_, consumed);
    if (!request) {
      if (input_.size() > header_limit_bytes) {
        co_await refuse(431, false, false);
        co_return co_await take_leave();
      }
      if (!co_await receive_more()) co_return;
      continue;
    }
    input_.erase(0, consumed);
    service_.requests.fetch_add(1, std::memory_order_relaxed);
    const bool keep_alive = request->keep_alive && !draining_.stop_requested();
    if (request->status != 200) {
      co_await refuse(request->status, keep_alive, request->is_head);
    } else {
      co_await answer(*request, keep_alive);
    }
    if (!keep_alive) co_return co_await take_leave();
  }
}

tandem::task<void> connection::turn_away() {
  co_await refuse(503, false, false, "Retry-After: 1\r\n");
  co_await take_leave();
}

// Closing with something unread would be a reset, which may overtake the answer.
tandem::task<void> connection::take_leave() {
  stream_.shutdown();
  const auto end = tandem::now() + linger_time;
  while (tandem::now() < end) {
    auto got =
        co_await tandem::as_result(tandem::with_timeout(end - tandem::now(), stream_.receive()));
    if (!got || got.value().empty()) co_return;
  }
}

tandem::task<bool> connection::receive_more() {
  auto got = co_await tandem::as_result(
      tandem::with_stop(draining_, tandem::with_timeout(service_.idle_time, stream_.receive())));
  if (!got || got.value().empty()) {
    // A client that has begun a request is told what it waits for in vain.
    if (!got && !input_.empty()) co_await refuse(408, false, false);
    co_return false;
  }
  input_ += tandem::io::text_of(got.value().bytes());
  co_return true;
}

tandem::task<void> connection::answer(const http_request& request, bool keep_alive) {
  const auto path = relative_path(request.target);
  file_body file;
  if (path && !path->empty()) file = co_await open_below(service_.root, *path);
  if (!file.is_open()) co_return co_await refuse(404, keep_alive, request.is_head);

  std::string fields = "ETag: " + file.tag() + "\r\n";
  if (!request.none_match.empty() && request.none_match == file.tag()) {
    co_return co_await write(response_head(304, 0, keep_alive, fields));
  }
  fields += "Accept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\nContent-Type: ";
  fields += content_type(*path);
  fields += "\r\n";
  byte_range part(0, file.size());
  unsigned status = 200;
  // RFC 9110, 14.2: ranges are for GET alone.
  const std::string_view range = request.is_head ? std::string_view() : request.range;
  switch (find_range(range, file.size(), part)) {
    case range_answer::whole: break;
    case range_answer::part:
      status = 206;
      fields += "Content-Range: bytes " + std::to_string(part.begin) + '-' +
                std::to_string(part.end - 1) + '/' + std::to_string(file.size()) + "\r\n";
      break;
    case range_answer::unsatisfiable:
      co_return co_await write(response_head(
          416, 0, keep_alive, "Content-Range: bytes */" + std::to_string(file.size()) + "\r\n"));
  }
  co_await write(response_head(status, part.end - part.begin, keep_alive, fields));
  if (!request.is_head) co_await send_part(std::move(file), part);
}

tandem::task<void> connection::send_part(file_body file, byte_range part) {
  while (part.begin < part.end) {
    const std::uint64_t now = std::min(piece_bytes, part.end - part.begin);
    // Who takes some of it in time is not too slow.
    const std::uint64_t sent = co_await tandem::with_timeout(
        service_.idle_time, stream_.send_file_some(file.contents(), part.begin, now));
    if (sent == 0) {
      throw std::system_error(tandem::io::stream_errc::unexpected_end,
                              "the file was cut meanwhile");
    }
    part.begin += sent;
    service_.bytes.fetch_add(sent, std::memory_order_relaxed);
  }
}

tandem::task<void> connection::refuse(unsigned status, bool keep_alive, bool is_head,
                                      std::string_view more) {
  std::string body = std::to_string(status) + ' ';
  body += reason(status);
  body += '\n';
  std::string fields = "Content-Type: text/plain; charset=utf-8\r\n";
  fields += more;
  std::string answer = response_head(status, body.size(), keep_alive, fields);
  if (!is_head) answer += body;
  co_await write(std::move(answer));
}

tandem::task<void> connection::write(std::string text) {
  co_await tandem::with_timeout(service_.idle_time, stream_.write_all(tandem::io::bytes_of(text)));
}

}  // namespace files
