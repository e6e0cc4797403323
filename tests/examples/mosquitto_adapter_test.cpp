// mosquitto_adapter_test.cpp: the adapter of examples/migrations/mosquitto, beside a real broker: what it delivers, and refuses.
// SPDX-License-Identifier: MIT
#include <numeric>
#include <tandem/when_all.hpp>

#include "mosquitto_support.hpp"
#include "refusing_port.hpp"

namespace {

using namespace tandem::test;
using tandem::as_result;
using tandem::overflow_policy;
using tandem::task;

TEST_F(mosquitto_adapter, what_is_published_arrives_in_order_and_once_with_each_quality) {
  on_every_home([this]() -> task<void> {
    const auto body = [](mosquitto_client& client, message_stream& messages) -> task<void> {
      for (int quality = 0; quality <= 2; ++quality) {
        std::vector<std::string> heard;
        for (int i = 0; i < 20; ++i) {
          co_await client.publish("t/" + std::to_string(quality), std::to_string(i), quality);
        }
        for (int i = 0; i < 20; ++i) {
          auto message = co_await messages.next();
          EXPECT_TRUE(message.has_value());
          if (!message) co_return;
          EXPECT_EQ(message->first, "t/" + std::to_string(quality));
          heard.push_back(message->second);
        }
        for (int i = 0; i < 20; ++i)
          EXPECT_EQ(heard[static_cast<std::size_t>(i)], std::to_string(i));
      }
      EXPECT_EQ(messages.dropped(), 0U);
    };
    co_await with_listener(port(), body);
  });
}

TEST_F(mosquitto_adapter, a_message_may_be_empty_or_larger_than_any_buffer_between) {
  on_every_home([this]() -> task<void> {
    const auto body = [](mosquitto_client& client, message_stream& messages) -> task<void> {
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{8'000'000}}) {
        std::string sent(size, 'x');
        for (std::size_t i = 0; i < size; i += 997) sent[i] = static_cast<char>(i % 251);
        co_await client.publish("t/large", sent, 1);
        auto message = co_await messages.next();
        EXPECT_TRUE(message.has_value() && message->second == sent) << size;
      }
    };
    co_await with_listener(port(), body);
  });
}

TEST_F(mosquitto_adapter, each_of_many_that_publish_at_once_is_answered) {
  on_every_home([this]() -> task<void> {
    constexpr int count = 300;
    int answered = 0;
    const auto body = [&](mosquitto_client& client, message_stream& messages) -> task<void> {
      const auto one = [&](int i) -> task<void> {
        co_await client.publish("t/many", std::to_string(i), i % 3);
        ++answered;
      };
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < count; ++i) scope.spawn(one(i));
        co_await scope.join();
      };
      co_await tandem::with_scope(all);
      int sum = 0;
      for (int i = 0; i < count; ++i) {
        auto message = co_await messages.next();
        if (message) sum += std::stoi(message->second);
      }
      EXPECT_EQ(sum, count * (count - 1) / 2);
    };
    co_await with_listener(port(), body);
    EXPECT_EQ(answered, count);
  });
}

TEST_F(mosquitto_adapter, without_a_connection_each_call_says_so_in_the_words_of_the_library) {
  on_every_home([]() -> task<void> {
    const auto body = [](mosquitto_client& client) -> task<void> {
      for (int quality = 0; quality <= 2; ++quality) {
        const auto published = co_await as_result(client.publish("t", "x", quality));
        EXPECT_EQ(published.error(), mosquitto_code(MOSQ_ERR_NO_CONN));
      }
      const auto subscribed = co_await as_result(client.subscribe("t", 1));
      EXPECT_EQ(subscribed.error(), mosquitto_code(MOSQ_ERR_NO_CONN));
      EXPECT_EQ(subscribed.error().message(), "The client is not currently connected.");
      EXPECT_STREQ(subscribed.error().category().name(), "mosquitto");
      EXPECT_THROW((void)client.messages(1, overflow_policy::fail), std::system_error);
    };
    co_await with_client(body);
  });
}

TEST_F(mosquitto_adapter, what_the_library_refuses_leaves_the_connection_usable) {
  on_every_home([this]() -> task<void> {
    const auto body = [](mosquitto_client& client, message_stream& messages) -> task<void> {
      const auto wild = co_await as_result(client.publish("t/#", "x", 1));
      EXPECT_EQ(wild.error(), mosquitto_code(MOSQ_ERR_INVAL));
      const auto unknown = co_await as_result(client.publish("t/x", "x", 3));
      EXPECT_EQ(unknown.error(), mosquitto_code(MOSQ_ERR_INVAL));
      const auto bad = co_await as_result(client.subscribe("t/#/x", 1));
      EXPECT_EQ(bad.error(), mosquitto_code(MOSQ_ERR_INVAL));
      const auto malformed = co_await as_result(client.publish("t/\xFF", "x", 1));
      EXPECT_EQ(malformed.error(), mosquitto_code(MOSQ_ERR_MALFORMED_UTF8));
      co_await client.publish("t/x", "after", 1);
      auto message = co_await messages.next();
      EXPECT_TRUE(message.has_value() && message->second == "after");
    };
    co_await with_listener(port(), body);
  });
}

TEST_F(mosquitto_adapter, a_connection_that_is_refused_tells_what_the_system_says) {
  const refusing_port nobody;
  on_every_home([&nobody]() -> task<void> {
    const auto body = [&](mosquitto_client& client) -> task<void> {
      const auto connected =
          co_await as_result(client.connect("127.0.0.1", nobody.where().port(), no_pings));
      EXPECT_EQ(connected.error(), std::errc::connection_refused);
      const auto named = co_await as_result(client.connect("no address", 1, no_pings));
      EXPECT_EQ(named.error(), mosquitto_code(MOSQ_ERR_EAI));
      const auto impatient = co_await as_result(client.connect("127.0.0.1", 1, 1));
      EXPECT_EQ(impatient.error(), mosquitto_code(MOSQ_ERR_INVAL));
    };
    co_await with_client(body);
  });
}

TEST_F(mosquitto_adapter, what_finds_no_room_is_dropped_and_counted_or_ends_the_stream) {
  on_every_home([this]() -> task<void> {
    constexpr int count = 50;
    const auto publish_all = [](mosquitto_client& client) -> task<void> {
      for (int i = 0; i < count; ++i) co_await client.publish("t/x", std::to_string(i), 1);
    };
    const auto oldest = [&](mosquitto_client& client, message_stream& messages) -> task<void> {
      co_await publish_all(client);
      int taken = 0;
      for (int last = -1; last != count - 1; ++taken) {
        auto message = co_await messages.next();
        if (!message) break;
        EXPECT_LT(last, std::stoi(message->second));
        last = std::stoi(message->second);
      }
      EXPECT_EQ(static_cast<std::uint64_t>(taken) + messages.dropped(), std::uint64_t{count});
    };
    co_await with_listener(port(), "t/#", 2, overflow_policy::drop_oldest, oldest);
    const auto ends = [&](mosquitto_client& client, message_stream& messages) -> task<void> {
      co_await publish_all(client);
      std::error_code error;
      for (int i = 0; i < count && !error; ++i) {
        error = (co_await as_result(messages.next())).error();
      }
      EXPECT_EQ(error, tandem::make_error_code(tandem::errc::callback_overflow));
    };
    co_await with_listener(port(), "t/#", 2, overflow_policy::fail, ends);
  });
}

}  // namespace
