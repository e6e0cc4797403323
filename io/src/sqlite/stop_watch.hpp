// stop_watch.hpp: how a stop of the task reaches the statement that its call runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/stop.hpp>

namespace tandem::inline v0::io::sqlite::detail {

class connection;

/// For one call, on its thread of blocking(). The stopper interrupts the connection when it holds no
/// lock (stopping/listener of runtime/src/stop/README.md); the thread does not leave before that is over, so the
/// connection never hears of the stop of another call.
class stop_watch final : tandem::stop_listener {
 public:
  explicit stop_watch(connection& on) noexcept;
  stop_watch(stop_watch&&) = delete;
  ~stop_watch();

 private:
  static bool on_stop(tandem::stop_waiter& waiter) noexcept;
  static const tandem::detail::wait_kind listens_for_call;
  static void stopper_left(tandem::stop_listener& waiter) noexcept;

  connection& on_;
  tandem::stop_state* const state_;  // null: of no task
  bool is_listening_ = false;
  bool has_left_ = false;  // under the connection's lock
};

}  // namespace tandem::inline v0::io::sqlite::detail
