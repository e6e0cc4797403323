// scope_watch.hpp: which children of a scope were given references to variables of its body.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <source_location>
#include <vector>

#include <tandem/detail/given_references.hpp>

namespace tandem::inline v0::detail {

class root;

/// Made for the first such child. Any thread.
class scope_watch {
 public:
  void add(const root& child, const std::source_location& spawned_at) noexcept;
  void ended(const root& child) noexcept;
  /// With its variables. Says which children are left.
  void body_has_ended() noexcept;

 private:
  struct borrower {
    const root* child;
    std::source_location spawned_at;
  };
  std::mutex lock_;
  std::vector<borrower> borrowers_;
};

}  // namespace tandem::inline v0::detail
