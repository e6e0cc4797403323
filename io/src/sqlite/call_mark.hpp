// call_mark.hpp: says to whatever runs below a call which connection waits for it.
// SPDX-License-Identifier: MIT
//
// Protocol sqlite_calls (mark): README.md beside this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <tandem/io/sqlite/transaction.hpp>
#include <utility>

namespace tandem::inline v0::io::sqlite::detail {

class call_mark {
 public:
  /// What the call is of, and so which connection it has.
  enum class kind : std::uint8_t {
    transaction,  ///< with_transaction(): the one for writing
    change,       ///< write(): the same
    snapshot,     ///< read(): one for reading, or the only one
    inside,       ///< transaction::run(): the one for writing, and the turn of its transaction
  };

  /// Below whatever the calling task runs below. @param within  of `inside`: its transaction
  call_mark(const core& of, kind what, const transaction_state* within = nullptr);
  call_mark(const call_mark&) = delete;
  call_mark& operator=(const call_mark&) = delete;

  const core* of() const noexcept { return of_; }
  kind what() const noexcept { return what_; }
  const transaction_state* within() const noexcept { return within_; }
  const call_mark* outer() const noexcept { return outer_.get(); }
  bool is_held() const noexcept { return is_held_.load(std::memory_order_relaxed); }
  /// By the call's end. Relaxed: who asks too late is refused, or waits for what is free.
  void let_go() const noexcept { is_held_.store(false, std::memory_order_relaxed); }

 private:
  const core* const of_;                   // compared, never followed
  const transaction_state* const within_;  // the same
  const call_marks outer_;
  const kind what_;
  mutable std::atomic<bool> is_held_{true};
};

/// A mark for as long as a call has its connection.
class held_mark {
 public:
  explicit held_mark(call_marks mark) noexcept : mark_(std::move(mark)) {}
  held_mark(const held_mark&) = delete;
  held_mark& operator=(const held_mark&) = delete;
  ~held_mark() { mark_->let_go(); }
  const call_marks& get() const noexcept { return mark_; }

 private:
  const call_marks mark_;
};

// sqlite_calls/mark. Each of the calling task. @throws  error (nested)
/// It is about to wait for a connection for reading.
void refuse_reading_within(const core& of);
/// It is about to wait for the connection for writing, or, to close, for all.
void refuse_writing_within(const core& of);
void refuse_closing_within(const core& of);
/// It is about to wait for the turn of a transaction.
void refuse_within(const transaction_state& of);

}  // namespace tandem::inline v0::io::sqlite::detail
