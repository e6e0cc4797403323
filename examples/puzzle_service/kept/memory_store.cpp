// memory_store.cpp: keeps answers in the process.
// SPDX-License-Identifier: MIT
#include "memory_store.hpp"

#include <algorithm>
#include <ranges>

namespace service {

namespace {

bool has_all(const std::string& text, const std::vector<std::string>& words) {
  return std::ranges::all_of(
      words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

}  // namespace

tandem::task<void> memory_store::prepare() { co_return; }

tandem::task<std::optional<kept_answer>> memory_store::find(std::string key) {
  const std::lock_guard guard(lock_);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) co_return std::nullopt;
  co_return *by_age_.at(number->second);
}

tandem::task<void> memory_store::keep(known_answer answer) {
  const std::lock_guard guard(lock_);
  if (const auto same = numbers_.find(answer->key); same != numbers_.end()) {
    drop(by_age_.find(same->second));
  }
  bytes_ += answer->size_bytes();
  numbers_[answer->key] = ++last_number_;
  by_age_[last_number_] = std::move(answer);
  while (by_age_.size() > most_answers_ || (bytes_ > most_bytes && by_age_.size() > 1)) {
    drop(by_age_.begin());
  }
  co_return;
}

void memory_store::drop(std::map<std::uint64_t, known_answer>::iterator oldest) {
  bytes_ -= oldest->second->size_bytes();
  numbers_.erase(oldest->second->key);
  by_age_.erase(oldest);
}

tandem::task<kept_page> memory_store::list(kept_search wanted) {
  const std::lock_guard guard(lock_);
  kept_page page;
  for (const auto& [number, answer] : std::views::reverse(by_age_)) {
    if (!has_all(words_of(*answer), wanted.words)) continue;
    if (page.total >= wanted.offset && page.entries.size() < wanted.count) {
      page.entries.push_back(*answer);
    }
    ++page.total;
  }
  co_return page;
}

}  // namespace service
