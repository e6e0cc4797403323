// own_home.hpp: where the awaiting task lives.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <tandem/executor.hpp>

namespace tandem::inline v0::io::detail {

/// Yields the home of the coroutine that awaits it, which is not suspended for that.
class own_home {
 public:
  using tandem_awaiter = void;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    home_ = self.promise().home;
    return false;
  }
  executor& await_resume() const noexcept { return *home_; }

 private:
  executor* home_ = nullptr;
};

}  // namespace tandem::inline v0::io::detail
