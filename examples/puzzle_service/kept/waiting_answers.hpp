// waiting_answers.hpp: the answers that are still to be written, bounded in number and in bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

#include "kept_answer.hpp"

namespace service {

/// The oldest is written first, and given up first when there is no room.
///
/// @thread_safety  none
class waiting_answers {
 public:
  waiting_answers(std::size_t most_answers, std::size_t most_bytes)
      : most_answers_(most_answers), most_bytes_(most_bytes) {}

  /// @returns  how many were given up for it
  std::size_t put(known_answer answer) {
    bytes_ += answer->size_bytes();
    queue_.push_back(std::move(answer));
    std::size_t given_up = 0;
    for (; queue_.size() > most_answers_ || (bytes_ > most_bytes_ && !queue_.empty()); ++given_up) {
      take(queue_.begin());
    }
    return given_up;
  }

  /// The next one to write, which stays until remove(). Null if there is none.
  known_answer first() const { return queue_.empty() ? nullptr : queue_.front(); }

  /// It was written. @returns false if it had been given up meanwhile
  bool remove(const known_answer& written) {
    const auto found = std::find(queue_.begin(), queue_.end(), written);
    if (found == queue_.end()) return false;
    take(found);
    return true;
  }
  /// It could not be written: let others try, in case that it is the answer's own fault.
  void put_last(const known_answer& failed) {
    const auto found = std::find(queue_.begin(), queue_.end(), failed);
    if (found != queue_.end()) std::rotate(found, std::next(found), queue_.end());
  }

  known_answer find(std::string_view key) const {
    const auto found = std::find_if(queue_.rbegin(), queue_.rend(),
                                    [&](const known_answer& each) { return each->key == key; });
    return found == queue_.rend() ? nullptr : *found;
  }
  std::size_t size() const noexcept { return queue_.size(); }

 private:
  void take(std::deque<known_answer>::iterator which) {
    bytes_ -= (*which)->size_bytes();
    queue_.erase(which);
  }

  const std::size_t most_answers_;
  const std::size_t most_bytes_;
  std::deque<known_answer> queue_;
  std::size_t bytes_ = 0;
};

}  // namespace service
