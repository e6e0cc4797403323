// curl_support.hpp: sessions for tests, an nginx for all of them, and small servers that say what they are told.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tandem/io/curl.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/spawn.hpp>
#include <utility>

#include "io/support/io_support.hpp"
#include "io/support/servers.hpp"

namespace tandem::test {

namespace curl = io::curl;

/// Whether there is one for all tests, started by now: on the thread that runs the tests, with which it ends.
inline bool has_shared_server(const std::string& name) {
  static std::map<std::string, bool> known;
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const bool is_there = test_server::is_installed(name);
  if (is_there) (void)shared_server(name);
  return known.emplace(name, is_there).first->second;
}
#define TANDEM_NEEDS_SERVER(name) \
  if (!has_shared_server(name)) GTEST_SKIP() << (name) << " is not installed"

/// "http://127.0.0.1:port" and that path, of the nginx that this process shares.
inline std::string nginx_url(std::string_view path) {
  return "http://127.0.0.1:" + std::to_string(shared_server("nginx").port()) + std::string(path);
}
inline std::string url_of(std::uint16_t port, std::string_view path = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + std::string(path);
}
/// What nginx's files of that size hold.
inline std::string file_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

/// Runs `body(session)` in a session of its own.
template <class Body>
void in_a_session(curl::session_options options, Body body) {
  test_runtime rt;
  io::install(*rt, steady_threads());
  rt.run(curl::with_session(std::move(options), body));
}
template <class Body>
void in_a_session(Body body) {
  in_a_session(curl::session_options(), std::move(body));
}

/// Runs `body(port)` beside a server that runs `handler(stream)` for each connection.
template <class Handler, class Body>
task<void> beside_server(Handler handler, Body body) {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  io::serve_options options;
  options.drain_timeout = std::chrono::seconds(0);
  options.on_handler_error = [](const std::exception_ptr&) {};  // a client that has gone
  auto server = tandem::spawn(io::serve(std::move(listener), handler, options));
  result<void> ended = co_await as_result(body(port));
  server.cancel();
  co_await server;
  ended.value();
}

/// Reads until the head of a request has come, and a body of 3 bytes, if there is one.
inline task<std::string> read_request(io::tcp_stream& stream) {
  std::string text;
  std::array<std::byte, 4096> room;
  while (true) {
    const std::size_t end = text.find("\r\n\r\n");
    const bool has_body = text.find("Content-Length: 3\r\n") != text.npos;
    if (end != text.npos && (!has_body || text.size() >= end + 7)) break;
    const std::size_t size = co_await stream.read(room);
    if (size == 0) break;
    text += io::text_of(std::span(room).first(size));
  }
  co_return text;
}

/// For beside_server(): one connection after the other is told the same, and closed.
inline auto says(std::string text) {
  return [text](io::tcp_stream stream) -> task<void> {
    (void)co_await read_request(stream);
    co_await stream.write_all(io::bytes_of(text));
  };
}

/// What `wait` fails with, as a code; none if it does not fail.
inline task<std::error_code> code_of(task<curl::response> wait) {
  const result<curl::response> got = co_await as_result(std::move(wait));
  co_return got.has_value() ? std::error_code() : got.error();
}

/// That `wait` fails so, and says that.
inline task<void> says_of(task<curl::response> wait, curl::errc code, std::string_view words) {
  const result<curl::response> got = co_await as_result(std::move(wait));
  EXPECT_EQ(got.error(), make_error_code(code)) << got.error().message();
  if (got.has_value()) co_return;
  try {
    std::rethrow_exception(got.exception());
  } catch (const std::exception& failure) {
    EXPECT_NE(std::string_view(failure.what()).find(words), std::string_view::npos)
        << failure.what();
  }
}

}  // namespace tandem::test
