// database.hpp: an SQLite database, awaited: no call holds up a worker or a completion thread.
// SPDX-License-Identifier: MIT
//
// A connection for writing and some for reading, each used by one call at a time, on a thread of
// blocking(). Protocol sqlite_calls: io/src/sqlite/README.md.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/options.hpp>
#include <tandem/io/sqlite/session.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::sqlite {

/// A database. Has execute(), query(), query_one() and query_optional() of `calls`.
///
///     sqlite::database db = co_await sqlite::database::open("answers.db");
///     co_await db.execute("CREATE TABLE IF NOT EXISTS answer (id INTEGER PRIMARY KEY, text TEXT)");
///     co_await db.with_transaction([&](sqlite::transaction& tx) -> tandem::task<void> {
///       const auto made = co_await tx.execute("INSERT INTO answer (text) VALUES (?)", text);
///       co_await publish(made.last_insert_id);  // if that fails, the row is gone again
///     });
///     co_await db.close();
///
/// Its end needs no wait: calls that are under way keep what they use, and the last one lets it go.
/// Nothing committed is lost then; but the log stays beside the file until somebody opens it again,
/// and what is prepared is freed on that thread. close() merges the log.
///
/// @thread_safety  all members but moves: any number of tasks
class TANDEM_IO_SQLITE_API database : public calls {
 public:
  /// Opens, or makes, a database.
  ///
  /// @param path     a file, a URI ("file:data.db?mode=ro"), or ":memory:"
  /// @returns        the database, whose file was looked at
  /// @throws         error: cannot_open, not_a_database, busy, bad_option, ...;
  ///                 operation_cancelled; std::bad_alloc
  /// @cancellation   ends the wait for a lock; then nothing is open
  /// @resumes_on     the caller's home
  /// @cost           one hop; 1 + options::readers connections
  [[nodiscard]] static task<database> open(std::string path, options given = {});

  database(database&&) noexcept = default;
  database& operator=(database&&) noexcept = default;
  ~database();

  /// Calls `f(session&)` on a connection for reading: all of its statements see the same state,
  /// whoever writes meanwhile.
  ///
  ///     const auto both = co_await db.read([](sqlite::session& on) {
  ///       return std::pair(on.query_one<int>("SELECT count(*) FROM a"),
  ///                        on.query_one<int>("SELECT count(*) FROM b"));
  ///     });
  ///
  /// @param f        a function that returns no coroutine; on a thread where it may wait, within
  ///                 its task. Other calls of this database by whatever it waits for or starts
  ///                 are refused (nested), but for reading within write(). With g++ 12 a temporary
  ///                 lambda that captures objects with destructors needs a name
  /// @returns        what `f` returns: no statement and no row, which belong to the session
  /// @throws         what `f` throws; error: read_only if `f` writes, nested; operation_cancelled;
  ///                 as blocking()
  /// @cancellation   ends the wait for a connection, and the statement that runs or is next
  /// @thread_safety  options::readers calls at once, the others in turn, in order
  /// @resumes_on     the caller's home
  /// @cost           one hop
  template <std::invocable<session&> F>
  auto read(F&& f) const {
    return called(detail::access::snapshot, std::forward<F>(f));
  }

  /// Calls `f(session&)` in a transaction on the connection for writing. It is committed if this
  /// returns, and rolled back if it throws.
  ///
  /// @param f        as of read()
  /// @returns        what `f` returns, which is committed
  /// @throws         what `f` throws; error; operation_cancelled
  /// @cancellation   as read(); one that comes before the commit rolls back
  /// @thread_safety  in turn, in order
  /// @resumes_on     the caller's home
  /// @cost           one hop, and a commit: with sync_mode::full a wait for the disk
  template <std::invocable<session&> F>
  auto write(F&& f) const {
    return called(detail::access::change, std::forward<F>(f));
  }

  /// Runs the task `body(transaction&)` in a transaction. It is committed if this returns, and
  /// rolled back if it throws: never left open.
  ///
  /// The body holds the connection for writing, so it should wait for nothing slow. Calls of this
  /// database that need that connection too, by whatever the body awaits or starts, are refused
  /// (nested), since they would wait for each other. What the body starts and does not wait for is
  /// started by spawn(no_flow, ...).
  ///
  /// @param body     kept until its task has ended: it may capture. With g++ 12 a temporary lambda
  ///                 that captures objects with destructors needs a name
  /// @returns        what the body returns, once it is committed
  /// @throws         what the body throws; error: nested, transaction_ended if the body has ended
  ///                 it, or SQLite had to undo it (full, an interrupted change); operation_cancelled
  /// @cancellation   reaches the body; one that comes before the commit rolls back, which no stop
  ///                 reaches
  /// @thread_safety  in turn, in order
  /// @resumes_on     the caller's home
  /// @cost           a hop to begin, one for each statement, one to end; one allocation
  template <class Body>
    requires std::invocable<std::decay_t<Body>&, transaction&>
  auto with_transaction(Body&& body) const {
    static_assert(tandem::detail::safe_in_co_await<Body&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first, or capture by reference");
    return detail::run_transaction<std::decay_t<Body>>(
        shared_core(), std::decay_t<Body>(std::forward<Body>(body)));
  }

  /// Writes a copy of the database as it is now, compact, to a file that is not there yet.
  ///
  /// @throws         error: misuse if the file is there; as query()
  /// @cancellation   removes what was written so far
  /// @resumes_on     the caller's home
  /// @cost           one hop, on a connection for reading: nobody who writes waits
  task<void> backup_to(std::string path) const;

  /// Waits for the calls that are under way, merges the log into the file, and closes. Calls that
  /// come later, and those that still wait for a connection, fail (closed).
  ///
  /// @throws         error: nested; operation_cancelled
  /// @cancellation   ends the wait; it is closed for new calls all the same, and let go as by the
  ///                 destructor
  /// @thread_safety  once; a second call finds nothing to do
  /// @resumes_on     the caller's home
  task<void> close() const;

  /// Whether neither close() was called nor it was moved from.
  bool is_open() const noexcept;
  /// Whether reading has connections of its own.
  bool reads_apart() const noexcept;

  // Implementation
  explicit database(std::shared_ptr<detail::core> opened) noexcept;

 private:
  template <class F>
  auto called(detail::access how, F&& f) const {
    static_assert(tandem::detail::safe_in_co_await<F&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first, or capture by reference");
    using returned = std::invoke_result_t<std::decay_t<F>&, session&>;
    static_assert(
        !requires { typename returned::promise_type; },
        "the function returns a coroutine, which would run when the session is gone: "
        "with_transaction() takes those");
    return detail::answered<returned>(target(), how, std::decay_t<F>(std::forward<F>(f)));
  }
  std::shared_ptr<detail::core> shared_core() const;
};

}  // namespace tandem::inline v0::io::sqlite
