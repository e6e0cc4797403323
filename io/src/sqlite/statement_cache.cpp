// statement_cache.cpp: which prepared statements stay.
// SPDX-License-Identifier: MIT
#include "sqlite/statement_cache.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <iterator>

namespace tandem::inline v0::io::sqlite::detail {

prepared::~prepared() { sqlite3_finalize(handle_); }

prepared* statement_cache::find(std::string_view text) {
  const auto found = by_text_.find(text);
  if (found == by_text_.end() || found->second->is_lent) return nullptr;
  all_.splice(all_.begin(), all_, found->second);
  found->second->is_lent = true;
  return &*found->second;
}

prepared& statement_cache::add(std::string_view text, sqlite3_stmt* handle) {
  try {
    all_.emplace_front(text, handle);
  } catch (...) {
    sqlite3_finalize(handle);
    throw;
  }
  prepared& made = all_.front();
  try {
    by_text_.try_emplace(made.text(), all_.begin());
  } catch (...) {
    all_.pop_front();
    throw;
  }
  made.is_lent = true;
  return made;
}

void statement_cache::give_back(prepared& lent) noexcept {
  lent.is_lent = false;
  const auto known = by_text_.find(lent.text());
  if (known == by_text_.end() || &*known->second != &lent) {
    all_.remove_if([&lent](const prepared& each) { return &each == &lent; });
  }
  shrink();
}

void statement_cache::shrink() noexcept {
  for (auto last = all_.end(); by_text_.size() > limit_ && last != all_.begin();) {
    --last;
    if (last->is_lent) continue;
    by_text_.erase(last->text());
    last = all_.erase(last);
  }
}

void statement_cache::clear() noexcept {
  by_text_.clear();
  all_.clear();
}

}  // namespace tandem::inline v0::io::sqlite::detail
