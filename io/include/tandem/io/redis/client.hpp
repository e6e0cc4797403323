// client.hpp: a Redis server, for any number of tasks at once.
// SPDX-License-Identifier: MIT
//
// Tasks share one connection: what they give meanwhile is sent together, and the answers are
// matched in order. There is no task behind it: whoever waits for an answer does what is to be
// done, for all of them (protocol conversation: io/src/redis/README.md). So an idle client costs
// nothing, and none has to be kept alive.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/config.hpp>
#include <tandem/io/redis/argument.hpp>
#include <tandem/io/redis/batch.hpp>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/export.hpp>
#include <tandem/io/redis/options.hpp>
#include <tandem/io/redis/reply.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::redis {

namespace detail {
class conversation;
}

/// Commands, pipelines and transactions. A handle: copies mean the same connection.
///
///     auto client = co_await tandem::io::redis::client::connect("redis://localhost");
///     co_await client.command("SET", "greeting", "hello");
///     auto text = co_await client.command<std::optional<std::string>>("GET", "greeting");
///
/// @thread_safety  all members from any thread; those that are awaited by tasks of one runtime
class TANDEM_IO_REDIS_API client {
 public:
  /// Not connected: commands fail with errc::closed.
  client() noexcept;
  client(const client&) noexcept;
  client(client&&) noexcept;
  client& operator=(const client&) noexcept;
  client& operator=(client&&) noexcept;
  /// The last one that means a connection closes it; commands that are under way go on.
  ~client();

  /// Makes the first connection: one attempt. A PING asks whether it is a Redis that lets us in.
  ///
  /// @throws         error: refused, with the reason; no_auth, loading, protocol_error, ... if the
  ///                 greeting was, with the server's place and what was asked; bad_option;
  ///                 operation_cancelled
  /// @cancellation   ends the attempt
  /// @resumes_on     the caller's home
  static task<client> connect(options where);
  /// As above; options::parse().
  static task<client> connect(std::string url);
  /// Without a connection, which the first command makes.
  ///
  /// @throws  error: bad_option
  static client later(options where);

  /// Sends a command, and waits for its answer.
  ///
  ///     co_await client.command("SET", key, value, "EX", 60);
  ///
  /// @param words    texts, bytes and numbers; used before the call returns, not by the await
  /// @returns        the answer; an error is thrown instead
  /// @throws         error: what the server has answered; connection_lost (it was sent),
  ///                 not_sent, timed_out, closed, protocol_error, too_large; at the call not_here
  ///                 (batch::add) and std::bad_alloc; operation_cancelled
  /// @cancellation   if the command was not sent yet, it never is. Else it is done or not, and its
  ///                 answer is dropped when it comes; others on the connection notice nothing. May
  ///                 lose the race and return the answer
  /// @resumes_on     the caller's home
  /// @cost           an allocation for its bytes, one for a long text of the answer, and two frames;
  ///                 two frames more for whoever writes and reads. Shared by all that wait: one
  ///                 write and one read for what came together
  template <class... Words>
  task<reply> command(const Words&... words) {
    const argument all[] = {argument(words)...};  // NOLINT: a list of arguments
    return command_words(all);
  }
  /// As above; the answer as a value (reply::as).
  template <class T, class... Words>
  task<T> command(const Words&... words) {
    const argument all[] = {argument(words)...};  // NOLINT: a list of arguments
    return as<T>(command_words(all));
  }
  /// As above, of words whose number is not known before.
  task<reply> command_words(std::span<const argument> words);

  /// Sends commands together, and waits for all answers.
  ///
  /// @returns        as many answers as commands, in their order; a command that the server has
  ///                 refused has its error there, and hides no other one
  /// @throws         as command(), but not for what the server has answered
  /// @cancellation   as command(): all of them, or none
  /// @resumes_on     the caller's home
  /// @cost           two frames, one allocation for the answers
  task<replies> pipeline(batch commands);

  /// As pipeline(), between MULTI and EXEC: all are done at once, or none.
  ///
  /// @returns        the answers of the commands; one that failed while it was done has its error
  ///                 there (Redis undoes nothing)
  /// @throws         as pipeline(); error: transaction_refused, with the server's words about the
  ///                 command that it refused to queue: then nothing was done
  /// @cancellation   as command(): all of them, or none
  task<replies> transaction(batch commands);

  /// A connection to the same server for one user: WATCH, MULTI and SELECT may be used, and commands
  /// that block (BLPOP) hold up nobody else. It is not made anew when it is lost.
  ///
  ///     auto own = co_await client.own_connection();
  ///     auto job = co_await own.command<std::pair<std::string, std::string>>("BLPOP", "jobs", 0);
  ///
  /// @throws  as connect()
  /// @cost    a connection
  task<client> own_connection() const;

  /// No more commands: those that wait fail with errc::closed, or errc::connection_lost if they were
  /// sent. The connection is closed when the last of them has gone. Harmless if done before.
  ///
  /// @thread_safety  beside everything else
  void close() noexcept;
  /// Whether there is a connection, as far as is known: nobody looks while nothing is asked for.
  bool is_connected() const noexcept;

  // Implementation
  explicit client(std::shared_ptr<detail::conversation> with) noexcept;

 private:
  template <class T>
  static task<T> as(task<reply> pending) {
    reply got = co_await std::move(pending);
    if constexpr (!std::is_void_v<T>) co_return std::move(got).template as<T>();
  }
  detail::conversation& conversation_or_throw() const;

  std::shared_ptr<detail::conversation> with_;
};

}  // namespace tandem::inline v0::io::redis
