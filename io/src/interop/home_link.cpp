// home_link.cpp: the end of a foreign loop, and of tasks in it. Protocol foreign_homes: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/asio/detail/home_link.hpp>

#include <chrono>
#include <utility>

namespace tandem::inline v0::detail {

void home_link::cut() noexcept {
  const std::lock_guard hold(lock_);
  home_ = nullptr;
  changed_.notify_all();
}

bool home_link::is_cut() noexcept {
  const std::lock_guard hold(lock_);
  return home_ == nullptr;
}

foreign_home* home_link::held_home() noexcept {
  return home_ != nullptr && home_->try_hold() ? home_ : nullptr;
}

void home_link::end_loop() noexcept {
  foreign_home* home = nullptr;
  {
    const std::lock_guard hold(lock_);
    home = held_home();
  }
  if (home == nullptr) return;
  home->end_loop();
  home->release();
}

void home_link::call_end() noexcept {
  const std::lock_guard hold(lock_);
  is_called_ = true;
  changed_.notify_all();
}

bool home_link::run_called() noexcept {
  foreign_home* home = nullptr;
  {
    const std::lock_guard hold(lock_);
    if (!is_called_ || (home = held_home()) == nullptr) return false;
    is_called_ = false;
  }
  home->run_some();
  home->release();
  return true;
}

void home_link::wait_a_moment() noexcept {
  std::unique_lock hold(lock_);
  // Short: what the tasks wait for may be destroyed by the caller only.
  changed_.wait_for(hold, std::chrono::microseconds(500),
                    [this] { return home_ == nullptr || is_called_; });
}

void spawned_stop::stop(stop_reason reason) noexcept {
  const std::lock_guard hold(lock_);
  if (asked_ == stop_reason::none) asked_ = reason;
  pass_on();
}

void spawned_stop::know(join_handle<void>&& task) noexcept {
  const std::lock_guard hold(lock_);
  task_ = std::move(task);
  pass_on();
}

void spawned_stop::begin() noexcept {
  const std::lock_guard hold(lock_);
  has_begun_ = true;
  pass_on();
}

void spawned_stop::pass_on() noexcept {
  if (asked_ != stop_reason::none && has_begun_ && task_) (void)task_.cancel(asked_);
}

}  // namespace tandem::inline v0::detail
