// oneshot_block.hpp: what the two ends of a oneshot share: a word, two lists, room for an outcome.
// SPDX-License-Identifier: MIT
//
// Word (detail/lock_word.hpp), the value's bits:
//   has_outcome    the sender has left a value or a failure, and is gone
//   sender_gone    nobody sends (any more)
//   closed         nothing is taken any more; what was left before stays
//   receiver_gone  the receiver's end has been destroyed; always with `closed`
//
// Whoever is the second to go frees the block; the write that says "gone" is an end's last access.
// Protocol waiting, runtime/src/sync/README.md ("Oneshots").
#pragma once

#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

class oneshot_closed_awaiter;

namespace detail {

class oneshot_receive_wait;

/// The part that does not depend on the value.
class TANDEM_API oneshot_base : public frame_allocated {
 public:
  static constexpr lock_word::word has_outcome = lock_word::one;
  static constexpr lock_word::word sender_gone = lock_word::one * 2;
  static constexpr lock_word::word closed = lock_word::one * 4;
  static constexpr lock_word::word receiver_gone = lock_word::one * 8;

  oneshot_base(const oneshot_base&) = delete;
  oneshot_base& operator=(const oneshot_base&) = delete;

  /// Whether a receive has nothing to wait for.
  bool has_ended() const noexcept {
    return (word_.load() & (has_outcome | sender_gone | closed)) != 0;
  }
  bool is_closed() const noexcept { return (word_.load() & closed) != 0; }

  /// By the receiver.
  void close() noexcept;

 protected:
  oneshot_base() noexcept : word_(0) {}
  ~oneshot_base() = default;

  /// @returns  whether the block is the caller's to free
  bool leave_as_sender() noexcept;
  bool leave_as_receiver() noexcept;
  /// Why there is no outcome. By the receiver, when has_ended().
  std::error_code why_none() const noexcept;
  void expect_nobody_waits_for_close() const noexcept {
    TANDEM_ASSERT(closing_.empty(), "the sender of a oneshot went while closed() waited");
  }

  lock_word word_;
  bool is_taken_ = false;  // the receiver's
  // Under the lock.
  wait_list receiving_;
  wait_list closing_;

 private:
  friend oneshot_closed_awaiter;
  friend oneshot_receive_wait;
};

template <class T>
class oneshot_block final : public oneshot_base {
 public:
  oneshot_block() noexcept {}
  ~oneshot_block() {  // NOLINT: the outcome is there if the word says so
    if ((word_.load() & has_outcome) != 0) std::destroy_at(std::addressof(outcome_));
  }

  /// Leaves an outcome made of `parts`, and goes. @returns false if nothing is taken any more: then
  /// `parts` are untouched
  template <class... Parts>
  bool send(Parts&&... parts) noexcept {
    const lock_word::word state = word_.lock();
    if ((state & closed) != 0) [[unlikely]] {
      word_.unlock(state);
      return false;
    }
    expect_nobody_waits_for_close();
    std::construct_at(std::addressof(outcome_), std::forward<Parts>(parts)...);
    waiter* const waits = receiving_.empty() ? nullptr : receiving_.take_all();  // waiting/grant
    // waiting/unlock: from here on the block may be gone.
    word_.unlock((state & ~lock_word::waiters) | has_outcome | sender_gone);
    if (waits != nullptr) taken_list::wake(waits);
    return true;
  }

  /// When it has_ended(), by the receiver, which gets the outcome once.
  result<T> take() noexcept {
    if (is_taken_ || (word_.load() & has_outcome) == 0) return why_none();
    is_taken_ = true;
    return std::move(outcome_);
  }
  /// As take(), if it is no value. @returns null if it is one, which then is still there
  std::exception_ptr take_failure() noexcept {
    const bool has_value = !is_taken_ && (word_.load() & has_outcome) != 0 && outcome_.has_value();
    return has_value ? nullptr : take().exception();
  }

  void drop_sender() noexcept {
    if (leave_as_sender()) delete this;
  }
  void drop_receiver() noexcept {
    if (leave_as_receiver()) delete this;
  }

 private:
  union {
    result<T> outcome_;  // written by the sender under the lock, then the receiver's
  };
};

}  // namespace detail
}  // namespace tandem::inline v0
