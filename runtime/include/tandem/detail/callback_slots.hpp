// callback_slots.hpp: names for awaited callbacks, which may outlive the await: a slot and a generation.
// SPDX-License-Identifier: MIT
//
// What foreign code holds is never an address: a call that comes late, or twice, finds another
// generation and hits nothing. Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// What a slot leads to: an awaited callback, or a stream of them.
class TANDEM_API callback_target {
 public:
  /// callbacks/drop. By the end of the last handle: nobody can call any more.
  virtual void end_dropped() noexcept = 0;
  /// callbacks/last_value. Of a stream: the last call that could bring a value is over.
  virtual void end_values() noexcept {}
  /// callbacks/leave. Of a stream: its end waits, and nobody is inside any more.
  virtual void all_left() noexcept {}

 protected:
  ~callback_target() = default;
};

/// The same, and what the calls are made with.
template <class Signature>
class callback_receiver;
template <class R, class... Args>
class callback_receiver<R(Args...)> : public callback_target {
 public:
  /// callbacks/fire. By whoever has claimed it, or is inside; an await may be gone afterwards.
  virtual R fire(Args... args) = 0;

 protected:
  ~callback_receiver() = default;
};

/// Which await, at which use of its slot. Generation 0: none.
struct callback_ticket {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  explicit operator bool() const noexcept { return generation != 0; }
};

enum class callback_use : std::uint8_t { once, stream };

/// callbacks/take. A slot for `target`, armed, with one hold. May be called before anybody knows it.
///
/// @throws  std::bad_alloc; std::system_error if there are some sixteen million of them
TANDEM_API callback_ticket take_callback_slot(callback_target& target, callback_use use);
/// callbacks/give_back. pre: claimed, nobody inside; the caller is done with it
TANDEM_API void give_callback_slot_back(callback_ticket ticket) noexcept;

/// callbacks/claim. For a stop, or an end, which may come second by right.
/// @returns  whether nobody else has claimed it
TANDEM_API bool try_claim_callback(callback_ticket ticket) noexcept;
/// callbacks/close. Of a stream, after the claim: from now on nobody enters.
TANDEM_API void close_callbacks(callback_ticket ticket) noexcept;
/// callbacks/leave. Of a stream. @returns true if nobody is left: the caller tells whoever waits
[[nodiscard]] TANDEM_API bool leave_callbacks(callback_ticket ticket) noexcept;

/// One call from outside, for as long as it takes: it claims an awaited callback (callbacks/claim),
/// or is inside a stream (callbacks/enter). Else it comes too late, which is counted.
class TANDEM_API callback_call {
 public:
  explicit callback_call(callback_ticket ticket) noexcept;
  callback_call(const callback_call&) = delete;
  callback_call& operator=(const callback_call&) = delete;
  ~callback_call() {
    if (is_inside_ && leave_callbacks(ticket_)) target_->all_left();
  }

  /// Null: too late.
  callback_target* target() const noexcept { return target_; }

 private:
  callback_ticket ticket_;
  callback_target* target_ = nullptr;
  bool is_inside_ = false;
};

/// callbacks/hold. One more handle; nothing if the await has ended.
TANDEM_API void hold_callback(callback_ticket ticket) noexcept;
/// callbacks/drop. One handle less; the last one ends the await.
TANDEM_API void drop_callback(callback_ticket ticket) noexcept;
/// callbacks/hold_c. The hold of foreign code that has only a void*: one, however often it is asked
/// for.
TANDEM_API void hold_callback_for_c(callback_ticket ticket) noexcept;
TANDEM_API void drop_callback_of_c(callback_ticket ticket) noexcept;

/// How many slots are taken: by awaits and streams that have not ended.
TANDEM_API std::size_t callback_slots_in_use() noexcept;

/// A ticket as the void* of a callback, and back.
TANDEM_API void* to_callback_data(callback_ticket ticket) noexcept;
TANDEM_API callback_ticket from_callback_data(void* data) noexcept;

}  // namespace tandem::inline v0::detail
