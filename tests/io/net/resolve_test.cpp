// resolve_test.cpp: names, numbers, errors.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/task_scope.hpp>

#include "test_runtime.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::resolve;
using tandem::io::resolve_errc;
using tandem::test::test_runtime;

TEST(resolve, numbers_are_taken_as_they_are_and_need_no_thread) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<endpoint> v4 = co_await resolve("192.0.2.7", "8080");
    EXPECT_EQ(v4, std::vector<endpoint>{endpoint::parse("192.0.2.7:8080")});
    const std::vector<endpoint> v6 = co_await resolve("2001:db8::9", 443);
    EXPECT_EQ(v6, std::vector<endpoint>{endpoint::parse("[2001:db8::9]:443")});
  }());
  EXPECT_EQ(rt->find_service<tandem::blocking_pool>(), nullptr);
}

TEST(resolve, a_name_is_looked_up_on_a_blocking_thread) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<endpoint> found = co_await resolve("localhost", 8080);
    EXPECT_FALSE(found.empty());
    for (const endpoint& each : found) {
      EXPECT_TRUE(each == endpoint::loopback_v4(8080) || each == endpoint::loopback_v6(8080))
          << each.to_string();
    }
  }());
  ASSERT_NE(rt->find_service<tandem::blocking_pool>(), nullptr);
  EXPECT_EQ(rt->find_service<tandem::blocking_pool>()->stats().run, 1U);
}

TEST(resolve, what_cannot_be_found_is_an_error_of_its_own_kind_that_names_it) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    try {
      (void)co_await resolve("127.0.0.1", "no-such-service-anywhere");
      ADD_FAILURE() << "found";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code().category(), tandem::io::resolve_category());
      EXPECT_EQ(e.code(), resolve_errc::service_not_found);
      EXPECT_NE(e.code(), resolve_errc::host_not_found);
      EXPECT_NE(std::string(e.what()).find("no-such-service-anywhere"), std::string::npos);
      EXPECT_NE(std::string(e.what()).find(e.code().message()), std::string::npos) << e.what();
    }
    // RFC 6761: there is none. Without a network nobody can say so.
    const auto none = co_await as_result(resolve("nobody.invalid", 80));
    EXPECT_TRUE(none.error() == resolve_errc::host_not_found ||
                none.error() == resolve_errc::try_again || none.error() == resolve_errc::failed)
        << none.error();
  }());
}

TEST(resolve, a_text_that_the_system_would_cut_short_is_no_name) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::string hidden("127.0.0.1\0.example.org", 22);
    const auto got = co_await as_result(resolve(hidden, 80));
    EXPECT_EQ(got.error(), resolve_errc::host_not_found);
    for (const char* port : {"65616", "70000", "99999999999999999999", " 80", "+80", "-1",
                             "-4294967216", "-18446744073709551536"}) {
      for (const char* host : {"127.0.0.1", "localhost"}) {
        const auto none = co_await as_result(resolve(host, std::string(port)));
        EXPECT_EQ(none.error(), resolve_errc::service_not_found) << host << " " << port;
      }
    }
    const auto empty = co_await as_result(resolve("", 80));
    EXPECT_EQ(empty.error(), resolve_errc::host_not_found);
  }());
}

TEST(resolve, the_machines_own_address_has_a_name_or_none_that_anybody_knows) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto found = co_await as_result(tandem::io::name_of(endpoint::loopback_v4(80)));
    if (found) {
      EXPECT_FALSE(found.value().empty());
    } else {
      EXPECT_TRUE(found.error() == resolve_errc::host_not_found ||
                  found.error() == resolve_errc::try_again)
          << found.error();
    }
  }());
}

TEST(resolve, a_stopped_task_looks_nothing_up) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await tandem::with_scope([](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(resolve("localhost", 80))).is_cancelled());
    });
  }());
}

}  // namespace
