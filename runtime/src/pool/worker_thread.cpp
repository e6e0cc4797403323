// worker_thread.cpp: how the threads of workers come, and how they go. Protocols crew, changes: runtime/src/pool/README.md.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

constexpr int first_worker_attempts = 20;
constexpr auto attempt_distance = std::chrono::milliseconds(10);

/// The body that a factory gets: does nothing before the pool has its thread, nothing if it never
/// gets it, and nothing a second time. States: waits -> granted -> begun, or waits -> refused.
class body_of_worker {
 public:
  explicit body_of_worker(std::function<void()> body) : body_(std::move(body)) {}

  void run() {
    while (state_.load(std::memory_order_acquire) == waits) platform::wait_on(state_, waits);
    std::uint32_t expected = granted;
    // Acquire: pairs with decide().
    if (state_.compare_exchange_strong(expected, begun, std::memory_order_acquire)) body_();
  }
  void decide(bool grant) noexcept {
    state_.store(grant ? granted : refused, std::memory_order_release);
    platform::wake_all(state_);
  }

 private:
  enum : std::uint32_t { waits, granted, refused, begun };
  std::atomic<std::uint32_t> state_{waits};
  std::function<void()> body_;
};

}  // namespace

bool worker_pool::impl::start_thread(unsigned limit, job* first) noexcept {
  // Under idle_lock_: stop() joins whoever is started, and nobody starts afterwards.
  const unsigned there = threads_.load(std::memory_order_relaxed);
  if (there >= limit || !workers_.has_free_number()) return false;
  // After a failure others do the work for a while.
  if (there != 0 && next_attempt_ != std::chrono::steady_clock::time_point() &&
      std::chrono::steady_clock::now() < next_attempt_) {
    return false;
  }
  detail::short_text reason;
  try {
    worker& fresh = workers_.take();
    fresh.handed = first;
    // Under queue_first a thread above the core brings its own room (submissions/order).
    const bool brings_room = growth() == growth_order::queue_first && there >= size();
    // With an item in hand it does not look for one.
    const std::uint64_t change =
        (first == nullptr ? one_searching : 0) - (brings_room ? 0 : one_room);
    state_.fetch_add(change, std::memory_order_seq_cst);
    if (brings_room) target_.fetch_add(1, std::memory_order_relaxed);
    if (start(fresh, brings_room, reason)) {
      if (brings_room) ++brought_;
      next_attempt_ = {};
      return true;
    }
    if (brings_room) target_.fetch_sub(1, std::memory_order_relaxed);
    state_.fetch_sub(change, std::memory_order_seq_cst);
    fresh.handed = nullptr;
    workers_.give_back(fresh);
  } catch (const std::bad_alloc&) {
    reason.assign("", "out of memory");
  }
  next_attempt_ = std::chrono::steady_clock::now() + attempt_distance;
  report_no_thread(reason.c_str(), there == 0);
  // Work is queued, nobody can ever run it, and a post cannot report it: no silent hang. A
  // submission's own item is not queued yet: there it goes on. Whoever is on its way out looks once
  // more, and starts somebody (crew/numbers).
  if (there == 0 && present_ == 0 && anything_queued()) std::terminate();
  return false;
}

void worker_pool::impl::note_start(bool for_full_queue) noexcept {
  decision_reason why = for_full_queue ? decision_reason::queue_full : decision_reason::work;
  if (auto* const watching = control()) {
    why = watching->thread_started(why);
  } else {
    note(pool_action::inject, why, goal(), goal(), 0, 0);
  }
  injections_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
}

bool worker_pool::impl::start(worker& fresh, bool for_full_queue,
                              detail::short_text& reason) noexcept {
  bool by_factory = true;
  for (int attempt = 0; attempt < first_worker_attempts; ++attempt) {
    try {
      const std::string thread_name = name_ + "-" + std::to_string(fresh.number);
      fresh.settings = settings();
      fresh.signal.store(worker::running, std::memory_order_relaxed);  // nobody else knows it
      const thread_options::factory_function& factory = fresh.settings->threads.factory;
      by_factory = by_factory && factory != nullptr;
      if (by_factory) {
        start_by(fresh, factory, thread_name);
      } else {
        fresh.thread = platform::start_thread(thread_name.c_str(), [this, &fresh] { live(fresh); });
      }
      fresh.started.store(true, std::memory_order_relaxed);
      threads_.fetch_add(1, std::memory_order_relaxed);
      ++present_;
      note_start(for_full_queue);
      return true;
    } catch (const std::exception& failure) {
      reason.assign(by_factory ? "thread_options::factory: " : "", failure.what());
    } catch (...) {
      reason.assign(by_factory ? "thread_options::factory: " : "", "not a std::exception");
    }
    // Without this one others do the work; the first one is worth waiting for.
    if (threads_.load(std::memory_order_relaxed) != 0) break;
    if (std::exchange(by_factory, false)) {
      report_no_thread(reason.c_str(), false);
    } else {
      std::this_thread::sleep_for(attempt_distance);
    }
  }
  return false;
}

void worker_pool::impl::start_by(worker& fresh, const thread_options::factory_function& factory,
                                 const std::string& thread_name) {
  const platform::blocked_signals until_it_runs;
  const auto body = std::make_shared<body_of_worker>([this, &fresh] { live(fresh); });
  try {
    fresh.thread = factory([body] { body->run(); }, thread_name);
    if (!fresh.thread.joinable()) throw std::runtime_error("no thread came back");
  } catch (...) {
    body->decide(false);
    throw;
  }
  body->decide(true);
}

void worker_pool::impl::report_no_thread(const char* reason, bool at_once) noexcept {
  const unsigned left = threads_.load(std::memory_order_relaxed);
  // Work may be posted a million times a second.
  const auto now = std::chrono::steady_clock::now();
  if (at_once || now >= next_report_) {
    next_report_ = now + std::chrono::seconds(1);
    std::fprintf(
        stderr,
        "tandem: pool %s could not start a worker (%s); it has %u threads. Check the limits on "
        "processes (ulimit -u, pids.max) and on memory.\n",
        name_.c_str(), reason, left);
  }
}

void worker_pool::impl::live(worker& self) noexcept {
  const thread_options& options = self.settings->threads;
  const auto suppress = [this](const auto& step) noexcept {
    try {
      step();
    } catch (...) {
      owner_.implementation().suppressed(std::current_exception());
    }
  };
  // changes/make_thread. No worker yet: what the hook spawns comes from outside. But it may not
  // wait for the runtime.
  detail::this_thread().current_executor = &pool_;
  detail::short_text own_name;
  own_name.assign(name_.c_str(), self.number);
  platform::name_this_thread(own_name.c_str());
  suppress([&] {
    switch (options.placement) {
      case cpu_placement::anywhere: break;
      case cpu_placement::within: platform::place_this_thread(options.cpus); break;
      case cpu_placement::one_each:
        platform::place_this_thread({options.cpus[self.number % options.cpus.size()]});
        break;
    }
  });
  self.searching = self.handed == nullptr;  // as whoever started it has counted it
  if (options.on_start) {
    const bool was_searching = self.searching;
    if (was_searching) begin_hook(self);
    suppress([&] { options.on_start(self.number); });
    if (was_searching) starting_.fetch_sub(1, std::memory_order_relaxed);
  }
  run(self);
}

void worker_pool::impl::begin_hook(worker& self) noexcept {
  // parking/start_hook. Relaxed: a count of hooks, by which too many or too few are woken at worst
  // for a moment.
  const unsigned starting = starting_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t before = state_.fetch_sub(one_searching, std::memory_order_seq_cst);
  self.searching = false;
  if (queued() > starting && room_of(before) > 0) wake_one();
}

void worker_pool::impl::say_goodbye(worker& self) noexcept {
  const std::shared_ptr<const pool_options> settings = std::move(self.settings);
  if (!settings->threads.on_exit) return;
  // changes/make_thread. Its lanes are nobody's any more: what the hook spawns goes to the
  // injection queue.
  detail::thread_context& context = detail::this_thread();
  context.current_worker = nullptr;
  context.lane = nullptr;
  context.lane_home = nullptr;
  try {
    settings->threads.on_exit(self.number);
  } catch (...) {
    owner_.implementation().suppressed(std::current_exception());
  }
}

void worker_pool::impl::leave(worker& self) noexcept {
  say_goodbye(self);
  std::thread before;
  bool was_last = false;
  {
    const std::lock_guard lock(idle_lock_);
    // Else stop() has taken it, and joins it.
    if (self.thread.joinable()) before = std::exchange(last_left_, std::move(self.thread));
    self.started.store(false, std::memory_order_relaxed);
    workers_.give_back(self);
    was_last = count_out();
  }
  // It may have been the last one that was awake, and not have lain for as long as keeping takes.
  if (busy() == 0) detail::trim_frame_store_for_good();
  // Whoever found no free number left the item to us (crew/numbers).
  if (anything_queued()) wake_one();
  if (before.joinable()) before.join();  // it has nothing left to do but this
  if (was_last) terminate();
}

bool worker_pool::impl::count_out() noexcept {
  // Under idle_lock_. submissions/end.
  --present_;
  return stopping_ && present_ == 0;
}

}  // namespace tandem::inline v0
