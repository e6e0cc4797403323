// callback_slots.hpp: names for awaited callbacks, which may outlive the await: a slot and a generation.
// SPDX-License-Identifier: MIT
//
// What foreign code holds is never an address: a call that comes late, or twice, finds another
// generation and hits nothing. Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class callback_wait;

/// Which await, at which use of its slot. Generation 0: none.
struct callback_ticket {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  explicit operator bool() const noexcept { return generation != 0; }
};

/// callbacks/take. A slot for `wait`, armed, with one hold. May be called before anybody knows it.
///
/// @throws  std::bad_alloc; std::system_error if there are some sixteen million of them
TANDEM_API callback_ticket take_callback_slot(callback_wait& wait);
/// callbacks/give_back. pre: claimed by the caller, who is done with the await
TANDEM_API void give_callback_slot_back(callback_ticket ticket) noexcept;

/// callbacks/claim. @returns the await that the caller now has to end; null if it has ended, or
/// somebody else ends it: then that is counted
TANDEM_API callback_wait* claim_callback(callback_ticket ticket) noexcept;
/// The same without a count, for whoever may come second by right.
TANDEM_API callback_wait* try_claim_callback(callback_ticket ticket) noexcept;

/// callbacks/hold. One more handle; nothing if the await has ended.
TANDEM_API void hold_callback(callback_ticket ticket) noexcept;
/// callbacks/drop. One handle less; the last one ends the await.
TANDEM_API void drop_callback(callback_ticket ticket) noexcept;
/// callbacks/hold_c. The hold of foreign code that has only a void*: one, however often it is asked
/// for.
TANDEM_API void hold_callback_for_c(callback_ticket ticket) noexcept;
TANDEM_API void drop_callback_of_c(callback_ticket ticket) noexcept;

/// A ticket as the void* of a callback, and back.
TANDEM_API void* to_callback_data(callback_ticket ticket) noexcept;
TANDEM_API callback_ticket from_callback_data(void* data) noexcept;

}  // namespace tandem::inline v0::detail
