// channels.cpp: experimental channels: `channel` on one thread, `concurrent_channel` on several; wake-ups by them too.
// SPDX-License-Identifier: MIT
#include <asio/detached.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <memory>
#include <system_error>

#include "suite.hpp"

namespace tandem::bench::peer {

namespace {

using asio::use_awaitable;

// Channels are shared: on several threads, whoever sends last may still be inside when the receiver
// has ended.
template <class Channel>
struct shared {
  Channel there, back;
  shared(const asio::any_io_executor& executor, long bound_there, long bound_back)
      : there(executor, static_cast<std::size_t>(bound_there)),
        back(executor, static_cast<std::size_t>(bound_back)) {}
};
template <class Channel>
using shared_channels = std::shared_ptr<shared<Channel>>;

using item = void(std::error_code, long);
const auto no_error = std::error_code();

template <class Channel>
asio::awaitable<void> answer(shared_channels<Channel> channels, long n) {
  for (long i = 0; i < n; ++i) {
    const long got = co_await channels->there.async_receive(use_awaitable);
    co_await channels->back.async_send(no_error, got, use_awaitable);
  }
}

template <class Channel>
asio::awaitable<void> ask(long n) {
  const auto executor = co_await asio::this_coro::executor;
  const auto channels = std::make_shared<shared<Channel>>(executor, 1, 1);
  asio::co_spawn(executor, answer<Channel>(channels, n), asio::detached);
  for (long i = 0; i < n; ++i) {
    co_await channels->there.async_send(no_error, i, use_awaitable);
    expect_equal(co_await channels->back.async_receive(use_awaitable), i, "the answer");
  }
}

asio::awaitable<void> ping_pong(long n, int threads) {
  using asio::experimental::channel;
  using asio::experimental::concurrent_channel;
  return threads == 1 ? ask<channel<item>>(n) : ask<concurrent_channel<item>>(n);
}

template <class Channel>
asio::awaitable<void> send(shared_channels<Channel> to, long n) {
  for (long i = 0; i < n; ++i) co_await to->there.async_send(no_error, i, use_awaitable);
}

template <class Channel>
asio::awaitable<void> receive(shared_channels<Channel> from, long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += co_await from->there.async_receive(use_awaitable);
  co_await from->back.async_send(no_error, sum, use_awaitable);
}

template <class Channel>
asio::awaitable<void> exchange(long n, long ends) {
  const auto executor = co_await asio::this_coro::executor;
  const auto channels = std::make_shared<shared<Channel>>(executor, problems::bound, ends);
  const long each = n / ends;
  for (long i = 0; i < ends; ++i) {
    asio::co_spawn(executor, send<Channel>(channels, each), asio::detached);
    asio::co_spawn(executor, receive<Channel>(channels, each), asio::detached);
  }
  long sum = 0;
  for (long i = 0; i < ends; ++i) sum += co_await channels->back.async_receive(use_awaitable);
  expect_equal(sum, ends * (each * (each - 1) / 2), "the sum");
}

template <long Ends>
asio::awaitable<void> channel_of(long n, int threads) {
  using asio::experimental::channel;
  using asio::experimental::concurrent_channel;
  return threads == 1 ? exchange<channel<item>>(n, Ends)
                      : exchange<concurrent_channel<item>>(n, Ends);
}

}  // namespace

void add_channels(case_list& cases) {
  cases.push_back(looped(problems::ping_pong, ping_pong));
  cases.push_back(looped(problems::channel_1_1, channel_of<1>));
  cases.push_back(looped(problems::channel_4_4, channel_of<4>));
  cases.push_back(looped(problems::channel_16_16, channel_of<16>));
  cases.push_back(looped(problems::allocs_ping_pong, ping_pong));
  cases.push_back(looped(problems::allocs_channel, channel_of<1>));
}

}  // namespace tandem::bench::peer
