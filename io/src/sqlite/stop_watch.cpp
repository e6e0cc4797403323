// stop_watch.cpp: listens to the stop state of the task that a call is of.
// SPDX-License-Identifier: MIT
#include "sqlite/stop_watch.hpp"

#include <tandem/environment.hpp>

#include "sqlite/connection.hpp"

namespace tandem::inline v0::io::sqlite::detail {

constinit const tandem::detail::wait_kind stop_watch::listens_for_call(&stop_watch::on_stop,
                                                                       "a call of SQLite");

stop_watch::stop_watch(connection& on) noexcept
    : stop_listener(listens_for_call, &stop_watch::stopper_left),
      on_(on),
      state_(current_environment() != nullptr ? &current_environment()->stop() : nullptr) {
  // False: it is stopped already, which the first look says.
  is_listening_ = state_ != nullptr && state_->listen(*this);
}

stop_watch::~stop_watch() {
  if (!is_listening_ || state_->take_back(*this)) return;
  on_.wait_until(has_left_);
}

bool stop_watch::on_stop(tandem::stop_waiter& waiter) noexcept {
  static_cast<stop_watch&>(waiter).on_.interrupt();  // sqlite_calls/stop: the task says so already
  return true;
}

void stop_watch::stopper_left(tandem::stop_listener& waiter) noexcept {
  auto& self = static_cast<stop_watch&>(waiter);
  self.on_.tell(self.has_left_);
}

}  // namespace tandem::inline v0::io::sqlite::detail
