// connection.hpp: one connection to a PostgreSQL server.
// SPDX-License-Identifier: MIT
//
// libpq speaks, tandem waits: no call of libpq's blocks. Protocol postgres_statement:
// io/src/postgres/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/notification.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/io/postgres/pipeline.hpp>
#include <tandem/io/postgres/queryable.hpp>
#include <tandem/io/postgres/transaction.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io::postgres {

/// A connection to a server. Destroyed it is closed, which does not wait.
///
///     namespace postgres = tandem::io::postgres;
///     auto c = co_await postgres::connection::open("postgresql://ann@db.example/shop");
///     const auto users = co_await c.query("select id, name from users where age > $1", 17);
///     for (const auto each : users)
///       std::printf("%d %s\n", each.get<int>("id"), each.get<std::string>("name").c_str());
class TANDEM_IO_POSTGRES_API connection : public queryable {
 public:
  /// Not open: every operation fails with errc::closed.
  connection() noexcept = default;
  connection(connection&& other) noexcept;
  connection& operator=(connection&& other) noexcept;
  /// pre: nothing is under way
  ~connection();

  /// Connects, and logs in.
  ///
  /// @param conninfo  as psql takes it: "host=db.example dbname=shop", or a URL; what it leaves out
  ///                  comes from the environment (PGHOST, ...), the service file and the password
  ///                  file. Hosts are tried in order; a name by all of its addresses. TLS is
  ///                  libpq's: sslmode, sslrootcert, ...
  /// @throws          error: cannot_connect, wrong_credentials, no_such_database,
  ///                  too_many_connections, starting_up, with the host, the port, and what to do;
  ///                  bad_option. operation_cancelled
  /// @cancellation    gives up
  /// @resumes_on      the caller's home
  /// @cost            names are asked for by io::resolve()
  /// @source          the manual of libpq, "Database Connection Control Functions"
  static task<connection> open(std::string conninfo = {}, connect_options options = {});

  /// Whether statements can be sent: it was opened, and has neither broken nor been closed.
  bool is_usable() const noexcept;
  /// Closes it; does not wait. pre: nothing is under way
  void close() noexcept;

  /// Has the server tell of a channel, by next_notification().
  task<void> listen(std::string channel);
  task<void> unlisten(std::string channel);
  /// Waits for the next notification of a channel that is listened to.
  ///
  ///     co_await c.listen("jobs");
  ///     while (running) handle(co_await c.next_notification());
  ///
  /// It has the connection while it waits: statements of other tasks wait for it. Tell by another
  /// connection.
  ///
  /// @throws         error (connection_lost, closed): what was told since is lost
  /// @cancellation   ends the wait; no notification is lost
  /// @cost           nothing runs while none comes
  task<notification> next_notification();

  /// Of the process that serves it: pg_stat_activity.pid. 0: not usable
  int server_process() const noexcept;
  /// 150004 for 15.4; 0: not usable
  int server_version() const noexcept;
  /// What the server reports by itself: "server_encoding", "TimeZone", "in_hot_standby", ...
  std::string server_parameter(std::string_view name) const;
  bool is_encrypted() const noexcept;

  // Implementation
  explicit connection(detail::session* taken) noexcept : queryable(taken, 0) {}
  detail::session* implementation() const noexcept { return session_; }
};

}  // namespace tandem::inline v0::io::postgres
