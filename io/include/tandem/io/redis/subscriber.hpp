// subscriber.hpp: what is published, as a stream of messages.
// SPDX-License-Identifier: MIT
//
// A connection of its own. Nobody reads ahead: next() reads when what has been read is used up, so a
// consumer that is slow makes the server keep what it publishes, up to the server's own limit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/export.hpp>
#include <tandem/io/redis/message.hpp>
#include <tandem/io/redis/options.hpp>
#include <tandem/task.hpp>
#include <vector>

namespace tandem::inline v0::io::redis {

namespace detail {
class conversation;
}

/// Channels and patterns that are listened to. A handle: copies mean the same connection.
///
///     auto news = co_await tandem::io::redis::subscriber::connect("redis://localhost");
///     co_await news.subscribe("weather");
///     while (auto got = co_await news.next())
///       std::puts(got->is_gap() ? "(something may be missing here)" : got->payload.c_str());
///
/// @thread_safety  all members from any thread; those that are awaited by tasks of one runtime, and
///                 next() by one task at a time
class TANDEM_IO_REDIS_API subscriber {
 public:
  /// Not connected: everything fails with errc::closed.
  subscriber() noexcept;
  subscriber(const subscriber&) noexcept;
  subscriber(subscriber&&) noexcept;
  subscriber& operator=(const subscriber&) noexcept;
  subscriber& operator=(subscriber&&) noexcept;
  ~subscriber();

  /// Makes the first connection: one attempt.
  ///
  /// @param max_buffered_bytes  of messages that came before the confirmation that a subscribe()
  ///                            waits for, or with one read; beyond it the connection is given up
  ///                            (errc::overflow)
  /// @throws                    as client::connect()
  /// @cancellation              ends the attempt
  /// @resumes_on                the caller's home
  static task<subscriber> connect(options where, std::size_t max_buffered_bytes = default_buffer);
  static task<subscriber> connect(std::string url, std::size_t max_buffered_bytes = default_buffer);

  /// Begins to listen to channels; to patterns ("news.*").
  ///
  /// @param names    at least one
  /// @returns        when the server has confirmed: from then on nothing is lost while connected
  /// @throws         as client::command()
  /// @cancellation   as client::command(): it may be subscribed
  /// @resumes_on     the caller's home
  task<void> subscribe(std::vector<std::string> names);
  task<void> subscribe(std::string name);
  task<void> subscribe_patterns(std::vector<std::string> names);
  task<void> subscribe_patterns(std::string name);
  /// The contrary: messages that came before its confirmation are still there.
  task<void> unsubscribe(std::vector<std::string> names);
  task<void> unsubscribe(std::string name);
  task<void> unsubscribe_patterns(std::vector<std::string> names);
  task<void> unsubscribe_patterns(std::string name);

  /// Waits for a message.
  ///
  /// If the connection is lost it is made anew (options::reconnect, as for commands that wait), all
  /// is subscribed again, and a message::gap() comes.
  ///
  /// @returns        the oldest one; nothing once it was closed, and all was read
  /// @throws         error: connection_lost without reconnect; not_sent after
  ///                 options::max_attempts; protocol_error, too_large, overflow, no_auth, ...: after
  ///                 a gap it may be called again. operation_cancelled
  /// @cancellation   ends the wait; no message is lost. May lose the race and return one
  /// @thread_safety  one at a time
  /// @resumes_on     the caller's home
  /// @cost           a read for what came together; no timer
  task<std::optional<message>> next();

  /// Ends it; next() gives what has come, then nothing. Harmless if done before.
  ///
  /// @thread_safety  beside everything else
  void close() noexcept;

  static constexpr std::size_t default_buffer = std::size_t{64} << 20;

  // Implementation
  explicit subscriber(std::shared_ptr<detail::conversation> with) noexcept;

 private:
  task<void> change(const char* command, std::span<const std::string> names);

  std::shared_ptr<detail::conversation> with_;
};

}  // namespace tandem::inline v0::io::redis
