// live_tasks.hpp: which tasks a runtime waits for, by the lines that have spawned them.
// SPDX-License-Identifier: MIT
//
// Tasks that no scope has spawned, and that have begun, hang in the runtime's lists of roots, for
// stops; here those lists are read. A list that stays locked is left out: whoever asks wants to
// know why nothing moves, and must not become part of it.
#pragma once

#include <cstddef>
#include <source_location>
#include <string>
#include <vector>

namespace tandem::inline v0 {

class environment;
class stop_state;

namespace detail {

class task_names;

class live_tasks {
 public:
  /// Counts what hangs below this list of roots. @throws std::bad_alloc
  void add_below(const stop_state& roots);
  /// Some lines: how many tasks live, and where most of them were spawned.
  ///
  /// @param live  of the runtime, children of scopes included
  std::string text(std::size_t live) const;

 private:
  struct place {
    std::source_location where;
    std::size_t count = 0;
  };
  static constexpr std::size_t most_places = 16;
  static constexpr int attempts = 1000;

  void add(const environment& task);

  std::vector<place> places_;
  std::size_t seen_ = 0;
  bool all_seen_ = true;
};

/// Names of all tasks below this list of roots, and of their parts. A list that stays locked is left
/// out. @throws std::bad_alloc
void add_names_below(const stop_state& roots, task_names& out);

}  // namespace detail
}  // namespace tandem::inline v0
