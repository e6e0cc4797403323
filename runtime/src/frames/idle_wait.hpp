// idle_wait.hpp: how a thread lies on a word while it may have memory of frames to give back.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/detail/frame_idle.hpp>

#include "platform/futex.hpp"

namespace tandem::inline v0::detail {

/// Waits until `word` is not `value`, or looks different for a moment; on its way the spell gives
/// back (trim/give_back), one part after the other, as long as the word stays as it is.
///
/// @param until_ns   of the steady clock
/// @param all_of_it  asked each time: whether the store, too
/// @returns          false: the time has come
template <class AllOfIt>
bool lie_on(frame_idle& spell, std::atomic<std::uint32_t>& word, std::uint32_t value,
            std::int64_t until_ns, AllOfIt all_of_it) noexcept {
  while (true) {
    const bool gives_back = spell.deadline_ns() < until_ns;
    if (platform::wait_on(word, value, gives_back ? spell.deadline_ns() : until_ns)) return true;
    if (!gives_back) return false;
    // acquire: pairs with whoever has changed it.
    if (word.load(std::memory_order_acquire) != value) return true;
    spell.give_back(all_of_it());
  }
}

}  // namespace tandem::inline v0::detail
