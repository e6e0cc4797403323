// blocking_region.hpp: tells the pool that this thread is going to block.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0 {

namespace detail {
class worker;
class pool_control;
}  // namespace detail

/// While it lives the calling worker counts as blocked: what waits in its lanes can be taken by
/// others, and the pool runs another worker in its place, at once while few are blocked, then one
/// by one.
///
///     task<row> query(std::string text) {
///       tandem::blocking_region here;
///       co_return database.ask(text);       // waits for a network, say, and keeps its thread
///     }
///
/// For calls that mostly take long, blocking() is better: it keeps no worker. This is for the
/// middle of plain functions, and for calls that only sometimes wait. No co_await inside: its end
/// would come on another thread. Regions may be nested. In a pool without a controller nobody comes
/// in its place, but what waits in its lanes is free for others; elsewhere than on a worker it does
/// nothing.
///
/// @thread_safety  ends on the thread that began it
/// @cost           a lock at either end; a thread is woken or started only where something waits
class TANDEM_API blocking_region {
 public:
  blocking_region() noexcept;
  blocking_region(const blocking_region&) = delete;
  blocking_region& operator=(const blocking_region&) = delete;
  ~blocking_region();

 private:
  detail::worker* const worker_;      // null: no worker, or one that is in a region already
  detail::pool_control* const told_;  // null: nobody decides here
};

}  // namespace tandem::inline v0
