// writer_mark.hpp: says to whatever runs below a transaction's body which database waits for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <tandem/io/sqlite/transaction.hpp>
#include <utility>

namespace tandem::inline v0::io::sqlite::detail {

class writer_mark {
 public:
  writer_mark(const core& of, writer_marks outer) noexcept : of_(&of), outer_(std::move(outer)) {}

  const core* of() const noexcept { return of_; }
  const writer_mark* outer() const noexcept { return outer_.get(); }
  bool is_held() const noexcept { return is_held_.load(std::memory_order_relaxed); }
  /// By the transaction's end. Relaxed: who asks too late is refused, or waits for what is free.
  void let_go() const noexcept { is_held_.store(false, std::memory_order_relaxed); }

 private:
  const core* const of_;  // compared, never followed
  const writer_marks outer_;
  mutable std::atomic<bool> is_held_{true};
};

/// Whether the calling task runs below a transaction of this database.
bool is_held_around(const core& of) noexcept;

}  // namespace tandem::inline v0::io::sqlite::detail
