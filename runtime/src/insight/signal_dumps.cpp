// signal_dumps.cpp: one thread for all runtimes that are asked by a signal.
// SPDX-License-Identifier: MIT
#include "insight/signal_dumps.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "insight/insight.hpp"
#include "platform/quit_signal.hpp"
#include "process/per_process.hpp"

namespace tandem::inline v0::detail {

namespace {

struct asked {
  std::mutex changing;  // by whoever comes or goes; held while the thread starts and ends
  std::mutex lock;      // under it: what follows
  std::vector<insight*> all;
  std::unique_ptr<platform::quit_signal> signal;  // under `changing`
};

// Runtimes may be static objects.
constinit per_process<asked> those_asked;

void write_all() {
  asked& those = those_asked.get();
  const std::lock_guard hold(those.lock);
  for (insight* const each : those.all) each->write_dump();
}

}  // namespace

void dump_on_signal(insight& of) {
  asked& those = those_asked.get();
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
  asked* const those = those_asked.find();
  if (those == nullptr) return;
  const std::lock_guard changes(those->changing);
  bool is_last = false;
  {
    const std::lock_guard hold(those->lock);
    if (std::erase(those->all, &of) == 0) return;
    is_last = those->all.empty();
  }
  if (is_last) those->signal.reset();
}

}  // namespace tandem::inline v0::detail
