// session.hpp: a connection's side of libpq. Protocol postgres_statement: README.md.
// SPDX-License-Identifier: MIT
//
// libpq is called by whoever has the turn, and never waits; tasks wait for its socket.
#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/postgres/notification.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/io/postgres/rows.hpp>
#include <tandem/io/postgres/statement.hpp>
#include <tandem/io/postgres/value.hpp>
#include <tandem/mutex.hpp>
#include <tandem/stop.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "postgres/conninfo.hpp"
#include "postgres/statement_cache.hpp"

namespace tandem::inline v0::io::postgres::detail {

class session {
 public:
  explicit session(connect_options options);
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  task<void> connect(std::string text);
  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  /// @param why  what later operations are told
  /// @param words  of libpq, which follow; null: none
  void close(std::string_view why, const char* words = nullptr) noexcept;
  /// Where it was, and why it is not open any more.
  std::string why_closed() const {
    return "postgres: " + where_ + (closed_why_.empty() ? "" : ": ") + closed_why_;
  }
  PGconn* handle() const noexcept { return conn_; }

  // Operations: each has the turn until it ends, and what may go on beside others it leaves to
  // scopes. `scope` has to have the connection.
  task<rows> query(std::uint64_t scope, command what, parameters given, bool in_binary);
  task<std::vector<rows>> execute(std::uint64_t scope, std::string script);
  task<statement> prepare(std::uint64_t scope, std::string sql, std::string name);
  task<notification> next_notification();
  /// One statement, after which `then` has the connection, if it did not fail.
  /// @returns  the tag of the answer
  task<std::string> change_scope(std::uint64_t scope, std::string sql, std::uint64_t then);
  /// What the owner before has left open is ended: for connections that go from hand to hand.
  /// @returns  whether it is as good as new
  task<bool> tidy_up();
  /// Whether tidy_up() has nothing to do. pre: nothing is under way
  bool is_tidy() const noexcept;
  /// Takes what the server has said while nothing was under way, such as that it has ended.
  bool still_answers() noexcept;
  std::chrono::steady_clock::time_point born() const noexcept { return born_; }

  // COPY; `scope` is that of the COPY itself.
  task<std::uint64_t> begin_copy(std::uint64_t scope, std::string sql, bool is_in);
  task<void> write_copy(std::uint64_t scope, std::span<const std::byte> data);
  task<std::uint64_t> finish_copy(std::uint64_t scope, const char* give_up);
  /// @returns  null: that was all, and the COPY has ended
  task<std::pair<char*, std::size_t>> read_copy(std::uint64_t scope);
  void drop_copy(std::uint64_t scope) noexcept;

  // Scopes: numbers that are given once.
  std::uint64_t new_scope() noexcept { return last_scope_.fetch_add(1) + 1; }
  void set_scope(std::uint64_t now) noexcept { scope_.store(now, std::memory_order_release); }
  mutex& turn() noexcept { return turn_; }
  /// With the turn. @throws error: closed, in_use; operation_cancelled if a stop came
  void check(std::uint64_t scope) const;
  /// With the turn: what was dropped half-way is ended first.
  task<void> clean_up();
  bool has_leftover() const noexcept {
    return leftover_.load(std::memory_order_acquire) != leftover::none;
  }

  // Steps, with the turn.
  /// Sends what libpq has gathered, and reads meanwhile.
  task<void> flush();
  /// Asks the server to end what runs. @returns when it was told, and only then
  task<void> send_cancel();
  int send(const command& what, const std::string& name, const parameters& given, bool in_binary);
  /// @throws  error if libpq has refused to send
  void check_sent(int sent);
  /// Closes a connection that broke, and says how. @throws error
  [[noreturn]] void fail_lost();
  void deliver_notices() noexcept;
  const connect_options& options() const noexcept { return options_; }

 private:
  enum class leftover : std::uint8_t { none, copy_in, copy_out };

  task<void> connect_within(conninfo& info);
  static void take_notice(void* self, const PGresult* notice) noexcept;

  // One statement, from its first byte to its last answer.
  void begin_answers() noexcept;
  bool take_answers();
  task<void> collect();
  task<void> collect_past_copy();
  task<void> flush_and_collect();
  /// What was sent is answered, or the connection ends: without memory for this, too. Else the next
  /// statement would meet the answers of this one.
  task<void> exchange();
  task<void> exchange_now();
  task<void> end_stopped(stop_reason why);
  task<void> cancel_and_collect();
  task<void> end_copy(leftover what);
  task<void> end_leftover(leftover what);  // or the connection ends, as with exchange()
  task<void> end_leftover_now(leftover what);
  /// After exchange(). @throws error: the statement's failure, or the connection's
  void settle();
  rows take_last();
  task<std::string> prepared_name(const std::string& text);
  task<void> prepare_now(const std::string& name, const std::string& text);
  bool may_ask_again(const std::string& name) noexcept;

  connect_options options_;
  std::string where_;
  std::chrono::steady_clock::time_point born_;
  std::string closed_why_;
  PGconn* conn_ = nullptr;
  std::atomic<bool> is_open_{false};  // written with the turn, read by anybody

  mutex turn_;
  // Written by whoever has the connection: with the turn, or where a scope ends, without.
  std::atomic<std::uint64_t> scope_{0};
  std::atomic<leftover> leftover_{leftover::none};  // published by scope_
  std::atomic<std::uint64_t> last_scope_{0};
  std::uint64_t copy_outer_ = 0;  // who has the connection after the COPY
  bool copy_is_in_ = false;

  // Of the statement that is under way; kept here so that a stop loses nothing.
  std::vector<rows> answers_;
  rows failed_;
  bool is_in_copy_ = false;
  bool is_extended_ = false;  // it has a Sync of its own
  bool was_cancelled_ = false;
  ExecStatusType copy_status_ = PGRES_EMPTY_QUERY;  // of the COPY that is_in_copy_ tells of
  bool is_doomed_ = false;  // the server has said that it ends the connection
  std::vector<server_words> notices_;
  statement_cache cache_;
  std::uint64_t last_name_ = 0;
};

}  // namespace tandem::inline v0::io::postgres::detail
