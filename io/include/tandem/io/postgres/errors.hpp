// errors.hpp: what goes wrong with PostgreSQL, as codes, with all that the server has said.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/errors.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/stop.hpp>
#include <type_traits>

namespace tandem::inline v0::io::postgres {

/// Of postgres_category(). message() says what it means, and what to do about it.
enum class errc {
  cannot_connect = 1,     ///< no server answers there, or what answers is none
  wrong_credentials,      ///< the server does not let this user in with this password
  no_such_database,       ///< the server has no database of that name
  too_many_connections,   ///< the server takes no more connections
  starting_up,            ///< the server takes no connections yet
  shutting_down,          ///< the server ends, or an administrator has ended the connection
  connection_lost,        ///< the connection broke while a statement was under way
  outcome_unknown,        ///< the connection broke while COMMIT was under way
  closed,                 ///< the connection was closed before; what() says why
  in_use,                 ///< a transaction, a pipeline or a COPY has the connection
  bad_statement,          ///< a mistake in the statement: syntax, names, types (SQLSTATE 42)
  no_permission,          ///< this user may not do that (42501)
  unique_violation,       ///< 23505
  foreign_key_violation,  ///< 23503
  not_null_violation,     ///< 23502
  check_violation,        ///< 23514
  constraint_violation,   ///< another rule of the table (23)
  bad_data,               ///< a value does not fit (22)
  serialization_failure,  ///< run the transaction again (40001)
  deadlock,               ///< run the transaction again (40P01)
  lock_not_available,     ///< 55P03
  transaction_aborted,    ///< an earlier statement of the transaction has failed (25P02)
  read_only,              ///< a write in a read-only transaction, or on a standby (25006)
  statement_cancelled,    ///< the server has ended the statement: a limit of its own (57014)
  out_of_resources,       ///< memory, disk, locks of the server (53, 54)
  not_supported,          ///< 0A
  pipeline_aborted,       ///< not run: an earlier statement of the pipeline has failed
  wrong_type,             ///< the column's value does not fit the type that was asked for
  unexpected_null,        ///< the column is NULL, and no std::optional was asked for
  no_such_column,         ///< the answer has no column of that name or number
  bad_parameter,          ///< a parameter cannot be sent
  bad_option,             ///< an option, or the connection string, cannot be used
  pool_exhausted,         ///< too many wait for a connection, or one has waited too long
  failed,                 ///< anything else; sqlstate() and what() say what
};

TANDEM_IO_POSTGRES_API const std::error_category& postgres_category() noexcept;
TANDEM_IO_POSTGRES_API std::error_code make_error_code(errc code) noexcept;

/// What a server says of an error, or of a notice, in its own words; what it leaves out is empty.
class TANDEM_IO_POSTGRES_API server_words {
 public:
  server_words() noexcept;
  server_words(const server_words&);
  server_words(server_words&&) noexcept;
  server_words& operator=(const server_words&);
  server_words& operator=(server_words&&) noexcept;
  ~server_words();

  std::string severity;  ///< ERROR, FATAL, PANIC; WARNING, NOTICE, ... (never translated)
  std::string sqlstate;  ///< five characters
  std::string message;
  std::string detail;
  std::string hint;
  std::string context;  ///< where in a function of the server's
  std::string schema;
  std::string table;
  std::string column;
  std::string constraint;
  std::size_t position = 0;  ///< in the statement, in characters, from 1; 0: none
};

/// A failure of PostgreSQL's: its code is of postgres_category(); what() has severity, SQLSTATE,
/// message, detail and hint of the server, or of libpq.
///
///     try {
///       co_await c.query("insert into users (name) values ($1)", name);
///     } catch (const tandem::io::postgres::error& e) {
///       if (e.code() != tandem::io::postgres::errc::unique_violation) throw;
///       std::puts(e.detail().c_str());  // Key (name)=(ann) already exists.
///     }
class TANDEM_IO_POSTGRES_API error : public std::system_error {
 public:
  error(errc code, const std::string& what);
  error(errc code, const std::string& what, server_words words);
  error(const error&) noexcept;
  error& operator=(const error&) noexcept;
  ~error() override;

  /// Five characters; empty if the failure is not the server's.
  const std::string& sqlstate() const noexcept { return words_->sqlstate; }
  const std::string& detail() const noexcept { return words_->detail; }
  const std::string& hint() const noexcept { return words_->hint; }
  const std::string& constraint() const noexcept { return words_->constraint; }
  /// In the statement, in characters, from 1; 0: none.
  std::size_t position() const noexcept { return words_->position; }
  const server_words& words() const noexcept { return *words_; }

 private:
  std::shared_ptr<const server_words> words_;
};

/// A statement was stopped while it ran: it was cancelled at the server, or its connection was
/// closed. what() says why it was stopped, and which.
class TANDEM_IO_POSTGRES_API statement_stopped : public operation_cancelled {
 public:
  statement_stopped(stop_reason reason, bool connection_is_usable);
  statement_stopped(const statement_stopped&) = default;
  statement_stopped& operator=(const statement_stopped&) = default;
  ~statement_stopped() override;

  /// Whether the server has confirmed that the statement has ended; if not, it may still run for a
  /// moment, and the connection was closed.
  bool connection_is_usable() const noexcept { return is_usable_; }
  const char* what() const noexcept override;

 private:
  bool is_usable_;
  std::runtime_error what_;  // a text that copies share
};

}  // namespace tandem::inline v0::io::postgres

template <>
struct std::is_error_code_enum<tandem::io::postgres::errc> : std::true_type {};
