// hostile_test.cpp: servers that mean no good, and users who lose interest: a clear error each time, and nothing is left.
// SPDX-License-Identifier: MIT
#include <stdexcept>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/curl/curl_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

/// What a GET is told by a server that runs `handler(stream)`.
template <class Handler>
std::error_code told_by(Handler handler, curl::transfer_limits limits = {}) {
  test_runtime rt;
  std::error_code code;
  rt.run(beside_server(handler, [&](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      curl::request asked(url_of(port));
      asked.limits = limits;
      code = co_await code_of(session.send(asked));
    };
    co_await curl::with_session(body);
  }));
  return code;
}

/// Says `first`, and then `again` for ever.
auto says_for_ever(std::string first, std::string again) {
  return [first, again](tandem::io::tcp_stream stream) -> task<void> {
    (void)co_await read_request(stream);
    co_await stream.write_all(tandem::io::bytes_of(first));
    while (true) co_await stream.write_all(tandem::io::bytes_of(again));
  };
}

/// Says `text`, and then nothing, until the client has gone.
/// @param first  so many bytes of the body are read before
auto says_and_waits(std::string text, std::size_t first = 0) {
  return [text, first](tandem::io::tcp_stream stream) -> task<void> {
    (void)co_await read_request(stream);
    std::array<std::byte, 4096> room;
    std::size_t had = 0;
    while (had < first) had += co_await stream.read(room);
    co_await stream.write_all(tandem::io::bytes_of(text));
    while (true) {
      const std::size_t size = co_await stream.read(room);
      if (size == 0) co_return;
    }
  };
}

TEST(curl_hostile, a_head_of_whatever_kind_without_end_is_too_large) {
  const std::string first = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(told_by(says_for_ever(first + "X-Long: ", std::string(10'000, 'x'))), errc::too_large);
  EXPECT_EQ(told_by(says_for_ever(first, "X-Short: y\r\n")), errc::too_large);
  EXPECT_EQ(told_by(says_for_ever("HTTP/1.1 200 " + std::string(50, 'O'), "K")), errc::too_large);
  EXPECT_EQ(told_by(says_for_ever("", "HTTP/1.1 100 Continue\r\n\r\n")), errc::too_large);
  EXPECT_EQ(told_by(says_for_ever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                                  "X-Trailer: y\r\n")),
            errc::too_large);
}

TEST(curl_hostile, an_answer_that_stops_anywhere_is_too_slow) {
  curl::transfer_limits short_time;
  short_time.total = 50ms;
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& text :
       {std::string(), std::string("HTTP"), std::string("HTTP/1.1 200 OK\r\nContent-"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), chunked + "5",
        chunked + "5\r\nabc", chunked + "5\r\nabcde\r\n0\r\n",
        std::string("HTTP/1.1 100 Continue\r\n\r\n")}) {
    EXPECT_EQ(told_by(says_and_waits(text), short_time), errc::timed_out) << text;
  }
}

TEST(curl_hostile, redirects_that_lead_nowhere_end_with_a_word) {
  const auto to = [](std::string where) {
    // Said, since the server closes: curl could send its next request into a connection that is reset.
    return says("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " +
                where + "\r\n\r\n");
  };
  EXPECT_EQ(told_by(to("/again")), errc::too_many_redirects);
  EXPECT_EQ(told_by(to("?longer&longer")), errc::too_many_redirects);
  EXPECT_EQ(told_by(to("file:///etc/passwd")), errc::bad_url);
  EXPECT_EQ(told_by(to("gopher://127.0.0.1:1/")), errc::bad_url);
  EXPECT_EQ(told_by(to("http://127.0.0.1:1/")), errc::could_not_connect);
  EXPECT_EQ(told_by(to("http://no-such-host.invalid/")), errc::could_not_resolve);
  EXPECT_EQ(told_by(to("http://[::1")), errc::bad_url);
  EXPECT_EQ(told_by(to("http://127.0.0.1:99999/")), errc::bad_url);
}

TEST(curl_hostile, heads_that_contradict_themselves_are_refused) {
  const std::string first = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(told_by(says(first + "Content-Length: -5\r\n\r\n12345")), errc::protocol_error);
  EXPECT_EQ(told_by(says(first + "Content-Length: 99999999999999999999\r\n\r\n1")),
            errc::too_large);
  EXPECT_EQ(told_by(says(first + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFF\r\n")),
            errc::receive_failed);
  EXPECT_EQ(told_by(says("HTTP/9.9 200 OK\r\n\r\n")), errc::protocol_error);
  EXPECT_EQ(told_by(says("HTTP/1.1 abc\r\n\r\n")), errc::protocol_error);
  EXPECT_EQ(told_by(says(first + std::string("X-Zero: a\0b\r\n\r\n", 15))), errc::protocol_error);
}

TEST(curl_hostile, trailers_are_no_second_head) {
  test_runtime rt;
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
      "HTTP/1.1 500: no\r\nX-Sum: 7\r\n\r\n";
  rt.run(beside_server(says(text), [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      const curl::response page = co_await session.get(url_of(port));
      EXPECT_EQ(page.status, 200);
      EXPECT_EQ(page.body, "hi");
      EXPECT_EQ(page.headers.get("Transfer-Encoding"), "chunked");
      EXPECT_EQ(page.headers.get("X-Sum"), "7");
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_hostile, urls_that_are_none_are_refused_without_a_connection) {
  in_a_session([](curl::session& session) -> task<void> {
    for (const std::string_view url :
         {"http://", "http://127.0.0.1:99999/", "http://127.0.0.1:port/", "://x", "http://a b/",
          "http://user@:80/", "http://127.0.0.1:1 /", "http://127.0.0.1/\n", "http://[::1]x/",
          "ldap://127.0.0.1/", "HTTPX://127.0.0.1/"}) {
      const std::error_code code = co_await code_of(session.get(std::string(url)));
      EXPECT_EQ(code, errc::bad_url) << url;
    }
    const std::string_view with_zero("http://127.0.0.1:1/\0/x", 22);
    EXPECT_EQ(co_await code_of(session.get(std::string(with_zero))), errc::bad_url);
    const std::string endless = "http://127.0.0.1:1/" + std::string(9'000'000, 'x');
    const std::error_code code = co_await code_of(session.get(endless));
    EXPECT_TRUE(code == errc::bad_url || code == errc::bad_option) << code;
    EXPECT_EQ(session.stats().connections_opened, 0U);
  });
}

TEST(curl_hostile, a_text_of_a_request_begins_no_line_of_the_head_and_is_never_cut_short) {
  in_a_session([](curl::session& session) -> task<void> {
    using text = std::string curl::request::*;
    for (const text which :
         {&curl::request::cookies, &curl::request::range, &curl::request::token,
          &curl::request::user, &curl::request::password, &curl::request::method}) {
      for (const std::string_view bad : {std::string_view("a\r\nX-Other: b"),
                                         std::string_view("a\nb"), std::string_view("a\0b", 3)}) {
        curl::request asked("http://127.0.0.1:1/");
        asked.auth = which == &curl::request::token ? curl::authentication::bearer
                                                    : curl::authentication::basic;
        asked.*which = std::string(bad);
        EXPECT_EQ(co_await code_of(session.send(asked)), errc::bad_option) << bad;
      }
    }
    EXPECT_EQ(session.stats().connections_opened, 0U);
  });
}

TEST(curl_hostile, a_body_beyond_its_limit_ends_each_way_of_reading) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    curl::request asked(nginx_url("/1M.bin"));
    asked.limits.emplace();
    asked.limits->body_bytes = 200'000;
    EXPECT_EQ(co_await code_of(session.send(asked)), errc::too_large);
    const auto opened = co_await tandem::as_result(session.open(asked));
    EXPECT_EQ(opened.error(), errc::too_large);  // its length says so
    curl::request to_sink = asked;
    std::size_t got = 0;
    to_sink.body_to([&](std::span<const std::byte> bytes) -> task<void> {
      got += bytes.size();
      co_return;
    });
    EXPECT_EQ(co_await code_of(session.send(to_sink)), errc::too_large);
    EXPECT_LE(got, 200'000U);
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

void refuse_after(std::size_t bytes) {
  test_runtime rt;
  const std::string text = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno";
  const auto refuses = says_and_waits(text, bytes);
  rt.run(beside_server(refuses, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      for (const bool with_size : {true, false}) {
        int asked = 0;
        tandem::event never;
        curl::request put("PUT", url_of(port));
        put.headers.add("Expect", "");
        const auto source = [&](std::span<std::byte> room) -> task<std::size_t> {
          if (++asked > 1) co_await never.wait();
          co_return room.size();
        };
        if (with_size) {
          put.body_from(source, 1'000'000'000);
        } else {
          put.body_from(source);
        }
        const auto got = co_await tandem::as_result(tandem::with_timeout(10s, session.send(put)));
        if (!got.has_value()) {
          ADD_FAILURE() << got.error() << (with_size ? " with" : " without") << " a size";
          continue;
        }
        EXPECT_EQ(got.value().status, 413);
        EXPECT_EQ(got.value().body, "no");
      }
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_hostile, an_upload_that_is_refused_before_its_end_is_answered_while_its_source_waits) {
  refuse_after(0);
  refuse_after(60'000);  // nearly all that the source gives: curl asks for more, and is paused
}

TEST(curl_hostile, a_server_that_leaves_ends_uploads_and_sinks) {
  test_runtime rt;
  const auto leaves = [](tandem::io::tcp_stream stream) -> task<void> {
    (void)co_await read_request(stream);
    co_await stream.write_all(
        tandem::io::bytes_of(std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")));
  };
  rt.run(beside_server(leaves, [](std::uint16_t port) -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      curl::request put("PUT", url_of(port));
      put.body_from([](std::span<std::byte> room) -> task<std::size_t> { co_return room.size(); });
      const std::error_code code = co_await code_of(session.send(put));
      EXPECT_TRUE(code == errc::send_failed || code == errc::connection_closed ||
                  code == errc::receive_failed)
          << code;
      curl::request down(url_of(port));
      std::size_t got = 0;
      down.body_to([&](std::span<const std::byte> bytes) -> task<void> {
        got += bytes.size();
        co_return;
      });
      EXPECT_EQ(co_await code_of(session.send(down)), errc::connection_closed);
      EXPECT_LE(got, 3U);
    };
    co_await curl::with_session(body);
  }));
}

TEST(curl_hostile, a_reader_that_loses_interest_is_stopped_wherever_it_waits) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    tandem::event never;
    tandem::event is_held_up;
    curl::request asked(nginx_url("/1M.bin"));
    asked.body_to([&](std::span<const std::byte>) -> task<void> {
      is_held_up.set();
      co_await never.wait();
    });
    const auto download = [&]() -> task<void> { (void)co_await session.send(asked); };
    const auto body = [&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(download());
      co_await is_held_up.wait();
      scope.request_stop();
    };
    const auto ended = co_await tandem::as_result(tandem::with_scope(body));
    EXPECT_TRUE(ended.has_value() || ended.is_cancelled());
    {  // One that is paused, and then let go without a word.
      curl::transfer paused = co_await session.open(curl::request(nginx_url("/1M.bin")));
      co_await tandem::resume_on(session.executor());
      std::uint64_t before = 0;
      do {
        before = session.stats().wake_ups;
        for (int i = 0; i < 100; ++i) co_await tandem::yield();
      } while (session.stats().wake_ups != before);
    }
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

}  // namespace
