// options.hpp: how connections, transactions and pools behave.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/export.hpp>

namespace tandem::inline v0::io::postgres {

/// Of a connection. What the server is, and how it is spoken to (TLS, passwords, schemas), stands
/// in the connection string.
///
///     tandem::io::postgres::connect_options options;
///     options.statement_cache = 100;
///     auto c = co_await tandem::io::postgres::connection::open("dbname=shop", options);
class TANDEM_IO_POSTGRES_API connect_options {
 public:
  connect_options();
  connect_options(const connect_options&);
  connect_options(connect_options&&) noexcept;
  connect_options& operator=(const connect_options&);
  connect_options& operator=(connect_options&&) noexcept;
  ~connect_options();

  /// For names, TCP, TLS and log-in together. None: connect_timeout of the connection string, else
  /// 30 s.
  std::optional<std::chrono::milliseconds> connect_limit;
  /// How long a statement that was stopped may take to end, its cancel included. After that the
  /// connection is closed.
  std::chrono::milliseconds cancel_limit{5000};
  /// How many statements are prepared, by their text, when they come for the second time. 0: none.
  /// Not for servers behind a pooler that changes connections between transactions.
  std::size_t statement_cache = 0;
  /// Told of notices and warnings, on the task's home, when the statement has ended; what it throws
  /// goes to runtime_options::on_suppressed_exception. Empty: they are dropped.
  std::function<void(const server_words&)> on_notice;
};

enum class isolation : std::uint8_t {
  server_default,  ///< default_transaction_isolation of the server
  read_committed,
  repeatable_read,
  serializable,
};

/// Of a transaction.
class transaction_options {
 public:
  transaction_options() noexcept {}  // NOLINT: not an aggregate, for g++ 12

  postgres::isolation isolation = postgres::isolation::server_default;
  bool read_only = false;
  /// With serializable and read_only: waits for a moment in which nothing can fail.
  bool deferrable = false;
  /// How often the body is run at most, if the transaction fails by serialization_failure or
  /// deadlock.
  unsigned attempts = 1;
  /// How long COMMIT or ROLLBACK may take, which no stop reaches. After that the connection is
  /// closed.
  std::chrono::milliseconds end_limit{30000};
};

/// Of a pool.
class TANDEM_IO_POSTGRES_API pool_options {
 public:
  pool_options();
  pool_options(const pool_options&);
  pool_options(pool_options&&) noexcept;
  pool_options& operator=(const pool_options&);
  pool_options& operator=(pool_options&&) noexcept;
  ~pool_options();

  connect_options connections;
  std::size_t max_connections = 10;
  /// What warm_up() opens, and what idle_limit leaves.
  std::size_t min_idle = 0;
  /// How many tasks may wait for a connection; more are refused (pool_exhausted).
  std::size_t max_waiting = 1000;
  /// How long one may wait, a new connection's opening included; then it is refused
  /// (pool_exhausted).
  std::chrono::milliseconds acquire_limit{30000};
  /// What was idle for longer is asked first whether it still answers.
  std::chrono::milliseconds check_after{10000};
  std::chrono::milliseconds check_limit{3000};
  /// What was idle for longer is closed.
  std::chrono::milliseconds idle_limit{600000};
  /// What is older is closed when it comes back.
  std::chrono::milliseconds lifetime{3600000};
  /// Between two tries to open a connection, doubling from the one to the other, while the server
  /// cannot be reached, starts, or is full; within acquire_limit.
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{2000};
};

}  // namespace tandem::inline v0::io::postgres
