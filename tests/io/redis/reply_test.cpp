// reply_test.cpp: what answers are in C++.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tandem/io/redis/argument.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/redis/redis_support.hpp"

namespace tandem::test {
namespace {

using redis::argument;
using redis::errc;
using redis::replies;
using redis::reply;
using redis::reply_kind;

reply text(std::string value) { return {reply_kind::string, std::move(value)}; }

TEST(redis_reply, each_kind_is_read_as_what_it_can_be_and_as_nothing_else) {
  EXPECT_EQ(text("12").as<int>(), 12);
  EXPECT_EQ(text("-9223372036854775808").as<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(text("18446744073709551615").as<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(text("1.5").as<double>(), 1.5);
  EXPECT_EQ(reply(7).as<std::string>(), "7");
  EXPECT_EQ(reply(7).as<double>(), 7.0);
  EXPECT_EQ(reply(0).as<bool>(), false);
  EXPECT_TRUE(reply(reply_kind::status, "OK").as<bool>());
  EXPECT_EQ(reply().as<std::optional<int>>(), std::nullopt);
  EXPECT_EQ(text("3").as<std::optional<int>>(), 3);
  for (const reply& each : {reply(), text(""), text("1x"), text(" 1"), reply(replies())}) {
    EXPECT_EQ(code_thrown([&] { return each.as<int>(); }), errc::unexpected_reply);
    EXPECT_EQ(code_thrown([&] { return each.as<unsigned>(); }), errc::unexpected_reply);
    EXPECT_EQ(code_thrown([&] { return each.as<double>(); }), errc::unexpected_reply);
    EXPECT_EQ(code_thrown([&] { return each.as<bool>(); }), errc::unexpected_reply);
  }
  EXPECT_EQ(code_thrown([] { return reply(300).as<std::uint8_t>(); }), errc::unexpected_reply);
  EXPECT_EQ(code_thrown([] { return reply(-1).as<unsigned>(); }), errc::unexpected_reply);
  EXPECT_EQ(code_thrown([] { return reply().as<std::string>(); }), errc::unexpected_reply);
}

TEST(redis_reply, arrays_are_lists_pairs_and_maps) {
  const reply list(replies{text("a"), reply(1), text("b"), reply(2)});
  EXPECT_EQ(list.as<std::vector<std::string>>(), (std::vector<std::string>{"a", "1", "b", "2"}));
  EXPECT_EQ((list.as<std::map<std::string, int>>()),
            (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
  EXPECT_EQ((list.as<std::unordered_map<std::string, int>>()).at("b"), 2);
  const reply pair(replies{text("key"), reply(replies{reply(1), reply()})});
  const auto [key, rest] = pair.as<std::pair<std::string, std::vector<std::optional<int>>>>();
  EXPECT_EQ(key, "key");
  EXPECT_EQ(rest, (std::vector<std::optional<int>>{1, std::nullopt}));
  EXPECT_EQ(code_thrown([&] { return list.as<std::pair<int, int>>(); }), errc::unexpected_reply);
  EXPECT_EQ(code_thrown([] { return reply(replies{reply(1)}).as<std::map<int, int>>(); }),
            errc::unexpected_reply);
  EXPECT_EQ(code_thrown([&] { return list.as<int>(); }), errc::unexpected_reply);
  EXPECT_THROW((void)list[4], std::out_of_range);
}

TEST(redis_reply, an_error_is_thrown_by_whatever_reads_it_also_inside_of_an_array) {
  const reply failed(reply_kind::error, "OOM command not allowed");
  EXPECT_EQ(code_thrown([&] { return failed.as<std::optional<int>>(); }), errc::out_of_memory);
  const reply all(replies{reply(1), failed});
  EXPECT_EQ(code_thrown([&] { return all.as<std::vector<int>>(); }), errc::out_of_memory);
  EXPECT_EQ(all.to_string(), "[1, (error) OOM command not allowed]");
  try {
    failed.check();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const redis::error& why) {
    EXPECT_EQ(why.kind(), errc::out_of_memory);
    EXPECT_EQ(why.code().category().name(), std::string("tandem.redis"));
  }
}

TEST(redis_reply, what_is_unexpected_is_shown_but_not_all_of_it) {
  try {
    (void)text(std::string(1000, 'x')).as<int>();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const redis::error& why) {
    const std::string said = why.what();
    EXPECT_LT(said.size(), 250U);
    EXPECT_NE(said.find("wanted an integer, got a string: \"xxx"), std::string::npos) << said;
  }
}

TEST(redis_reply, a_nil_that_is_unexpected_says_so_once_and_what_to_ask_for) {
  try {
    (void)reply().as<std::string>();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const redis::error& why) {
    EXPECT_EQ(std::string(why.what()).find("wanted a text, got nil: ask for "), 0U) << why.what();
    EXPECT_NE(std::string(why.what()).find("std::optional"), std::string::npos) << why.what();
  }
}

TEST(redis_argument, texts_bytes_and_numbers_are_written_as_they_are) {
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{255}};
  EXPECT_EQ(argument("a text").text(), "a text");
  EXPECT_EQ(argument(std::string("another")).text(), "another");
  EXPECT_EQ(argument(std::span<const std::byte>(bytes)).text(), std::string("\0\xFF", 2));
  EXPECT_EQ(argument(INT64_MIN).text(), "-9223372036854775808");
  EXPECT_EQ(argument(UINT64_MAX).text(), "18446744073709551615");
  EXPECT_EQ(argument(0.1).text(), "0.1");
  EXPECT_EQ(argument(std::string_view()).text(), "");
  const argument copied = argument(17);
  EXPECT_EQ(argument(copied).text(), "17");
}

}  // namespace
}  // namespace tandem::test
