// oneshot.hpp: one value from one sender to one receiver: the answer to a request, for example.
// SPDX-License-Identifier: MIT
//
// Two ends that know of each other's end, and a block between them that goes with the second one.
// Where both ends stay in one scope, an event beside a variable does it, too; a oneshot is for ends
// that travel: the sender inside a request, through a channel, to whoever answers it.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/oneshot_block.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

namespace detail {

/// What awaiters of a oneshot share, and what does not depend on the value.
class TANDEM_API oneshot_receive_wait {
 public:
  explicit oneshot_receive_wait(oneshot_base& target) noexcept : base_(&target) {}
  oneshot_receive_wait(oneshot_receive_wait&&) noexcept = default;

  bool await_ready() noexcept { return !must_stop() && base_->has_ended() && room_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }

  // As a branch of select() (protocol selecting).
  using select_once = void;
  bool select_try() const noexcept { return base_->has_ended(); }
  bool select_arm(select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  bool was_stopped() noexcept { return room_.has_waited() && room_.get().cancelled(); }
  std::error_code stop_code() noexcept { return make_error_code(room_.get().cancel_reason()); }

  oneshot_base* base_;
  waiter_room<waiter> room_;

 private:
  bool start(promise_base& waiting) noexcept;
};

}  // namespace detail

/// Awaiter of oneshot_receiver::receive().
template <class T>
class [[nodiscard]] oneshot_receive_awaiter : public detail::oneshot_receive_wait {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  explicit oneshot_receive_awaiter(detail::oneshot_block<T>& target) noexcept
      : oneshot_receive_wait(target) {}

  std::exception_ptr await_failure() noexcept {
    if (std::exception_ptr stopped = room_.failure_if_cancelled()) return stopped;
    return block().take_failure();
  }
  T await_resume() {
    room_.throw_if_cancelled();
    return block().take().value();
  }
  /// For as_result(): nothing is thrown.
  result<T> await_resume_result() noexcept {
    if (was_stopped()) return stop_code();
    return block().take();
  }

 private:
  detail::oneshot_block<T>& block() noexcept {
    return static_cast<detail::oneshot_block<T>&>(*base_);
  }
};

/// Awaiter of oneshot_sender::closed().
class [[nodiscard]] TANDEM_API oneshot_closed_awaiter {
 public:
  using tandem_awaiter = void;

  explicit oneshot_closed_awaiter(detail::oneshot_base& target) noexcept : target_(&target) {}
  oneshot_closed_awaiter(oneshot_closed_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->is_closed() && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  using select_once = void;
  bool select_try() const noexcept { return target_->is_closed(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 private:
  bool start(detail::promise_base& waiting) noexcept;

  detail::oneshot_base* target_;
  detail::waiter_room<detail::waiter> room_;
};

template <class T>
class oneshot;

/// The end that sends: once. Dropped without a value it tells the receiver so at once.
///
/// @thread_safety  any thread, also outside any task; one call at a time
template <class T>
class [[nodiscard]] oneshot_sender {
 public:
  oneshot_sender() noexcept = default;
  oneshot_sender(oneshot_sender&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  oneshot_sender& operator=(oneshot_sender&& other) noexcept {
    oneshot_sender moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  ~oneshot_sender() {
    if (block_ != nullptr) block_->drop_sender();
  }

  /// Whether it can still send: it was neither moved from, nor has it sent.
  explicit operator bool() const noexcept { return block_ != nullptr; }

  /// Never waits.
  ///
  /// @returns  false if the receiver is gone, or closed: then `value` is untouched
  /// @cost     a short lock and a move; if the receiver waits, one post
  template <class U = T>
    requires(!std::is_void_v<T>)
  bool send(std::type_identity_t<U>&& value) noexcept {
    return sent(block().send(std::in_place, std::move(value)));
  }
  /// As above, with a copy.
  template <class U = T>
    requires(!std::is_void_v<T>)
  bool send(const std::type_identity_t<U>& value) {
    return send(U(value));
  }
  /// Of a oneshot<void>: says that it is done.
  bool send() noexcept
    requires std::is_void_v<T>
  {
    return sent(block().send());
  }
  /// The receive throws it.
  bool fail(std::exception_ptr failure) noexcept { return sent(block().send(std::move(failure))); }
  bool fail(std::error_code error) noexcept { return sent(block().send(error)); }

  /// Whether the receiver is gone, or closed: then nobody needs the value.
  bool is_closed() const noexcept { return block().is_closed(); }
  /// Waits until is_closed(); then the work for an answer can be given up. A receiver whose task is
  /// stopped goes with that task.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally
  /// @thread_safety  it has to return before the sender sends or goes; one at a time
  /// @resumes_on     the caller's home
  /// @cost           one load if it is closed; no allocation
  oneshot_closed_awaiter closed() noexcept { return oneshot_closed_awaiter(block()); }

  // Implementation
 private:
  friend oneshot<T>;
  explicit oneshot_sender(detail::oneshot_block<T>& block) noexcept : block_(&block) {}
  detail::oneshot_block<T>& block() const noexcept {
    TANDEM_ASSERT(block_ != nullptr, "the sender of a oneshot was used twice, or moved from");
    return *block_;
  }
  bool sent(bool was_sent) noexcept {
    if (was_sent) block_ = nullptr;
    return was_sent;
  }

  detail::oneshot_block<T>* block_ = nullptr;
};

/// The end that receives.
///
/// @thread_safety  one task at a time
template <class T>
class [[nodiscard]] oneshot_receiver {
 public:
  oneshot_receiver() noexcept = default;
  oneshot_receiver(oneshot_receiver&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  oneshot_receiver& operator=(oneshot_receiver&& other) noexcept {
    oneshot_receiver moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  ~oneshot_receiver() {
    if (block_ != nullptr) block_->drop_receiver();
  }

  /// Whether it was not moved from.
  explicit operator bool() const noexcept { return block_ != nullptr; }

  /// Waits for the value.
  ///
  /// @returns        the value, once
  /// @throws         what the sender has failed with; std::system_error with errc::sender_dropped
  ///                 if it went without a value, with errc::channel_closed after close(), or when
  ///                 the value was received before; operation_cancelled if a stop comes while it
  ///                 waits, or came before
  /// @cancellation   may lose the race and return the value; else that stays, and may be received
  ///                 again. One that is ready may go through in a stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           a load and a move; no allocation. With as_result() nothing is thrown
  oneshot_receive_awaiter<T> receive() noexcept { return oneshot_receive_awaiter<T>(block()); }

  /// @returns  nothing if it has neither come nor can be given up; else what receive() would end
  ///           with
  std::optional<result<T>> try_receive() noexcept {
    if (!block().has_ended()) return std::nullopt;
    return block().take();
  }

  /// Nothing is taken any more: sends return false. What was sent before may still be received.
  void close() noexcept { block().close(); }

  // Implementation
 private:
  friend oneshot<T>;
  explicit oneshot_receiver(detail::oneshot_block<T>& block) noexcept : block_(&block) {}
  detail::oneshot_block<T>& block() const noexcept {
    TANDEM_ASSERT(block_ != nullptr, "the receiver of a oneshot was moved from");
    return *block_;
  }

  detail::oneshot_block<T>* block_ = nullptr;
};

/// One value from one sender to one receiver.
///
///     tandem::oneshot<int> answer;
///     co_await questions.send(question(6, 7, std::move(answer.sender)));
///     const int product = co_await answer.receiver.receive();
///
/// Each end may be moved to wherever it is needed, and may outlive the other one: also
/// `auto [sender, receiver] = tandem::oneshot<int>();`. Of a T that can be moved without throwing,
/// or void. What was sent has happened before the receive returns.
///
/// @cost  one block of the memory that frames have (detail/frame_memory.hpp), which goes with the
///        second end
template <class T>
class oneshot {
  static_assert(std::is_void_v<T> ||
                    (std::is_object_v<T> && std::is_nothrow_move_constructible_v<T> &&
                     std::is_nothrow_destructible_v<T>),
                "a oneshot's value is moved to its receiver: moving must not throw");
  static_assert(alignof(result<T>) <= 16,
                "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  /// @throws  std::bad_alloc
  oneshot() : oneshot(*new detail::oneshot_block<T>()) {}

  oneshot_sender<T> sender;
  oneshot_receiver<T> receiver;

  // Implementation
 private:
  explicit oneshot(detail::oneshot_block<T>& block) noexcept : sender(block), receiver(block) {}
};

}  // namespace tandem::inline v0
