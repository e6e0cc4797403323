// refused_memory_test.cpp: whatever allocation is refused, curl's too: the whole answer, or an exception.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/run.hpp>

#include "io/curl/curl_support.hpp"
#include "refusals.hpp"

namespace {

using namespace tandem::test;
using tandem::as_result;
using tandem::task;

task<void> get_hello(curl::session& session) {
  const curl::response page = co_await session.get(nginx_url("/hello.txt"));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "hello, world\n");
}

/// Runs `body` in a session, once for each allocation that is refused; then another session works.
void refuse_each(task<void> (*body)(curl::session&)) {
  for_each_refusal(allocations, asker::anyone(), [&] {
    try {
      tandem::run(curl::with_session(body));
    } catch (...) {
      if (allocations.has_refused()) tandem::run(curl::with_session(get_hello));
      throw;
    }
    if (allocations.has_refused()) tandem::run(curl::with_session(get_hello));
  });
}

/// One that has failed spoils none that come after it.
task<void> use_get(curl::session& session) {
  const auto first = co_await as_result(get_hello(session));
  (void)co_await as_result(session.get(nginx_url("/moved")));
  const auto last = co_await as_result(get_hello(session));
  EXPECT_TRUE(first.has_value() || last.has_value());
  (void)first.value();
  (void)last.value();
}

task<void> use_sink(curl::session& session) {
  std::string got;
  curl::request asked(nginx_url("/100.bin"));
  asked.body_to([&](std::span<const std::byte> bytes) -> task<void> {
    got += tandem::io::text_of(bytes);
    co_return;
  });
  const auto page = co_await as_result(session.send(asked));
  if (page.has_value()) {
    EXPECT_EQ(got, file_bytes(100));
  }
  co_await get_hello(session);
  (void)page.value();
}

task<void> use_source(curl::session& session) {
  int pieces = 0;
  curl::request put("PUT", nginx_url("/upload/refused.txt"));
  put.body_from(
      [&](std::span<std::byte> room) -> task<std::size_t> {
        if (++pieces > 3) co_return 0;
        room[0] = std::byte{'x'};
        co_return 1;
      },
      3);
  const auto page = co_await as_result(session.send(put));
  if (page.has_value()) {
    EXPECT_LT(page.value().status, 300);
    const curl::response back = co_await session.get(nginx_url("/upload/refused.txt"));
    EXPECT_TRUE(back.body == "xxx" || back.status >= 400) << back.status;
  }
  co_await get_hello(session);
  (void)page.value();
}

task<void> use_transfer(curl::session& session) {
  const auto read = [](curl::session& by) -> task<void> {
    curl::transfer page = co_await by.open(curl::request(nginx_url("/100.bin")));
    std::array<std::byte, 70> room;
    std::string all;
    while (const std::size_t size = co_await page.read(room))
      all += tandem::io::text_of(std::span(room).first(size));
    EXPECT_EQ(all, file_bytes(100));
    curl::transfer closed = co_await by.open(curl::request(nginx_url("/1M.bin")));
    co_await closed.close();
    curl::transfer dropped = co_await by.open(curl::request(nginx_url("/1M.bin")));
    (void)co_await dropped.read(room);
  };
  const auto ended = co_await as_result(read(session));
  co_await get_hello(session);
  (void)ended.value();
}

TEST(curl_refused_memory, get_has_the_whole_answer_or_an_exception) {
  TANDEM_NEEDS_SERVER("nginx");
  refuse_each(use_get);
}
TEST(curl_refused_memory, sink_gets_the_whole_body_or_there_is_an_exception) {
  TANDEM_NEEDS_SERVER("nginx");
  refuse_each(use_sink);
}
TEST(curl_refused_memory, source_is_sent_whole_or_there_is_an_exception) {
  TANDEM_NEEDS_SERVER("nginx");
  refuse_each(use_source);
}
TEST(curl_refused_memory, transfer_is_read_whole_or_there_is_an_exception) {
  TANDEM_NEEDS_SERVER("nginx");
  refuse_each(use_transfer);
}

}  // namespace
