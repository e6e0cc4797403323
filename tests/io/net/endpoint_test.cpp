// endpoint_test.cpp: endpoints as values and as text.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tandem/io/endpoint.hpp>
#include <unordered_set>

#include "refusal_text.hpp"

namespace {

using tandem::io::address_family;
using tandem::io::endpoint;

TEST(endpoint, what_to_string_writes_parse_reads) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80",
                           "[::]:1", "[2001:db8::ff00:42:8329]:443"}) {
    EXPECT_EQ(endpoint::parse(text).to_string(), text);
  }
}

TEST(endpoint, named_ones_are_what_they_say) {
  EXPECT_EQ(endpoint::loopback_v4(80), endpoint::parse("127.0.0.1:80"));
  EXPECT_EQ(endpoint::loopback_v6(80), endpoint::parse("[::1]:80"));
  EXPECT_EQ(endpoint::any_v4(0).to_string(), "0.0.0.0:0");
  EXPECT_EQ(endpoint::any_v6(9).family(), address_family::ipv6);
  EXPECT_EQ(endpoint(), endpoint::any_v4(0));
  EXPECT_NE(endpoint::loopback_v4(80), endpoint::loopback_v4(81));
}

TEST(endpoint, is_a_key_of_unordered_containers_and_each_part_of_it_counts) {
  const std::array<std::uint8_t, 16> local{0xFE, 0x80};
  std::unordered_set<endpoint> seen;
  std::unordered_set<std::size_t> hashes;
  for (std::uint16_t port = 0; port < 1000; ++port) {
    for (const endpoint& each :
         {endpoint::any_v4(port), endpoint::any_v6(port), endpoint::loopback_v4(port),
          endpoint(address_family::ipv6, local, port, 1),
          endpoint(address_family::ipv6, local, port, 2)}) {
      EXPECT_TRUE(seen.insert(each).second);
      EXPECT_FALSE(seen.insert(endpoint(each)).second);
      hashes.insert(std::hash<endpoint>{}(each));
    }
  }
  EXPECT_GT(hashes.size(), 4990U) << "5000 endpoints have to be told apart";
}

TEST(endpoint, an_address_alone_has_neither_port_nor_brackets) {
  EXPECT_EQ(endpoint::loopback_v4(80).address_to_string(), "127.0.0.1");
  EXPECT_EQ(endpoint::loopback_v6(80).address_to_string(), "::1");
}

TEST(endpoint, what_is_no_endpoint_is_quoted_in_the_error) {
  for (const char* text :
       {"", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "1.2.3:4",
        "::1:80", "[::1]", "[::1:80", "[:::1]:80", "127.0.0.1:80 ", "[127.0.0.1]:80"}) {
    try {
      (void)endpoint::parse(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("\"" + std::string(text) + "\""), std::string::npos);
    }
  }
  const std::string name = tandem::test::refusal_of<std::invalid_argument>(
      [] { (void)endpoint::parse("localhost:80"); });
  EXPECT_TRUE(tandem::test::has(name, "resolve(), or tcp_stream::connect(host, port)")) << name;
  using namespace std::string_view_literals;
  EXPECT_THROW((void)endpoint::parse("127.0.0.1\0evil:80"sv), std::invalid_argument);
  EXPECT_THROW((void)endpoint::parse("[::1\0x]:80"sv), std::invalid_argument);
}

}  // namespace
