// request.hpp: what one task has asked for, while it waits for the answers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <tandem/event.hpp>
#include <tandem/io/redis/reply.hpp>

namespace tandem::inline v0::io::redis::detail {

/// It lives in the frame of its task, which never leaves before it is unlinked (conversation/leave).
/// All but `wake` is guarded by the conversation's lock once it has begun.
class request {
 public:
  enum class place : std::uint8_t {
    outside,    ///< not begun, or left
    unsent,     ///< in the list of those that wait to be written
    sent,       ///< written, or being written; in the line of those that wait for answers
    listening,  ///< no command: it waits for messages
    answered,   ///< it has its end, and whoever gave it still has to set `wake`
    finished    ///< it has its end, and nobody else touches it
  };
  enum class role : std::uint8_t { none = 0, connects = 1, writes = 2, reads = 4 };

  /// For messages.
  request() noexcept = default;
  /// @param where_to  room for `count` answers
  request(std::string_view bytes_to_send, reply* where_to, std::size_t count) noexcept
      : bytes(bytes_to_send), answers(where_to), expected(count) {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  bool has_ended() const noexcept { return at == place::answered || at == place::finished; }
  bool has(role which) const noexcept { return (roles & static_cast<unsigned>(which)) != 0; }
  void take(role which) noexcept { roles |= static_cast<unsigned>(which); }
  void give(role which) noexcept { roles &= ~static_cast<unsigned>(which); }

  const std::string_view bytes;
  reply* const answers = nullptr;
  const std::size_t expected = 0;
  std::size_t got = 0;
  std::size_t cost = 0;  // of its place among the unanswered
  place at = place::outside;
  unsigned roles = 0;
  bool asleep = false;  // it waits for `wake`, which is not set
  bool was_sent = false;
  bool gives_way = false;  // before it writes: others may have something, too
  std::exception_ptr failure;
  request* previous = nullptr;  // in the list of the unsent
  request* next = nullptr;      // there, or among those to be woken
  event wake;
};

/// Those that wait to be written, oldest first.
class request_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  request* front() const noexcept { return first_; }
  void push_back(request& item) noexcept {
    item.previous = last_;
    item.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &item;
    last_ = &item;
  }
  void push_front(request& item) noexcept {
    item.previous = nullptr;
    item.next = first_;
    (first_ != nullptr ? first_->previous : last_) = &item;
    first_ = &item;
  }
  void remove(request& item) noexcept {
    (item.previous != nullptr ? item.previous->next : first_) = item.next;
    (item.next != nullptr ? item.next->previous : last_) = item.previous;
  }

 private:
  request* first_ = nullptr;
  request* last_ = nullptr;
};

}  // namespace tandem::inline v0::io::redis::detail
