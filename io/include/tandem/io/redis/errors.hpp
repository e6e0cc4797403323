// errors.hpp: what goes wrong with a Redis server, as codes whose messages say what to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/io/redis/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io::redis {

/// Of redis_category(). message() says what to do about it.
enum class errc {
  refused = 1,          ///< no connection could be made: what() says why
  connection_lost,      ///< the command was sent, and no answer came: its outcome is unknown
  not_sent,             ///< the command was never sent: it can be given again
  timed_out,            ///< no answer within options::limit: the outcome is unknown, if it was sent
  closed,               ///< the client was closed
  protocol_error,       ///< what came is not Redis's protocol, or nobody had asked for it
  too_large,            ///< an answer is larger than options::max_reply_bytes
  overflow,             ///< more messages than max_buffered_bytes of subscriber::connect()
  not_here,             ///< this command would confuse a connection that others share
  bad_option,           ///< an option cannot be used: what() says which, and why
  unexpected_reply,     ///< the answer is no such value as was asked for
  aborted,              ///< EXEC: a watched key has changed, and nothing was done
  transaction_refused,  ///< EXEC: a command was refused when it was queued, and nothing was done
  wrong_type,           ///< WRONGTYPE: the key holds another kind of value
  no_auth,              ///< NOAUTH, WRONGPASS, NOPERM: not, or not rightly, authenticated
  moved,                ///< MOVED, ASK: another node of the cluster has the key
  loading,              ///< LOADING, MASTERDOWN, CLUSTERDOWN, TRYAGAIN: not ready, for now
  busy,                 ///< BUSY: a script is running, for now
  read_only,            ///< READONLY, NOREPLICAS, MISCONF (its disk): it takes no writes
  no_script,            ///< NOSCRIPT: EVALSHA of a script that the server does not have
  out_of_memory,        ///< OOM: the server is at its limit of memory
  server_error,         ///< any other error that the server has answered
};

TANDEM_IO_REDIS_API const std::error_category& redis_category() noexcept;
TANDEM_IO_REDIS_API std::error_code make_error_code(errc code) noexcept;

/// A failure of a command or connection: its code is of redis_category(); what() has, after that,
/// what else is known of it.
class TANDEM_IO_REDIS_API error : public std::system_error {
 public:
  error(errc code, const std::string& what, std::string server_text = {});
  /// Of an error that the server has answered: its first word says which code it is.
  explicit error(std::string server_text);
  error(const error&) = default;
  error& operator=(const error&) = default;
  ~error() override;

  errc kind() const noexcept { return static_cast<errc>(code().value()); }
  /// The server's own words ("WRONGTYPE Operation against a key ..."); empty if it said none.
  const std::string& server_text() const noexcept { return server_text_; }

 private:
  std::string server_text_;
};

/// What an error means that begins with these words.
TANDEM_IO_REDIS_API errc errc_of(const std::string& server_text) noexcept;

}  // namespace tandem::inline v0::io::redis

template <>
struct std::is_error_code_enum<tandem::io::redis::errc> : std::true_type {};
