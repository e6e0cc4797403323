// options.hpp: which Redis server, and how it is talked to.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/io/happy_eyeballs.hpp>
#include <tandem/io/redis/export.hpp>

namespace tandem::inline v0::io::redis {

/// What becomes of a command that is given while there is no connection.
enum class while_disconnected : std::uint8_t {
  wait,  ///< for the next connection, up to its limit of time
  fail,  ///< errc::not_sent at once, while the client waits before its next attempt
};

/// Where the server is, who we are, and the limits.
///
///     auto where = tandem::io::redis::options::parse("redis://app:secret@cache.example:6379/2");
///     where.limit = 500ms;
///     auto client = co_await tandem::io::redis::client::connect(where);
///
/// @thread_safety  as a value
class TANDEM_IO_REDIS_API options {
 public:
  options();
  options(const options&);
  options(options&&) noexcept;
  options& operator=(const options&);
  options& operator=(options&&) noexcept;
  ~options();

  /// "redis://[user[:password]@]host[:port][/database]", "redis://:password@host", or
  /// "unix:///run/redis.sock[?db=2]"; a part may have %XX for any byte.
  ///
  /// @throws  error: bad_option, with what is wrong with it
  static options parse(std::string_view url);

  std::string host = "localhost";
  std::uint16_t port = 6379;
  /// Of a Unix socket ("@name" is abstract); if there is one, host and port do not matter.
  std::string path;
  /// Empty: the server's default user. Sent, with the password, each time that it connects.
  std::string username;
  std::string password;
  /// Selected each time that it connects.
  unsigned database = 0;
  /// As CLIENT LIST shows it; no blanks. Empty: none.
  std::string client_name;

  /// Of one attempt: the name's addresses, the connection, and the greeting. There is always one:
  /// where nobody answers at all, the system alone would try for minutes.
  std::chrono::milliseconds connect_limit{5000};
  /// Of one command, pipeline or transaction, with the wait for its place and for a connection. Off
  /// by default, as with hiredis: how long is too long only the caller knows (BLPOP waits on
  /// purpose, a script may run for minutes), and a limit costs each command a timer. hiredis has no
  /// timers: the limits here are tandem's. Without one, a command waits as long as its server's
  /// machine answers, or there is no server and max_attempts is 0. with_timeout() around a call
  /// limits that call alone.
  std::optional<std::chrono::milliseconds> limit;

  /// A connection that is lost is made anew when the next command needs it.
  bool reconnect = true;
  while_disconnected commands = while_disconnected::wait;
  /// Failed attempts in a row after which all that wait fail with errc::not_sent. 0: no limit.
  unsigned max_attempts = 0;
  /// Before the second attempt; it doubles up to max_delay, and is spread (from half of it to all).
  std::chrono::milliseconds initial_delay{50};
  std::chrono::milliseconds max_delay{5000};

  /// Bytes of commands that have no answer yet; whoever comes then waits, in order.
  std::size_t max_unanswered_bytes = std::size_t{16} << 20;
  /// Of one answer, with 64 for each of its elements.
  std::size_t max_reply_bytes = std::size_t{512} << 20;

  /// So long after it was asked, whoever waits for an answer asks the socket again and again,
  /// letting others go first each time, before it sleeps. That is shorter than to sleep and be
  /// woken, where the server is on this machine. Where it was in vain it is tried seldom. Zero:
  /// never.
  std::chrono::microseconds spin{25};

  /// Of the TCP connection. By default with keep-alive probes after a minute of silence: else
  /// subscriber::next() would wait for ever for a machine that has vanished. One that vanishes
  /// with a command under way is given up by the system (Linux: after some 15 minutes, or
  /// tcp_options::user_timeout).
  happy_eyeballs_options tcp;

  // Implementation
  /// @throws  error: bad_option
  void check() const;
  /// "host:port", or the path.
  std::string place() const;
};

}  // namespace tandem::inline v0::io::redis
