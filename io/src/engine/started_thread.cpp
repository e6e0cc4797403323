// started_thread.cpp: two threads meet at the end of the set-up.
// SPDX-License-Identifier: MIT
#include "engine/started_thread.hpp"

#include <tandem/detail/pool_thread.hpp>
#include <utility>

namespace tandem::inline v0::io {

void started_thread::start() {
  ready_ = false;
  failure_ = nullptr;
  thread_ = tandem::detail::start_pool_thread(name_.c_str(), [this] { run(); });
  std::unique_lock lock(lock_);
  changed_.wait(lock, [this] { return ready_; });
  if (failure_ != nullptr) {
    lock.unlock();
    thread_.join();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void started_thread::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void started_thread::run() noexcept {
  {
    const std::lock_guard lock(lock_);
    try {
      set_up_();
    } catch (...) {
      failure_ = std::current_exception();
    }
    ready_ = true;
    changed_.notify_one();
    if (failure_ != nullptr) return;
  }
  body_();
}

}  // namespace tandem::inline v0::io
