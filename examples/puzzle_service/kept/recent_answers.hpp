// recent_answers.hpp: the answers that were asked for last, bounded in number and in bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "kept_answer.hpp"

namespace service {

/// Whoever was not asked for the longest goes first.
///
/// @thread_safety  none
class recent_answers {
 public:
  recent_answers(std::size_t most_answers, std::size_t most_bytes)
      : most_answers_(most_answers), most_bytes_(most_bytes) {}

  /// @returns  null if it is not there
  known_answer find(const std::string& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return by_use_.front();
  }

  void put(known_answer answer) {
    if (const auto same = places_.find(answer->key); same != places_.end()) drop(same->second);
    bytes_ += answer->size_bytes();
    by_use_.push_front(std::move(answer));
    places_[by_use_.front()->key] = by_use_.begin();
    while (by_use_.size() > most_answers_ || (bytes_ > most_bytes_ && !by_use_.empty())) {
      drop(std::prev(by_use_.end()));
    }
  }

 private:
  using place = std::list<known_answer>::iterator;

  void drop(place which) {
    bytes_ -= (*which)->size_bytes();
    places_.erase((*which)->key);
    by_use_.erase(which);
  }

  const std::size_t most_answers_;
  const std::size_t most_bytes_;
  std::list<known_answer> by_use_;  // the last one used is first
  std::unordered_map<std::string, place> places_;
  std::size_t bytes_ = 0;
};

}  // namespace service
