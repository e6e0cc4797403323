// statement_cache.cpp: least recently used goes first.
// SPDX-License-Identifier: MIT
#include "postgres/statement_cache.hpp"

#include <algorithm>
#include <utility>

namespace tandem::inline v0::io::postgres::detail {

statement_cache::entry* statement_cache::find(const std::string& text) {
  const auto found = by_text_.find(text);
  if (found != by_text_.end()) {
    latest_first_.splice(latest_first_.begin(), latest_first_, found->second);
    return &latest_first_.front();
  }
  latest_first_.push_front(entry{text, std::string()});
  by_text_.emplace(latest_first_.front().text, latest_first_.begin());
  if (latest_first_.size() > most_) {
    entry& oldest = latest_first_.back();
    if (!oldest.name.empty()) evicted_.push_back(std::move(oldest.name));
    by_text_.erase(oldest.text);
    latest_first_.pop_back();
  }
  return nullptr;
}

void statement_cache::forget(std::string_view name) noexcept {
  const auto found = std::find_if(latest_first_.begin(), latest_first_.end(),
                                  [name](const entry& each) { return each.name == name; });
  if (found != latest_first_.end()) found->name.clear();
}

void statement_cache::clear() noexcept {
  by_text_.clear();
  latest_first_.clear();
  evicted_.clear();
}

std::vector<std::string> statement_cache::take_evicted() noexcept {
  return std::exchange(evicted_, {});
}

}  // namespace tandem::inline v0::io::postgres::detail
