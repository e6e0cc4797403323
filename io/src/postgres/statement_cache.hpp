// statement_cache.hpp: which texts a connection has had prepared, the latest first.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tandem::inline v0::io::postgres::detail {

/// A text is noted when it comes first, and prepared when it comes again. Only with the turn.
class statement_cache {
 public:
  struct entry {
    std::string text;
    std::string name;  // empty: seen once
  };

  explicit statement_cache(std::size_t most) noexcept : most_(most) {}

  bool is_on() const noexcept { return most_ != 0; }
  /// Finds or notes it, and makes it the latest.
  /// @returns  null if it has just been noted; with an empty name if it is to be prepared now
  entry* find(const std::string& text);
  void forget(std::string_view name) noexcept;
  void clear() noexcept;
  /// Those that had to go: they are to be deallocated.
  std::vector<std::string> take_evicted() noexcept;

 private:
  std::size_t most_;
  std::list<entry> latest_first_;
  std::unordered_map<std::string_view, std::list<entry>::iterator> by_text_;  // views of entries
  std::vector<std::string> evicted_;
};

}  // namespace tandem::inline v0::io::postgres::detail
