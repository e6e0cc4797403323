// answer_store.hpp: where answers are kept: in memory, in SQLite, in PostgreSQL.
// SPDX-License-Identifier: MIT
//
// A store may be slow or away: then its calls fail, and may be made again. It decides nothing: what
// is asked and written when, and what becomes of it while the store is away, is answer_keeper's.
#pragma once

#include <optional>
#include <string>

#include <tandem/task.hpp>

#include "kept_answer.hpp"

namespace service {

/// @thread_safety  find() and list() may run at the same time as each other and as keep();
///                 one prepare() or keep() at a time
class answer_store {
 public:
  answer_store() = default;
  answer_store(const answer_store&) = delete;
  answer_store& operator=(const answer_store&) = delete;
  virtual ~answer_store() = default;

  /// Connects, and makes what is missing there. Before anything else, and after each failure.
  ///
  /// @throws         std::exception: why not, in a line
  /// @cancellation   of each of these calls: ends it, and leaves the store usable or to be prepared
  ///                 again
  virtual tandem::task<void> prepare() = 0;
  virtual tandem::task<std::optional<kept_answer>> find(std::string key) = 0;
  /// Puts it in place of what has the same key: keeping it twice is keeping it once. When there are
  /// more than the store may have, the oldest go.
  virtual tandem::task<void> keep(known_answer answer) = 0;
  virtual tandem::task<kept_page> list(kept_search wanted) = 0;
  /// Nothing else is called afterwards.
  virtual tandem::task<void> close() { co_return; }

  /// What and where it is, without a password.
  virtual std::string describe() const = 0;
};

}  // namespace service
