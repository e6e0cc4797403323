// moves.cpp: wishes, and requests to look at them.
// SPDX-License-Identifier: MIT
#include "engine/moves.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/completion_engine.hpp"

namespace tandem::inline v0::io {

completion_engine* moves::request(completion_thread::impl& thread) noexcept {
  completion_engine& host = *thread.engine_.load(std::memory_order_relaxed);  // under the lock
  guests& there = host.hosted();
  if (!std::exchange(thread.requested_, true)) {
    thread.next_request_ = std::exchange(there.requests_, &thread);
  }
  there.requested_.store(true, std::memory_order_seq_cst);  // pairs with the engine's sleep
  return &host;
}

void moves::send(completion_thread::impl& thread, completion_engine& engine) noexcept {
  completion_engine* host = nullptr;
  {
    const std::lock_guard guard(lock_);
    thread.is_open_ = true;
    thread.wanted_ = &engine;
    host = request(thread);
  }
  host->sleeping().wake();
}

void moves::open(completion_thread::impl& thread, completion_engine& first) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (std::exchange(thread.is_open_, true)) return;
    // Nobody has posted to it yet.
    thread.wanted_ = &first;
    thread.engine_.store(&first, std::memory_order_seq_cst);
    (void)request(thread);
  }
  first.sleeping().wake();
}

unsigned moves::hosted_by(const completion_engine& engine) const noexcept {
  return static_cast<unsigned>(
      std::count_if(threads_.begin(), threads_.end(), [&](const completion_thread::impl* each) {
        return each->is_open_ && each->wanted_ == &engine;
      }));
}

completion_thread::impl* moves::guest_of_the_fullest() const noexcept {
  completion_thread::impl* found = nullptr;
  unsigned most = 1;
  for (completion_thread::impl* const each : threads_) {
    if (!each->is_open_ || each->index() == each->wanted_->index()) continue;  // its own stays
    const unsigned count = hosted_by(*each->wanted_);
    if (count > most) {
      most = count;
      found = each;
    }
  }
  return found;
}

void moves::level(completion_thread::impl& own, completion_engine& engine,
                  unsigned engines) noexcept {
  send(own, engine);
  while (true) {
    completion_engine* host = nullptr;
    {
      const std::lock_guard guard(lock_);
      const auto open = static_cast<unsigned>(
          std::count_if(threads_.begin(), threads_.end(),
                        [](const completion_thread::impl* each) { return each->is_open_; }));
      if (hosted_by(engine) >= open / engines) return;
      completion_thread::impl* const moved = guest_of_the_fullest();
      if (moved == nullptr || moved->wanted_ == &engine) return;
      moved->wanted_ = &engine;
      host = request(*moved);
    }
    host->sleeping().wake();
  }
}

void moves::retire(completion_engine& engine, completion_engine& survivor) noexcept {
  {
    const std::lock_guard guard(lock_);
    engine.hosted().leaving_ = true;
    for (completion_thread::impl* const each : threads_) {
      if (each->wanted_ != &engine) continue;
      each->wanted_ = &survivor;
      // On its way to `engine`: whoever gives it away looks at the wish then.
      if (each->engine_.load(std::memory_order_relaxed) == &engine) (void)request(*each);
    }
    // It may host nobody.
    engine.hosted().requested_.store(true, std::memory_order_seq_cst);
  }
  engine.sleeping().wake();
}

void moves::settle() noexcept {
  // moving/end. Nothing is in flight that would not end at once, so moves do.
  const auto settled = [this] {
    const std::lock_guard guard(lock_);
    return std::all_of(threads_.begin(), threads_.end(), [](const completion_thread::impl* each) {
      return !each->requested_ && each->engine_.load(std::memory_order_relaxed) == each->wanted_;
    });
  };
  while (!settled()) std::this_thread::yield();
}

}  // namespace tandem::inline v0::io
