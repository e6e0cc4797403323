// worker_pool.cpp: posting, waking and the public face of the pool.
// SPDX-License-Identifier: MIT
#include <tandem/worker_pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include <tandem/detail/fork.hpp>
#include <tandem/detail/forked.hpp>

#include "platform.hpp"
#include "worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

constexpr int first_worker_attempts = 20;

/// How many may be busy at first.
unsigned first_target(const pool_options& options) noexcept {
  return options.growth == growth_order::threads_first ? options.most_threads()
                                                       : std::max(1U, options.min_threads);
}

}  // namespace

worker_pool::worker_pool(tandem::runtime& owner, const pool_options& options,
                         detail::driven_loop* loop)
    : impl_(std::make_unique<impl>(*this, owner, options, loop)) {}
worker_pool::~worker_pool() = default;

void worker_pool::post(job* item, post_kind kind) noexcept { impl_->post(item, kind); }
void worker_pool::post_batch(job_list items, post_kind kind) noexcept {
  impl_->post_batch(items, kind);
}
bool worker_pool::is_current() const noexcept { return impl_->is_current(); }
runtime* worker_pool::owner() const noexcept { return &impl_->owner(); }
std::string_view worker_pool::name() const noexcept { return impl_->name(); }
worker_pool_stats worker_pool::stats() const noexcept { return impl_->stats(); }
unsigned worker_pool::size() const noexcept { return impl_->size(); }
std::vector<pool_decision> worker_pool::decisions() const {
  detail::pool_control* const control = impl_->control();
  return control != nullptr ? control->decisions() : std::vector<pool_decision>();
}
std::string worker_pool::describe() const { return impl_->describe(); }
void worker_pool::stop() noexcept { impl_->stop(); }

int current_worker_index() noexcept {
  const detail::worker* const self = detail::this_thread().current_worker;
  return self != nullptr ? static_cast<int>(self->number) : -1;
}

worker_pool::impl::impl(worker_pool& pool, tandem::runtime& owner, const pool_options& options,
                        detail::driven_loop* loop)
    : pool_(pool),
      owner_(owner),
      name_(options.name),
      // Spinning pays only where the spinner does not sit on the CPU that the work needs.
      may_spin_(platform::usable_cpus() > 1),
      loop_(loop),
      min_threads_(std::max(1U, options.min_threads)),
      stay_(options.allow_core_timeout ? 0 : min_threads_),
      growth_(options.growth),
      keep_alive_(options.keep_alive),
      policy_(options.submissions.when_saturated),
      on_rejected_(options.submissions.on_rejected),
      on_terminated_(options.on_terminated),
      workers_(*this, loop != nullptr ? min_threads_ : options.most_threads()),
      submissions_(options.submissions),
      state_(loop == nullptr ? first_target(options) * one_room : 0),
      target_(static_cast<int>(first_target(options))),
      control_(loop == nullptr && growth_ == growth_order::demand &&
                       options.most_threads() > min_threads_
                   ? std::make_unique<detail::pool_control>(*this, options)
                   : nullptr) {
  idle_stack_.reserve(workers_.most());
  if (loop == nullptr) return;
  // Nobody to wake: whoever drives looks at all of them.
  for (unsigned i = 0; i < min_threads_; ++i) workers_.take();
}

worker_pool::impl::~impl() = default;

detail::worker* worker_pool::impl::own_worker() const noexcept {
  worker* const self = detail::this_thread().current_worker;
  return self != nullptr && &self->owner == this ? self : nullptr;
}

bool worker_pool::impl::is_current() const noexcept { return own_worker() != nullptr; }

void worker_pool::impl::post(job* item, post_kind kind) noexcept {
  if (worker* const self = own_worker()) {
    post_local(*self, item, kind);
    return;
  }
  detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  posting_.fetch_add(1, std::memory_order_relaxed);    // P8: published by the push
  injection_.push(item);
  injected_.fetch_add(1, std::memory_order_relaxed);
  wake_one();
  ask_attention();
  if (loop_ != nullptr) loop_->notify();
  posting_.fetch_sub(1, std::memory_order_release);  // P8: the last access; pairs with stop()
}

void worker_pool::impl::post_batch(job_list items, post_kind kind) noexcept {
  if (items.empty()) return;
  if (worker* const self = own_worker()) {
    // The oldest first: the next slot is its, the others follow in the ring. One wake, as below.
    post_local(*self, items.pop_front(), kind);
    if (items.empty()) return;
    while (job* item = items.pop_front()) push_fifo(*self, item);
    self->forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
    if (kind != post_kind::yield) wake_one();
    return;
  }
  detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  posting_.fetch_add(1, std::memory_order_relaxed);    // P8
  injected_.fetch_add(items.size(), std::memory_order_relaxed);
  injection_.push(items);
  wake_one();  // D10: one for a batch; it wakes the next if it finds more
  ask_attention();
  if (loop_ != nullptr) loop_->notify();
  posting_.fetch_sub(1, std::memory_order_release);  // P8
}

void worker_pool::impl::post_local(worker& self, job* item, post_kind kind) noexcept {
  if (kind == post_kind::resume) {
    job* const displaced = self.fifo.exchange_next(item);
    // A lone resumed item runs right after this segment: no wake for it.
    if (displaced != nullptr) push_fifo(self, displaced);
    self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
    if (displaced != nullptr) wake_one();
    return;
  }
  push_fifo(self, item);
  self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  if (kind == post_kind::spawn) wake_one();
}

void worker_pool::impl::push_fifo(worker& self, job* item) noexcept {
  if (!self.fifo.push(item)) injection_.push(item);
}

void worker_pool::impl::ask_attention() noexcept {
  // Whoever is in a long recursion looks at its flag at the next join (D9). Release: pairs with the
  // exchange in next_local, so that the flag never outruns the item.
  if (room_of(state_.load(std::memory_order_relaxed)) > 0) return;  // an idle one comes for it
  for (worker& each : workers_) each.forks.attention.store(true, std::memory_order_release);
}

void worker_pool::impl::wake_one() noexcept {
  // P5. seq_cst: pairs with the sleeper's count in park(); the item was published seq_cst before.
  const std::uint64_t seen = state_.load(std::memory_order_seq_cst);
  if (searching_of(seen) != 0 || room_of(seen) <= 0) return;
  worker* chosen = nullptr;
  {
    const std::lock_guard lock(idle_lock_);
    if (stopping_) return;
    const std::uint64_t now = state_.load(std::memory_order_seq_cst);
    if (searching_of(now) != 0 || room_of(now) <= 0) return;
    if (idle_stack_.empty()) {
      if (!start_thread(threads_without_asking(), nullptr)) return;
    } else {
      chosen = idle_stack_.back();
      idle_stack_.pop_back();
      state_.fetch_add(one_searching - one_room, std::memory_order_seq_cst);
    }
  }
  if (chosen != nullptr) {
    rouse(*chosen);
    return;
  }
  wakes_.fetch_add(1, std::memory_order_relaxed);
  if (control_ != nullptr) control_->somebody_is_awake();
}

void worker_pool::impl::rouse(worker& chosen) noexcept {
  wakes_.fetch_add(1, std::memory_order_relaxed);
  chosen.signal.store(worker::notified, std::memory_order_release);  // pairs with rest()
  platform::wake_one(chosen.signal);
  if (control_ != nullptr) control_->somebody_is_awake();
}

void worker_pool::impl::change_target(int by) noexcept {
  // J1. First the room is there, then the look: seq_cst, both.
  target_.fetch_add(by, std::memory_order_relaxed);
  const std::uint64_t added = static_cast<std::uint64_t>(by) << 32;  // below zero too: modulo 2^64
  const std::uint64_t now = state_.fetch_add(added, std::memory_order_seq_cst) + added;
  if (room_of(now) < 0) control_->ask(detail::pool_control::too_many);
  if (by > 0 && room_of(now) > 0 && anything_queued()) wake_one();
}

void worker_pool::impl::expose(worker& self) noexcept {
  self.forks.expose_all();
  if (job* const next = self.fifo.take_next()) push_fifo(self, next);
}

void worker_pool::impl::hand_over_lanes(worker& self) noexcept {
  self.forks.expose_all();
  job_list items;
  while (job* item = self.fifo.pop()) items.push_back(item);
  while (job* item = self.fifo.take_next()) items.push_back(item);
  while (job* item = self.forks.steal()) items.push_back(item);
  if (!items.empty()) injection_.push(items);
}

void worker_pool::impl::retire_one() noexcept {
  worker* oldest = nullptr;
  {
    const std::lock_guard lock(idle_lock_);
    const unsigned left = threads_.load(std::memory_order_relaxed);  // written under the lock
    if (stopping_ || left <= stay_ || idle_stack_.empty()) return;
    oldest = idle_stack_.front();
    idle_stack_.erase(idle_stack_.begin());
    threads_.store(left - 1, std::memory_order_relaxed);
    if (growth_ == growth_order::queue_first && left > min_threads_) {
      // Only a submission that finds the queue full may bring this thread back: its room goes, too.
      target_.fetch_sub(1, std::memory_order_relaxed);
      state_.fetch_sub(one_room, std::memory_order_seq_cst);
    }
    oldest->signal.store(worker::dismissed, std::memory_order_release);  // pairs with rest()
  }
  platform::wake_one(oldest->signal);  // it lives as long as the pool
  retirements_.fetch_add(1, std::memory_order_relaxed);
  if (control_ != nullptr) control_->thread_retired();
}

void worker_pool::impl::leave(worker& self) noexcept {
  std::thread before;
  {
    const std::lock_guard lock(idle_lock_);
    // Else stop() has taken it, and joins it.
    if (self.thread.joinable()) before = std::exchange(last_left_, std::move(self.thread));
    self.started.store(false, std::memory_order_relaxed);
    workers_.give_back(self);
  }
  // Who found no free number left the item to us (J7).
  if (anything_queued()) wake_one();
  if (before.joinable()) before.join();  // it has nothing left to do but this
}

bool worker_pool::impl::start_thread(unsigned limit, job* first) noexcept {
  // Under idle_lock_: stop() joins whoever is started, and nobody starts afterwards.
  const unsigned there = threads_.load(std::memory_order_relaxed);
  if (there >= limit || !workers_.has_free_number()) return false;
  std::string reason;
  try {
    worker& fresh = workers_.take();
    fresh.handed = first;
    // Under queue_first a thread above the core brings its own room (U3).
    const bool brings_room = growth_ == growth_order::queue_first && there >= min_threads_;
    const std::uint64_t change = one_searching - (brings_room ? 0 : one_room);
    state_.fetch_add(change, std::memory_order_seq_cst);
    if (brings_room) target_.fetch_add(1, std::memory_order_relaxed);
    if (start(fresh, reason)) return true;
    if (brings_room) target_.fetch_sub(1, std::memory_order_relaxed);
    state_.fetch_sub(change, std::memory_order_seq_cst);
    fresh.handed = nullptr;
    workers_.give_back(fresh);
  } catch (const std::bad_alloc&) {
    reason = "out of memory";
  }
  report_no_thread(reason);
  return false;
}

bool worker_pool::impl::start(worker& fresh, std::string& reason) noexcept {
  for (int attempt = 0; attempt < first_worker_attempts; ++attempt) {
    try {
      const std::string thread_name = name_ + "-" + std::to_string(fresh.number);
      fresh.signal.store(worker::running, std::memory_order_relaxed);  // nobody else knows it
      fresh.thread = platform::start_thread(thread_name.c_str(), [this, &fresh] { run(fresh); });
      fresh.started.store(true, std::memory_order_relaxed);
      threads_.fetch_add(1, std::memory_order_relaxed);
      const decision_reason why =
          control_ != nullptr ? control_->thread_started() : decision_reason::work;
      injections_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
      return true;
    } catch (const std::exception& failure) {
      reason = failure.what();
    }
    // Without this one others do the work; the first one is worth waiting for.
    if (threads_.load(std::memory_order_relaxed) != 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void worker_pool::impl::report_no_thread(const std::string& reason) noexcept {
  const unsigned left = threads_.load(std::memory_order_relaxed);
  // Work may be posted a million times a second.
  const auto now = std::chrono::steady_clock::now();
  if (left == 0 || now >= next_report_) {
    next_report_ = now + std::chrono::seconds(1);
    std::fprintf(
        stderr,
        "tandem: pool %s could not start a worker (%s); it has %u threads. Check the limits on "
        "processes (ulimit -u, pids.max) and on memory.\n",
        name_.c_str(), reason.c_str(), left);
  }
  // Work is queued, nobody can ever run it, and a post cannot report it: no silent hang.
  if (left == 0) std::terminate();
}

void worker_pool::impl::stop() noexcept {
  if (control_ != nullptr) control_->stop();
  begin_stop();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(idle_lock_);
    for (worker& each : workers_.all()) {
      if (each.thread.joinable()) threads.push_back(std::move(each.thread));
    }
    if (last_left_.joinable()) threads.push_back(std::move(last_left_));
  }
  for (std::thread& each : threads) each.join();
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();  // P8
}

bool detail::look_after_lane(thread_context& context, bool joining) noexcept {
  worker& self = *context.current_worker;
  return self.owner.look_after_lane(self, joining);
}

}  // namespace tandem::inline v0
