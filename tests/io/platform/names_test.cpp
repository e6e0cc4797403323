// names_test.cpp: what the contracts of names and of addresses as text promise.
// SPDX-License-Identifier: MIT
#include "platform/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <tandem/io/resolve.hpp>
#include <vector>

#include "platform/addresses.hpp"

namespace {

using tandem::io::address_family;
using tandem::io::endpoint;
using tandem::io::resolve_errc;
namespace platform = tandem::io::platform;

TEST(names, a_number_is_found_without_waiting) {
  const platform::found_names got = platform::look_up("127.0.0.1", "8080", false);
  EXPECT_FALSE(got.error);
  EXPECT_EQ(got.found, std::vector<endpoint>{endpoint::loopback_v4(8080)});
}

TEST(names, without_waiting_all_but_numbers_is_not_found) {
  const platform::found_names got = platform::look_up("localhost", "80", false);
  EXPECT_EQ(got.error, platform::host_not_found());
  EXPECT_TRUE(got.found.empty());
}

TEST(names, a_failure_compares_to_what_users_ask_for) {
  EXPECT_EQ(platform::host_not_found(), resolve_errc::host_not_found);
  EXPECT_EQ(platform::service_not_found(), resolve_errc::service_not_found);
  EXPECT_NE(platform::host_not_found(), resolve_errc::try_again);
  EXPECT_EQ(platform::host_not_found().category(), platform::name_category());
  const platform::found_names got = platform::look_up("127.0.0.1", "no-such-service", true);
  EXPECT_EQ(got.error, resolve_errc::service_not_found);
  EXPECT_TRUE(got.found.empty());
}

TEST(addresses, text_of_an_address_is_that_address) {
  for (const char* text : {"127.0.0.1", "255.0.10.1", "::1", "fe80::1", "2001:db8::ff00:42:8329"}) {
    const bool is_v6 = std::string(text).find(':') != std::string::npos;
    const address_family family = is_v6 ? address_family::ipv6 : address_family::ipv4;
    std::array<std::uint8_t, 16> bytes{};
    EXPECT_TRUE(platform::parse_address(family, text, bytes)) << text;
    EXPECT_EQ(platform::text_of(family, bytes), text);
    const address_family other = is_v6 ? address_family::ipv4 : address_family::ipv6;
    EXPECT_FALSE(platform::parse_address(other, text, bytes)) << text;
  }
}

TEST(addresses, neither_names_nor_brackets_nor_blanks_are_addresses) {
  std::array<std::uint8_t, 16> bytes{};
  for (const char* text : {"", "localhost", "1.2.3", "1.2.3.4 ", "[::1]", "::1%lo"}) {
    EXPECT_FALSE(platform::parse_address(address_family::ipv4, text, bytes)) << text;
    EXPECT_FALSE(platform::parse_address(address_family::ipv6, text, bytes)) << text;
  }
}

}  // namespace
