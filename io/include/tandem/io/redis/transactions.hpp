// transactions.hpp: a transaction that depends on what was read before: WATCH, and again if late.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <tandem/config.hpp>
#include <tandem/io/redis/batch.hpp>
#include <tandem/io/redis/client.hpp>
#include <tandem/io/redis/export.hpp>
#include <tandem/io/redis/reply.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::redis {

namespace detail {

/// WATCH of the keys.
TANDEM_IO_REDIS_API task<void> watch(client& own, const std::vector<std::string>& keys);
/// EXEC of what was decided, or UNWATCH of nothing. @returns whether it was not too late
TANDEM_IO_REDIS_API task<bool> conclude(client& own, batch decided, replies& answers);
[[noreturn]] TANDEM_IO_REDIS_API void throw_aborted(unsigned tries);

template <class Body>
task<replies> run_optimistic(client shared, std::vector<std::string> keys, Body body,
                             unsigned tries) {
  client own = co_await shared.own_connection();
  for (unsigned each = 0; each < tries; ++each) {
    co_await watch(own, keys);
    batch decided = co_await std::invoke(body, own);
    replies answers;
    const bool done = co_await conclude(own, std::move(decided), answers);
    if (done) co_return answers;
  }
  throw_aborted(tries);
}

template <class Body>
task<typename std::invoke_result_t<Body&, client&>::value_type> run_with_connection(client shared,
                                                                                    Body body) {
  client own = co_await shared.own_connection();
  co_return co_await std::invoke(body, own);
}

}  // namespace detail

/// Reads, decides, and writes only if none of `keys` was changed by anybody meanwhile.
///
///     const auto pay = [&](redis::client& own) -> tandem::task<redis::batch> {
///       const auto left = co_await own.command<int>("GET", "left");
///       redis::batch writes;
///       if (left >= price) writes.add("DECRBY", "left", price);
///       co_return writes;
///     };
///     const std::vector<std::string> keys{"left"};  // with g++ 12 not inside the co_await
///     auto done = co_await redis::optimistic(client, keys, pay);
///
/// @param body   called for each try, with a connection of its own; reads by it, and returns what is
///               to be written; an empty batch writes nothing. With g++ 12 a lambda that captures
///               objects with destructors needs a name
/// @param tries  in all; at least one
/// @returns      the answers of what was written
/// @throws       error: aborted, if a key has changed in each try; as client::transaction(); what
///               `body` throws: then nothing was written
/// @cancellation as client::transaction(); between the steps nothing was written
/// @resumes_on   the caller's home
/// @cost         a connection; two or three round trips a try
template <class Body>
  requires std::invocable<std::decay_t<Body>&, client&>
task<replies> optimistic(const client& shared, std::vector<std::string> keys, Body&& body,
                         unsigned tries = 16) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await optimistic(client, keys, body);), or capture by "
                "reference");
  return detail::run_optimistic<std::decay_t<Body>>(shared, std::move(keys),
                                                    std::forward<Body>(body), tries);
}

/// Runs `body(own)` with a connection of its own (client::own_connection), which ends with it.
///
/// @param body   returns a task; with g++ 12 a lambda that captures objects with destructors needs a
///               name
/// @returns      what the body returns
/// @throws       as client::connect(); what the body throws
/// @cancellation a stop of the caller reaches the body
/// @resumes_on   the caller's home
/// @cost         a connection
template <class Body>
  requires std::invocable<std::decay_t<Body>&, client&>
auto with_connection(const client& shared, Body&& body) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await with_connection(client, body);), or capture by "
                "reference");
  return detail::run_with_connection<std::decay_t<Body>>(shared, std::forward<Body>(body));
}

}  // namespace tandem::inline v0::io::redis
