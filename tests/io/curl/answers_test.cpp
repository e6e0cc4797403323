// answers_test.cpp: what nginx says, as a session tells it.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <tandem/event.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task_scope.hpp>

#include "io/curl/curl_support.hpp"

namespace {

using tandem::task;
using namespace tandem::test;
using curl::errc;

TEST(curl_answers, a_page_is_its_status_its_headers_and_its_body) {
  TANDEM_NEEDS_SERVER("nginx");
  const std::string url = nginx_url("/hello.txt");
  on_every_home([&]() -> task<void> {
    const auto body = [&](curl::session& session) -> task<void> {
      const curl::response page = co_await session.get(url);
      EXPECT_EQ(page.status, 200);
      EXPECT_TRUE(page.is_ok());
      EXPECT_EQ(page.body, "hello, world\n");
      EXPECT_EQ(page.headers.get("CONTENT-type"), "text/plain");
      EXPECT_EQ(page.headers.get("content-length"), "13");
      EXPECT_TRUE(page.headers[0].name == "Server") << page.headers[0].name;
      EXPECT_EQ(page.url, url);
      EXPECT_EQ(page.remote_address, "127.0.0.1");
      EXPECT_EQ(page.version, curl::http_version::http1_1);
      EXPECT_EQ(page.downloaded_bytes, 13U);
      EXPECT_EQ(page.new_connections, 1U);
      EXPECT_GT(page.times.total.count(), 0);
    };
    co_await curl::with_session(body);
  });
}

TEST(curl_answers, an_error_is_an_answer_unless_it_is_to_be_thrown) {
  TANDEM_NEEDS_SERVER("nginx");
  const std::string url = nginx_url("/teapot");
  in_a_session([&](curl::session& session) -> task<void> {
    const curl::response page = co_await session.get(url);
    EXPECT_EQ(page.status, 418);
    EXPECT_EQ(page.body, "short and stout");
    curl::request strict(url);
    strict.raise_for_status = true;
    try {
      (void)co_await session.send(strict);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const curl::error& refused) {
      EXPECT_EQ(refused.code(), errc::refused_by_status);
      EXPECT_EQ(refused.status(), 418);
      EXPECT_EQ(refused.url(), url);
      EXPECT_NE(std::string(refused.what()).find("418"), std::string::npos) << refused.what();
    }
  });
}

TEST(curl_answers, what_is_asked_arrives) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::request asked("OPTIONS", nginx_url("/echo"));
    asked.headers.add("X-Asked", "politely");
    asked.headers.add("User-Agent", "somebody");
    const curl::response page = co_await session.send(asked);
    EXPECT_EQ(page.body, "OPTIONS politely somebody");
    EXPECT_EQ(page.headers.get("x-answered"), "yes");
    const curl::response plain = co_await session.get(nginx_url("/echo"));
    EXPECT_EQ(plain.body, "GET  tandem-io_curl");
  });
}

TEST(curl_answers, a_head_has_no_body) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    const curl::response page = co_await session.send(curl::request("HEAD", nginx_url("/1M.bin")));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.headers.get("content-length"), "1048576");
    EXPECT_EQ(page.body, "");
  });
}

TEST(curl_answers, a_range_is_a_part_of_it) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::request part(nginx_url("/1M.bin"));
    part.range = "1000-1099";
    const curl::response page = co_await session.send(part);
    EXPECT_EQ(page.status, 206);
    EXPECT_EQ(page.body, file_bytes(1100).substr(1000));
  });
}

TEST(curl_answers, redirects_are_followed_so_far_as_is_allowed) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    const curl::response page = co_await session.get(nginx_url("/moved"));
    EXPECT_EQ(page.body, "hello, world\n");
    EXPECT_EQ(page.redirects, 1U);
    EXPECT_EQ(page.url, nginx_url("/hello.txt"));
    curl::request not_followed(nginx_url("/moved"));
    not_followed.limits.emplace();
    not_followed.limits->redirects = 0;
    const curl::response redirect = co_await session.send(not_followed);
    EXPECT_EQ(redirect.status, 302);
    EXPECT_NE(redirect.headers.get("location"), "");
    EXPECT_EQ(co_await code_of(session.get(nginx_url("/loop"))), errc::too_many_redirects);
  });
}

TEST(curl_answers, a_body_that_is_sent_is_stored_and_read_back) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    for (const std::size_t size : {std::size_t{0}, std::size_t{13}, std::size_t{3} << 20}) {
      curl::request put("PUT", nginx_url("/upload/a file"));
      put.url = nginx_url("/upload/stored.bin");
      put.body = file_bytes(size);
      put.raise_for_status = true;
      const curl::response stored = co_await session.send(put);
      EXPECT_TRUE(stored.is_ok()) << stored.status;
      EXPECT_EQ(stored.uploaded_bytes, size);
      const curl::response back = co_await session.get(put.url);
      EXPECT_EQ(back.body, put.body);
    }
  });
}

TEST(curl_answers, connections_are_used_again) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    unsigned opened = 0;
    for (int i = 0; i < 20; ++i) {
      const curl::response page = co_await session.get(nginx_url("/100.bin"));
      EXPECT_EQ(page.body, file_bytes(100));
      opened += page.new_connections;
    }
    EXPECT_EQ(opened, 1U);
    EXPECT_EQ(session.stats().connections_opened, 1U);
    EXPECT_EQ(session.stats().requests, 20U);
  });
}

TEST(curl_answers, many_at_once_share_as_many_connections_as_there_may_be) {
  test_runtime rt;
  std::atomic<int> connected = 0;
  tandem::event all_are;  // nobody is answered before
  const auto answers = [&](tandem::io::tcp_stream stream) -> task<void> {
    if (++connected == 4) all_are.set();
    co_await all_are.wait();
    std::string asked = co_await read_request(stream);
    while (!asked.empty()) {
      co_await stream.write_all(
          tandem::io::bytes_of(std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")));
      asked = co_await read_request(stream);
    }
  };
  rt.run(beside_server(answers, [](std::uint16_t port) -> task<void> {
    curl::session_options few;
    few.max_connections = 4;
    const auto body = [port](curl::session& session) -> task<void> {
      const auto one = [&]() -> task<void> {
        const curl::response page = co_await session.get(url_of(port));
        EXPECT_EQ(page.body, "hi");
      };
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 200; ++i) scope.spawn(one());
        co_await scope.join();
      };
      co_await tandem::with_scope(all);
      EXPECT_EQ(session.stats().connections_opened, 4U);
    };
    co_await curl::with_session(few, body);
  }));
  EXPECT_EQ(connected, 4);
}

TEST(curl_answers, callers_on_the_sessions_thread_and_on_others_get_their_own) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    const auto lane = [&](bool here) -> task<void> {
      if (here) co_await tandem::resume_on(session.executor());
      for (int i = 0; i < 50; ++i) {
        const std::string sign = std::to_string(i);
        curl::request asked(nginx_url("/echo"));
        asked.headers.add("X-Asked", sign);
        const curl::response page = co_await session.send(asked);
        EXPECT_EQ(page.body, "GET " + sign + " tandem-io_curl");
      }
    };
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 16; ++i) scope.spawn(lane(i % 2 == 0));
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
  });
}

}  // namespace
