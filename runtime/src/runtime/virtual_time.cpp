// virtual_time.cpp: a virtual clock that is held, and one that can never move again.
// SPDX-License-Identifier: MIT
#include <tandem/virtual_time.hpp>

#include <string>

#include <tandem/detail/clock_hold.hpp>

#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace detail {

void hold_clock(tandem::runtime& owner) noexcept {
  driven_loop* const loop = owner.implementation().loop.get();
  if (loop != nullptr && loop->is_virtual()) [[unlikely]]
    loop->hold();
}

void release_clock(tandem::runtime& owner) noexcept {
  driven_loop* const loop = owner.implementation().loop.get();
  if (loop != nullptr && loop->is_virtual()) [[unlikely]]
    loop->release();
}

}  // namespace detail

clock_hold::clock_hold(runtime& target) noexcept : target_(&target) { detail::hold_clock(target); }
clock_hold::~clock_hold() { detail::release_clock(*target_); }

stalled::stalled(const char* what_waits, std::size_t tasks, std::uint64_t seed,
                 const std::string& waits)
    : std::runtime_error(std::string(what_waits) + " would wait for ever: " +
                         std::to_string(tasks) + (tasks == 1 ? " task waits" : " tasks wait") +
                         ", and no timer, no I/O and no blocking call is left that could wake one. "
                         "The seed of the schedule is " +
                         std::to_string(seed) + "." + (waits.empty() ? "" : "\n" + waits)),
      tasks_(tasks),
      seed_(seed) {}
stalled::~stalled() = default;

}  // namespace tandem::inline v0
