// errors_test.cpp: each failure has its code, and curl's words; none has a password.
// SPDX-License-Identifier: MIT
#include <array>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/sleep.hpp>
#include <vector>

#include "io/curl/curl_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

curl::request limited(std::string url, const curl::transfer_limits& limits) {
  curl::request asked(std::move(url));
  asked.limits = limits;
  return asked;
}

TEST(curl_errors, nobody_listens) {
  in_a_session([](curl::session& session) -> task<void> {
    try {
      (void)co_await session.get("http://me:secret@127.0.0.1:1/x");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const curl::error& failure) {
      EXPECT_EQ(failure.code(), errc::could_not_connect);
      EXPECT_STREQ(failure.code().category().name(), "tandem.curl");
      const std::string what = failure.what();
      EXPECT_NE(what.find("Failed to connect to 127.0.0.1 port 1"), std::string::npos) << what;
      EXPECT_NE(what.find("http://me@127.0.0.1:1/x"), std::string::npos) << what;
      EXPECT_EQ(what.find("secret"), std::string::npos) << what;
      EXPECT_EQ(failure.library_code(), 7);
    }
  });
}

TEST(curl_errors, names_urls_and_options_that_are_none) {
  in_a_session([](curl::session& session) -> task<void> {
    EXPECT_EQ(co_await code_of(session.get("http://no-such-host.invalid/")),
              errc::could_not_resolve);
    EXPECT_EQ(co_await code_of(session.get("http://[::1")), errc::bad_url);
    EXPECT_EQ(co_await code_of(session.get("")), errc::bad_url);
    EXPECT_EQ(co_await code_of(session.get("file:///etc/passwd")), errc::bad_url);
    EXPECT_EQ(co_await code_of(session.get("gopher://127.0.0.1:1/")), errc::bad_url);
    curl::request split("http://127.0.0.1:1/");
    split.headers.add("X-Split", "a\r\nX-Other: b");
    EXPECT_EQ(co_await code_of(session.send(split)), errc::bad_option);
    EXPECT_EQ(co_await code_of(session.send(curl::request("GET /x", "http://127.0.0.1:1/"))),
              errc::bad_option);
    curl::request raw("http://127.0.0.1:1/");
    raw.set_option(20011, 1);  // CURLOPT_WRITEFUNCTION: not a number's
    EXPECT_EQ(co_await code_of(session.send(raw)), errc::bad_option);
  });
}

TEST(curl_errors, a_session_names_the_option_that_cannot_be_used) {
  test_runtime rt;
  curl::session_options options;
  options.cookies = curl::cookie_policy::file;
  options.cookie_file = "/proc/self/mem/cookies";
  const auto body = [](curl::session&) -> task<void> { co_return; };
  EXPECT_THROW(rt.run(curl::with_session(options, body)), std::system_error);
}

curl::session_options with_cookie_file(const std::string& path) {
  curl::session_options options;
  options.cookies = curl::cookie_policy::file;
  options.cookie_file = path;
  return options;
}

/// That the call fails by bad_option, and says all of that.
template <class Body>
void refuses(const curl::session_options& options, Body body,
             std::initializer_list<std::string_view> words) {
  test_runtime rt;
  try {
    rt.run(curl::with_session(options, body));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const curl::error& failure) {
    EXPECT_EQ(failure.code(), errc::bad_option);
    for (const std::string_view each : words) {
      EXPECT_NE(std::string_view(failure.what()).find(each), std::string_view::npos)
          << failure.what();
    }
  }
}

TEST(curl_errors, a_cookie_file_that_cannot_be_used_is_named) {
  const auto seven = [](curl::session&) -> task<int> { co_return 7; };
  refuses(with_cookie_file("/nowhere/at/all"), seven,
          {"session_options::cookie_file", "/nowhere/at/all cannot be written"});
  refuses(with_cookie_file("/proc/self/mem/cookies"), seven,
          {"session_options::cookie_file", "/proc/self/mem/cookies cannot be read"});
  const auto never = [](curl::session&) -> task<void> {
    ADD_FAILURE() << "the body was run";
    co_return;
  };
  refuses(with_cookie_file(""), never, {"session_options::cookie_file is empty"});
}

TEST(curl_errors, a_body_s_failure_is_not_lost_for_a_cookie_file_that_cannot_be_written) {
  std::vector<std::string> suppressed;
  tandem::runtime_options options = with_threads(2);
  options.on_suppressed_exception = [&](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const curl::error& told) {
      suppressed.emplace_back(told.words());
    }
  };
  test_runtime rt(options);
  const auto fails = [](curl::session&) -> task<int> {
    throw std::domain_error("the body's own");
    co_return 0;
  };
  EXPECT_THROW(rt.run(curl::with_session(with_cookie_file("/nowhere/at/all"), fails)),
               std::domain_error);
  ASSERT_EQ(suppressed.size(), 1U);
  EXPECT_TRUE(suppressed[0].starts_with("session_options::cookie_file")) << suppressed[0];
}

TEST(curl_errors, a_proxy_that_cannot_be_used_is_refused_when_the_session_begins) {
  const auto never = [](curl::session&) -> task<void> {
    ADD_FAILURE() << "the body was run";
    co_return;
  };
  for (const std::string_view none : {"foo://x", "http://[::1", "http://a b:1"}) {
    curl::session_options options;
    options.proxy = none;
    refuses(options, never, {"session_options::proxy", none});
  }
  curl::session_options secret;
  secret.proxy = "foo://me:secret@x";
  refuses(secret, never, {"session_options::proxy: foo://me@x"});
}

TEST(curl_errors, a_proxy_whose_name_is_unknown_is_named_as_the_proxy) {
  curl::session_options options;
  options.proxy = "http://no-such-proxy.invalid:3128";
  in_a_session(options, [](curl::session& session) -> task<void> {
    co_await says_of(session.get("http://127.0.0.1:1/x"), errc::could_not_resolve,
                     "the proxy's name no-such-proxy.invalid could not be resolved");
  });
}

TEST(curl_errors, a_server_that_speaks_no_tls_is_asked_about) {
  test_runtime rt;
  const auto speaks_http = [](tandem::io::tcp_stream stream) -> task<void> {
    std::array<std::byte, 4096> room;
    (void)co_await stream.read(room);
    co_await stream.write_all(tandem::io::bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"));
  };
  rt.run(beside_server(speaks_http, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      co_await says_of(session.get("https://127.0.0.1:" + std::to_string(port)), errc::tls_failed,
                       "does the server speak TLS on this port?");
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_errors, limits_of_size) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    curl::transfer_limits small;
    small.body_bytes = 1000;
    co_await says_of(session.send(limited(nginx_url("/1M.bin"), small)), errc::too_large,
                     "transfer_limits::body_bytes, 1000 bytes");
    EXPECT_EQ(co_await code_of(session.send(limited(nginx_url("/100.bin"), small))),
              std::error_code());
    curl::transfer_limits no_head;
    no_head.head_bytes = 100;
    co_await says_of(session.send(limited(nginx_url("/100.bin"), no_head)), errc::too_large,
                     "transfer_limits::head_bytes, 100 bytes");
  });
}

TEST(curl_errors, limits_of_time) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    curl::transfer_limits short_time;
    short_time.total = 20ms;
    EXPECT_EQ(co_await code_of(session.send(limited(nginx_url("/slow/1M.bin"), short_time))),
              errc::timed_out);
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

task<std::error_code> what_comes_of(std::string text) {
  std::error_code code;
  co_await beside_server(says(std::move(text)), [&](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      code = co_await code_of(session.get(url_of(port)));
      EXPECT_EQ(co_await code_of(session.get(url_of(port))), code);
    };
    co_await curl::with_session(body);
  });
  co_return code;
}

TEST(curl_errors, a_server_that_talks_nonsense_or_stops_in_the_middle) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    EXPECT_EQ(co_await what_comes_of("this is no HTTP at all, and a long line of it\n"),
              errc::protocol_error);
    EXPECT_EQ(co_await what_comes_of(""), errc::connection_closed);
    EXPECT_EQ(co_await what_comes_of("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"),
              errc::connection_closed);
    EXPECT_EQ(
        co_await what_comes_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
        errc::receive_failed);
    EXPECT_EQ(co_await what_comes_of("HTTP/1.1 200 OK\r\nContent-Le"), errc::connection_closed);
    EXPECT_EQ(
        co_await what_comes_of("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabcdefghijkl"),
        std::error_code());  // nobody has asked for it to be undone
    EXPECT_EQ(co_await what_comes_of("HTTP/1.1 200 OK\r\n\r\nall until the end"),
              std::error_code());
  }());
}

TEST(curl_errors, a_head_without_end_is_too_large) {
  test_runtime rt;
  const auto endless = [](tandem::io::tcp_stream stream) -> task<void> {
    co_await stream.write_all(tandem::io::bytes_of("HTTP/1.1 200 OK\r\n"));
    const std::string line = "X-More: " + std::string(1000, 'x') + "\r\n";
    while (true) co_await stream.write_all(tandem::io::bytes_of(line));
  };
  rt.run(beside_server(endless, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      EXPECT_EQ(co_await code_of(session.get(url_of(port))), errc::too_large);
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_errors, a_body_without_end_is_too_large) {
  test_runtime rt;
  const auto endless = [](tandem::io::tcp_stream stream) -> task<void> {
    co_await stream.write_all(tandem::io::bytes_of("HTTP/1.1 200 OK\r\n\r\n"));
    const std::string piece(100'000, 'x');
    while (true) co_await stream.write_all(tandem::io::bytes_of(piece));
  };
  rt.run(beside_server(endless, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      curl::transfer_limits limits;
      limits.body_bytes = 2'000'000;
      co_await says_of(session.send(limited(url_of(port), limits)), errc::too_large,
                       "transfer_limits::body_bytes, 2000000 bytes");
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_errors, a_compressed_body_that_cannot_be_undone) {
  test_runtime rt;
  const std::string text = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabcdefghijklmnopq";
  rt.run(beside_server(says(text), [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      curl::request asked(url_of(port));
      asked.compressed = true;
      EXPECT_EQ(co_await code_of(session.send(asked)), errc::bad_encoding);
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_errors, continued_and_repeated_fields_are_kept) {
  test_runtime rt;
  const std::string text =
      "HTTP/1.1 200 OK\r\nX-Long: one\r\n  two\r\nX-Twice: a\r\nx-twice: b\r\nContent-Length: "
      "2\r\n\r\nhi";
  rt.run(beside_server(says(text), [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      const curl::response page = co_await session.get(url_of(port));
      EXPECT_EQ(page.headers.get("x-long"), "one two");
      EXPECT_EQ(page.headers.all("X-TWICE"), (std::vector<std::string_view>{"a", "b"}));
      EXPECT_FALSE(page.headers.has("x-none"));
    };
    co_await curl::with_session(body);
  }));
}

}  // namespace
