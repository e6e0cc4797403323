// value_test.cpp: values go there and come back as they were, or a failure names the column.
// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace tandem::test;
using postgres::bytes;
using postgres::connection;
using postgres::errc;
using tandem::task;

class postgres_value : public with_postgres {};

template <class T>
task<void> expect_back(connection& c, std::string type, T value) {
  const auto got = co_await c.query<T>("select $1::" + type, value);
  EXPECT_EQ(got.at(0), value) << type;
}

TEST_F(postgres_value, numbers_come_back_whole) {
  with_connection([](connection& c) -> task<void> {
    co_await expect_back(c, "smallint", std::numeric_limits<std::int16_t>::min());
    co_await expect_back(c, "integer", std::numeric_limits<std::int32_t>::max());
    co_await expect_back(c, "bigint", std::numeric_limits<std::int64_t>::min());
    co_await expect_back(c, "numeric", std::numeric_limits<std::uint64_t>::max());
    co_await expect_back(c, "real", 0.1F);
    co_await expect_back(c, "double precision", 0.1);
    co_await expect_back(c, "double precision", std::numeric_limits<double>::denorm_min());
    co_await expect_back(c, "double precision", -std::numeric_limits<double>::infinity());
    co_await expect_back(c, "boolean", true);
    co_await expect_back(c, "boolean", false);
    const auto nan = co_await c.query<double>("select 'NaN'::float8");
    EXPECT_TRUE(std::isnan(nan.at(0)));
  });
}

TEST_F(postgres_value, text_of_any_kind_and_size_comes_back) {
  with_connection([](connection& c) -> task<void> {
    co_await expect_back(c, "text", std::string());
    co_await expect_back(c, "text", std::string("it's \"quoted\" \\ and\n\ttabbed"));
    co_await expect_back(c, "text",
                         std::string("gr\xC3\xBC\xC3\x9F \xF0\x9F\x90\x98 \xE2\x82\xAC"));
    co_await expect_back(c, "text", std::string(1 << 20, 'x'));
    co_await expect_back(c, "date", std::string("2026-11-27"));
    co_await expect_back(c, "timestamptz", std::string("2026-11-27 12:34:56.789+00"));
    co_await expect_back(c, "numeric", std::string("123456789012345678901234567890.123456789"));
    co_await expect_back(c, "uuid", std::string("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
    co_await expect_back(c, "jsonb", std::string("{\"a\": [1, 2]}"));
    const char* const words = "a C string";
    const std::string_view view = "a view";
    const auto got = co_await c.query<std::string, std::string>("select $1, $2", words, view);
    EXPECT_EQ(got.at(0), std::make_tuple(std::string(words), std::string(view)));
  });
}

TEST_F(postgres_value, bytes_of_any_value_come_back_both_ways) {
  with_connection([](connection& c) -> task<void> {
    bytes all(1 << 20);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 7 + i / 251);
    const auto binary = co_await c.query<bytes>("select $1", all);
    EXPECT_TRUE(binary.at(0) == all);
    const postgres::rows text = co_await c.query("select $1 as b, length($1) as n", all);
    EXPECT_TRUE(text[0].get<bytes>("b") == all);
    EXPECT_EQ(text[0].get<int>("n"), 1 << 20);
    const std::span<const std::byte> none;
    EXPECT_TRUE((co_await c.query<bytes>("select $1", none)).at(0).empty());
    // Beside bytes all columns come in binary form.
    const auto mixed =
        co_await c
            .query<bytes, int, std::int64_t, double, float, bool, std::string, std::optional<int>>(
                "select '\\x00ff'::bytea, 7, 8::int8, 0.5::float8, 0.25::float4, true, "
                "'text'::text, null::int");
    const auto expected =
        std::make_tuple(bytes{std::byte{0}, std::byte{255}}, 7, std::int64_t{8}, 0.5, 0.25F, true,
                        std::string("text"), std::optional<int>());
    EXPECT_EQ(mixed.at(0), expected);
    const std::string why = co_await failure_text(
        c.query<bytes, std::string>("select ''::bytea, 1.5::numeric as price"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "price") && contains(why, "numeric") && contains(why, "cast")) << why;
  });
}

TEST_F(postgres_value, null_is_an_empty_optional_and_nothing_else) {
  with_connection([](connection& c) -> task<void> {
    const std::optional<int> none, seven = 7;
    const auto got =
        co_await c.query<std::optional<int>, std::optional<int>, std::optional<std::string>>(
            "select $1::int, $2::int, $3::text", none, seven, std::nullopt);
    EXPECT_EQ(got.at(0), std::make_tuple(none, seven, std::optional<std::string>()));
    const std::string why =
        co_await failure_text(c.query<int>("select null::int as age"), errc::unexpected_null);
    EXPECT_TRUE(contains(why, "\"age\"") && contains(why, "integer")) << why;
  });
}

TEST_F(postgres_value, what_does_not_fit_names_the_column_and_its_type) {
  with_connection([](connection& c) -> task<void> {
    std::string why =
        co_await failure_text(c.query<std::int16_t>("select 40000 as big"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "\"big\" (integer)") && contains(why, "40000")) << why;
    EXPECT_TRUE(contains(why, "is no integer from -32768 to 32767")) << why;
    why = co_await failure_text(c.query<unsigned>("select -1"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "is no integer from 0 to 4294967295")) << why;
    why = co_await failure_text(c.query<int>("select 'abc' as word"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "word") && contains(why, "text") && contains(why, "abc")) << why;
    why = co_await failure_text(c.query<bool>("select 'yes'"), errc::wrong_type);
    why = co_await failure_text(c.query<int>("select 1.5"), errc::wrong_type);
    why = co_await failure_text(c.query<int>("select 1, 2"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "2 columns, and 1 type was given: ask for one type for each")) << why;
    why = co_await failure_text(c.query<int, int>("select 1"), errc::wrong_type);
    EXPECT_TRUE(contains(why, "1 column, and 2 types were given")) << why;
    const postgres::rows got = co_await c.query("select 1 as one");
    try {
      (void)got[0].get<int>("two");
      ADD_FAILURE();
    } catch (const postgres::error& told) {
      EXPECT_EQ(told.code(), errc::no_such_column);
      EXPECT_TRUE(contains(told.what(), "\"two\"") && contains(told.what(), "\"one\""))
          << told.what();
    }
    EXPECT_THROW((void)got[0].get<int>(1), postgres::error);
  });
}

TEST_F(postgres_value, a_zero_byte_in_text_is_refused_before_it_is_sent) {
  with_connection([](connection& c) -> task<void> {
    const std::string zero("a\0b", 3);
    try {
      (void)co_await c.query("select $1, $2", 1, zero);
      ADD_FAILURE();
    } catch (const postgres::error& told) {
      EXPECT_EQ(told.code(), errc::bad_parameter);
      EXPECT_TRUE(contains(told.what(), "$2")) << told.what();
    }
    (void)co_await failure_text(c.query(std::string("select 1\0, 2", 12)), errc::bad_statement);
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

}  // namespace
