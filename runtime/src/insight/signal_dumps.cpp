// signal_dumps.cpp: one thread for all runtimes that are asked by a signal.
// SPDX-License-Identifier: MIT
#include "insight/signal_dumps.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "insight/insight.hpp"
#include "platform/process.hpp"
#include "platform/quit_signal.hpp"

namespace tandem::inline v0::detail {

namespace {

struct asked {
  std::mutex changing;  // by whoever comes or goes; held while the thread starts and ends
  std::mutex lock;      // under it: what follows
  std::vector<insight*> all;
  std::unique_ptr<platform::quit_signal> signal;  // under `changing`
  int process = 0;
  asked* of_parent = nullptr;  // before a fork()
};

// Never destroyed: runtimes may be static objects. A child of fork() has its own: its parent's
// runtimes and thread are not there, and the locks may be held by threads that are not, either.
asked& those_asked() {
  static constinit std::atomic<asked*> newest{nullptr};
  asked* now = newest.load(std::memory_order_acquire);
  if (now != nullptr && now->process == platform::process_id()) return *now;
  auto fresh = std::make_unique<asked>();
  fresh->process = platform::process_id();
  fresh->of_parent = now;
  if (newest.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.release();
  }
  return *now;
}

void write_all() {
  asked& those = those_asked();
  const std::lock_guard hold(those.lock);
  for (insight* const each : those.all) each->write_dump();
}

}  // namespace

void dump_on_signal(insight& of) {
  asked& those = those_asked();
  const std::lock_guard changes(those.changing);
  {
    const std::lock_guard hold(those.lock);
    those.all.push_back(&of);
  }
  if (those.signal != nullptr) return;
  try {
    those.signal = std::make_unique<platform::quit_signal>(&write_all);
  } catch (...) {
    const std::lock_guard hold(those.lock);
    std::erase(those.all, &of);
    throw;
  }
}

void no_dump_on_signal(insight& of) noexcept {
  asked& those = those_asked();
  const std::lock_guard changes(those.changing);
  bool is_last = false;
  {
    const std::lock_guard hold(those.lock);
    if (std::erase(those.all, &of) == 0) return;
    is_last = those.all.empty();
  }
  if (is_last) those.signal.reset();
}

}  // namespace tandem::inline v0::detail
