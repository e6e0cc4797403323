// subscriptions.hpp: what a subscriber listens to, and the messages that have come.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <tandem/io/redis/message.hpp>
#include <tandem/io/redis/reply.hpp>

#include "redis/link.hpp"

namespace tandem::inline v0::io::redis::detail {

/// Guarded by the conversation's lock.
class subscriptions {
 public:
  /// @throws  std::bad_alloc: an empty deque has memory
  explicit subscriptions(std::size_t max_buffered_bytes) : most_bytes_(max_buffered_bytes) {}

  /// Takes a message. pre: is_message()
  ///
  /// @throws  error: overflow; std::bad_alloc
  void add(reply&& got);
  /// That messages may be missing here; once, if there is one at the end already.
  void add_gap();
  /// Notes what the server confirms.
  void note(const reply& confirmed);
  /// Everything again.
  void greet(greeting& hello) const;

  bool is_listening() const noexcept { return !channels_.empty() || !patterns_.empty(); }
  bool empty() const noexcept { return messages_.empty(); }
  message take();

 private:
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::deque<message> messages_;
  std::set<std::string> channels_;
  std::set<std::string> patterns_;
};

}  // namespace tandem::inline v0::io::redis::detail
