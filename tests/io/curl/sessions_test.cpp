// sessions_test.cpp: what the requests of a session share, and what they do not.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <stdexcept>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/curl/curl_support.hpp"
#include "io/support/file_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

TEST(curl_sessions, cookies_are_kept_only_if_they_are_to_be) {
  TANDEM_NEEDS_SERVER("nginx");
  for (const curl::cookie_policy policy : {curl::cookie_policy::off, curl::cookie_policy::memory}) {
    curl::session_options options;
    options.cookies = policy;
    in_a_session(options, [&](curl::session& session) -> task<void> {
      const curl::response first = co_await session.get(nginx_url("/cookie"));
      EXPECT_EQ(first.body, "");
      EXPECT_EQ(first.headers.get("set-cookie"), "seen=yes; Path=/");
      const curl::response second = co_await session.get(nginx_url("/cookie"));
      EXPECT_EQ(second.body, policy == curl::cookie_policy::off ? "" : "seen=yes");
      curl::request own(nginx_url("/cookie"));
      own.cookies = "mine=1";
      const curl::response third = co_await session.send(own);
      EXPECT_NE(third.body.find("mine=1"), std::string::npos) << third.body;
    });
  }
}

TEST(curl_sessions, a_file_of_cookies_is_read_and_written) {
  TANDEM_NEEDS_SERVER("nginx");
  curl::session_options options;
  options.cookies = curl::cookie_policy::file;
  options.cookie_file = std::filesystem::temp_directory_path() /
                        ("tandem-cookies-" + std::to_string(shared_server("nginx").port()));
  std::filesystem::remove(options.cookie_file);
  for (const std::string expected : {"", "seen=yes"}) {
    in_a_session(options, [&](curl::session& session) -> task<void> {
      const curl::response page = co_await session.get(nginx_url("/cookie"));
      EXPECT_EQ(page.body, expected);
    });
  }
  using std::filesystem::perms;
  const perms given = std::filesystem::status(options.cookie_file).permissions();
  EXPECT_EQ(given & (perms::group_all | perms::others_all), perms::none);
  std::filesystem::remove(options.cookie_file);
}

TEST(curl_sessions, over_tls_http_2_is_spoken_to_whom_is_trusted) {
  TANDEM_NEEDS_SERVER("nginx+tls");
  test_server& server = shared_server("nginx+tls");
  const std::string url = "https://localhost:" + std::to_string(server.port()) + "/1M.bin";
  in_a_session([&](curl::session& session) -> task<void> {
    co_await says_of(session.get(url), errc::bad_certificate, "session_options::ca_file");
  });
  curl::session_options trusting;
  trusting.ca_file = server.certificate();
  trusting.version = curl::http_version::http2;
  in_a_session(trusting, [&](curl::session& session) -> task<void> {
    const std::string expected = file_bytes(1 << 20);
    const auto one = [&]() -> task<void> {
      const curl::response page = co_await session.get(url);
      EXPECT_EQ(page.version, curl::http_version::http2);
      EXPECT_TRUE(page.body == expected);
    };
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 20; ++i) scope.spawn(one());
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
    EXPECT_EQ(session.stats().connections_opened, 1U);  // one for all of them
  });
  in_a_session(trusting, [&](curl::session& session) -> task<void> {
    const std::string other = "https://other.localhost:" + std::to_string(server.port()) + "/";
    co_await says_of(session.get(other), errc::bad_certificate,
                     "ask for a name that the certificate has");
  });
  in_a_session(trusting, [&](curl::session& session) -> task<void> {
    curl::transfer paused = co_await session.open(curl::request(url));
    std::array<std::byte, 10> room;
    EXPECT_EQ(co_await paused.read(room), 10U);
    curl::request other(url);
    other.range = "0-99";
    const auto got = co_await tandem::as_result(tandem::with_timeout(10s, session.send(other)));
    EXPECT_EQ(got.has_value(), true);
  });
  curl::session_options careless;
  careless.verify = false;
  careless.version = curl::http_version::http1_1;
  in_a_session(careless, [&](curl::session& session) -> task<void> {
    const curl::response page = co_await session.get(url);
    EXPECT_EQ(page.version, curl::http_version::http1_1);
    EXPECT_EQ(page.body.size(), std::size_t{1} << 20);
  });
  curl::session_options lost;
  lost.ca_file = "/nowhere/authorities.pem";
  in_a_session(lost, [&](curl::session& session) -> task<void> {
    EXPECT_EQ(co_await code_of(session.get(url)), errc::bad_option);
  });
}

TEST(curl_sessions, authorities_are_read_once) {
  TANDEM_NEEDS_SERVER("nginx+tls");
  test_server& server = shared_server("nginx+tls");
  const temporary_folder folder;
  curl::session_options options;
  options.ca_file = folder / "authority.pem";
  options.version = curl::http_version::http1_1;
  std::filesystem::copy_file(server.certificate(), options.ca_file);
  in_a_session(options, [&](curl::session& session) -> task<void> {
    curl::request asked("https://localhost:" + std::to_string(server.port()) + "/100.bin");
    asked.set_option(75, 1);  // CURLOPT_FORBID_REUSE
    EXPECT_EQ(co_await code_of(session.send(asked)), std::error_code());
    std::filesystem::remove(options.ca_file);
    EXPECT_EQ(co_await code_of(session.send(asked)), std::error_code());
    EXPECT_EQ(session.stats().connections_opened, 2U);
  });
}

TEST(curl_sessions, names_are_asked_for_once) {
  TANDEM_NEEDS_SERVER("nginx");
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  curl::session_options options;
  in_a_session(options, [&](curl::session& session) -> task<void> {
    const std::string url = "http://" + std::string(name) + ":1/";
    const auto one = [&]() -> task<void> {
      const std::error_code code = co_await code_of(session.get(url));
      EXPECT_TRUE(code == errc::could_not_connect || code == errc::could_not_resolve) << code;
    };
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 50; ++i) scope.spawn(one());
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
    EXPECT_LE(session.stats().names_asked, 50U);
    EXPECT_GE(session.stats().names_asked, 1U);
  });
}

/// Says what it was asked.
task<void> tell(tandem::io::tcp_stream stream) {
  const std::string asked = co_await read_request(stream);
  std::string answer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
  answer += asked;
  co_await stream.write_all(tandem::io::bytes_of(answer));
}

TEST(curl_sessions, users_passwords_tokens_and_proxies_are_sent_as_they_are_to_be) {
  test_runtime rt;
  rt.run(beside_server(tell, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      curl::request basic(url_of(port, "/private"));
      basic.auth = curl::authentication::basic;
      basic.user = "me";
      basic.password = "secret";
      const curl::response first = co_await session.send(basic);
      EXPECT_NE(first.body.find("Authorization: Basic bWU6c2VjcmV0"), std::string::npos);
      curl::request bearer(url_of(port, "/private"));
      bearer.auth = curl::authentication::bearer;
      bearer.token = "abc";
      const curl::response second = co_await session.send(bearer);
      EXPECT_NE(second.body.find("Authorization: Bearer abc"), std::string::npos) << second.body;
      curl::request post("POST", url_of(port, "/form"));
      post.body = "x=1";
      const curl::response third = co_await session.send(post);
      EXPECT_EQ(third.body.find("Content-Type"), std::string::npos) << third.body;
      EXPECT_NE(third.body.find("Content-Length: 3"), std::string::npos) << third.body;
      // The handle was used for a POST before: nothing of that is left.
      const curl::response fourth = co_await session.get(url_of(port, "/again"));
      EXPECT_TRUE(fourth.body.starts_with("GET /again HTTP/1.1\r\n")) << fourth.body;
      EXPECT_EQ(fourth.body.find("Authorization"), std::string::npos) << fourth.body;
      curl::request raw(url_of(port));
      raw.set_option(10016, "https://example.org/from");  // CURLOPT_REFERER
      const curl::response fifth = co_await session.send(raw);
      EXPECT_NE(fifth.body.find("Referer: https://example.org/from"), std::string::npos);
    };
    co_await curl::with_session(body);
    curl::session_options options;
    options.proxy = url_of(port, "");
    const auto by_proxy = [&](curl::session& session) -> task<void> {
      const curl::response page = co_await session.get("http://no-such-host.invalid/x");
      EXPECT_TRUE(page.body.starts_with("GET http://no-such-host.invalid/x HTTP/1.1\r\n"));
    };
    co_await curl::with_session(options, by_proxy);
  }));
}

TEST(curl_sessions, with_session_returns_what_its_body_returns_and_throws_what_it_throws) {
  test_runtime rt;
  const auto seven = [](curl::session&) -> task<int> { co_return 7; };
  EXPECT_EQ(rt.run(curl::with_session(seven)), 7);
  const auto fails = [](curl::session&) -> task<int> {
    throw std::domain_error("no");
    co_return 0;
  };
  EXPECT_THROW(rt.run(curl::with_session(fails)), std::domain_error);
}

}  // namespace
