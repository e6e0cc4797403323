// errors.cpp: the codes and what they say.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/postgres/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

namespace {

const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::cannot_connect:
      return "cannot connect: is the server up, and do host and port name it?";
    case errc::wrong_credentials:
      return "the server does not let this user in: user, password and pg_hba.conf decide";
    case errc::no_such_database:
      return "the server has no such database: correct dbname, or create it";
    case errc::too_many_connections:
      return "the server takes no more connections: share some by a pool, or raise max_connections";
    case errc::starting_up: return "the server takes no connections yet: try again";
    case errc::shutting_down:
      return "the server, or an administrator, has ended the connection: open a new one";
    case errc::connection_lost:
      return "the connection broke: it is not known what the statement has done; open a new one, "
             "and look";
    case errc::outcome_unknown:
      return "the connection broke during COMMIT: the transaction may be committed or not; open a "
             "new one, and look";
    case errc::closed: return "this is not open: open a new one";
    case errc::in_use:
      return "a transaction, a pipeline or a COPY has the connection: use that, or another one";
    case errc::bad_statement: return "the statement is wrong: check its text, names and types";
    case errc::no_permission: return "this user may not do that: GRANT it, or use another one";
    case errc::unique_violation:
      return "there is such a row already: ON CONFLICT says what is to become of it";
    case errc::foreign_key_violation:
      return "the row that is referred to does not fit: write rows in the order of their "
             "references, or declare these DEFERRABLE";
    case errc::not_null_violation: return "the column must not be NULL: give it a value";
    case errc::check_violation: return "the value breaks a rule of the table: give another one";
    case errc::constraint_violation:
      return "a constraint of the table is broken: give other values";
    case errc::bad_data:
      return "the value does not fit: give one that does, or another type to the column";
    case errc::serialization_failure:
      return "a transaction beside it was first: run the transaction again";
    case errc::deadlock: return "two transactions wait for each other: run this one again";
    case errc::lock_not_available:
      return "somebody else has the lock: try again later, or raise lock_timeout";
    case errc::transaction_aborted:
      return "a statement of the transaction has failed before: it can only be rolled back";
    case errc::read_only:
      return "nothing can be written here (a read-only transaction, or a standby): write elsewhere";
    case errc::statement_cancelled:
      return "the server has ended the statement: somebody has cancelled it, or raise "
             "statement_timeout";
    case errc::out_of_resources:
      return "the server has not enough memory, disk or locks: free some, or raise its limits";
    case errc::not_supported: return "the server cannot do that: ask it in another way";
    case errc::pipeline_aborted:
      return "not run, since a statement before it in the pipeline has failed: look at that one";
    case errc::wrong_type:
      return "ask for one type for each column, the type that it holds, or cast it in the "
             "statement";
    case errc::unexpected_null: return "the column is NULL: ask for a std::optional";
    case errc::no_such_column: return "the answer has no such column: ask for one that it has";
    case errc::bad_parameter: return "the parameter cannot be sent: give another value";
    case errc::bad_option: return "the option, or the connection string, has to be corrected";
    case errc::pool_exhausted:
      return "no connection of the pool came free in time: raise max_connections, or end what "
             "holds them; a body that asks the pool again waits for itself";
    case errc::failed: return "the server has refused it: its words say why";
  }
  return "unknown";
}

class category_of_postgres final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tandem.postgres"; }
  std::string message(int code) const override { return text_of(static_cast<errc>(code)); }
};

const char* what_became(bool connection_is_usable) noexcept {
  return connection_is_usable
             ? "; the server has ended the statement, and the connection is usable"
             : "; the server did not confirm in time that the statement has ended: the connection "
               "was closed";
}

}  // namespace

const std::error_category& postgres_category() noexcept {
  static const category_of_postgres only;
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), postgres_category()};
}

server_words::server_words() noexcept = default;
server_words::server_words(const server_words&) = default;
server_words::server_words(server_words&&) noexcept = default;
server_words& server_words::operator=(const server_words&) = default;
server_words& server_words::operator=(server_words&&) noexcept = default;
server_words::~server_words() = default;

error::error(errc code, const std::string& what) : error(code, what, server_words()) {}
error::error(errc code, const std::string& what, server_words words)
    : std::system_error(make_error_code(code), what),
      words_(std::make_shared<const server_words>(std::move(words))) {}
error::error(const error&) noexcept = default;
error& error::operator=(const error&) noexcept = default;
error::~error() = default;

statement_stopped::statement_stopped(stop_reason reason, bool connection_is_usable)
    : operation_cancelled(reason),
      is_usable_(connection_is_usable),
      what_(operation_cancelled::what() + std::string(what_became(connection_is_usable))) {}
statement_stopped::~statement_stopped() = default;

const char* statement_stopped::what() const noexcept { return what_.what(); }

}  // namespace tandem::inline v0::io::postgres
