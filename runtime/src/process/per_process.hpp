// per_process.hpp: an object of the process that is never destroyed, and new in a child of fork().
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include <tandem/config.hpp>

#include "platform/process.hpp"

namespace tandem::inline v0::detail {

/// For what has locks and threads: in a child the parent's locks may be held by threads that are not
/// there. Constant initialised, so it can be asked for at any time, also after the statics have gone.
template <class T>
class per_process {
 public:
  /// Any thread: the object of this process, made when it is first asked for. @throws std::bad_alloc
  T& get() {
    entry* now = newest_.load(std::memory_order_acquire);
    const int process = platform::process_id();
    if (now != nullptr && now->process == process) return now->object;
    auto fresh = std::make_unique<entry>();
    fresh->process = process;
    fresh->of_parent = now;
    if (newest_.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) {
      return fresh.release()->object;
    }
    return now->object;
  }
  /// Any thread: the object of this process, null if nobody has asked for it.
  T* find() noexcept {
    entry* const now = newest_.load(std::memory_order_acquire);
    return now != nullptr && now->process == platform::process_id() ? &now->object : nullptr;
  }

 private:
  struct entry {
    T object;
    int process = 0;
    entry* of_parent = nullptr;  // before a fork(): so that nothing is lost
  };
  std::atomic<entry*> newest_{nullptr};
};

}  // namespace tandem::inline v0::detail
