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
}

worker_pool::worker_pool(tandem::runtime& owner, std::string name, unsigned threads,
                         detail::driven_loop* loop)
    : impl_(std::make_unique<impl>(*this, owner, std::move(name), threads, loop)) {}
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
std::string worker_pool::describe() const { return impl_->describe(); }
void worker_pool::stop() noexcept { impl_->stop(); }

int current_worker_index() noexcept {
  const detail::worker* const self = detail::this_thread().current_worker;
  return self != nullptr ? static_cast<int>(self->number) : -1;
}

worker_pool::impl::impl(worker_pool& pool, tandem::runtime& owner, std::string name,
                        unsigned threads, detail::driven_loop* loop)
    : pool_(pool),
      owner_(owner),
      name_(std::move(name)),
      // Spinning pays only where the spinner does not sit on the CPU that the work needs.
      may_spin_(platform::usable_cpus() > 1),
      loop_(loop),
      state_(loop == nullptr ? threads * one_idle : 0) {
  workers_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    workers_.push_back(std::make_unique<worker>(*this, i, threads));
  }
  if (loop != nullptr) return;  // nobody to wake: whoever drives looks at all of them
  for (unsigned i = threads; i-- > 0;) idle_stack_.push_back(workers_[i].get());
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
  if (idle_of(state_.load(std::memory_order_relaxed)) != 0) return;  // an idle one comes for it
  for (const auto& each : workers_) each->forks.attention.store(true, std::memory_order_release);
}

void worker_pool::impl::wake_one() noexcept {
  // P5. seq_cst: pairs with the sleeper's count in park(); the item was published seq_cst before.
  const std::uint64_t seen = state_.load(std::memory_order_seq_cst);
  if (searching_of(seen) != 0 || idle_of(seen) == 0) return;
  worker* chosen = nullptr;
  bool fresh = false;
  {
    std::lock_guard lock(idle_lock_);
    if (idle_stack_.empty() || stopping_) return;
    if (searching_of(state_.load(std::memory_order_seq_cst)) != 0) return;
    chosen = idle_stack_.back();
    idle_stack_.pop_back();
    state_.fetch_add(one_searching - one_idle, std::memory_order_seq_cst);
    fresh = !chosen->started.load(std::memory_order_relaxed);
    if (fresh) start(*chosen);
  }
  wakes_.fetch_add(1, std::memory_order_relaxed);
  if (fresh) return;
  chosen->signal.store(worker::notified, std::memory_order_release);  // pairs with park()
  platform::wake_one(chosen->signal);
}

void worker_pool::impl::start(worker& fresh) noexcept {
  // Under idle_lock_: stop() joins whoever is started, and nobody starts afterwards.
  const std::string thread_name = name_ + "-" + std::to_string(fresh.number);
  std::string reason;
  for (int attempt = 0; attempt < first_worker_attempts; ++attempt) {
    try {
      fresh.thread = platform::start_thread(thread_name.c_str(), [this, &fresh] { run(fresh); });
      fresh.started.store(true, std::memory_order_relaxed);
      threads_.fetch_add(1, std::memory_order_relaxed);
      return;
    } catch (const std::exception& failure) {
      reason = failure.what();
    }
    // Without this one others do the work; the first one is worth waiting for.
    if (threads_.load(std::memory_order_relaxed) != 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const unsigned left = threads_.load(std::memory_order_relaxed);
  std::fprintf(
      stderr,
      "tandem: pool %s could not start worker %u (%s); it has %u threads. Check the limits on "
      "processes (ulimit -u, pids.max) and on memory.\n",
      name_.c_str(), fresh.number, reason.c_str(), left);
  // Work is queued, nobody can ever run it, and a post cannot report it: no silent hang.
  if (left == 0) std::terminate();
  idle_stack_.insert(idle_stack_.begin(), &fresh);
  state_.fetch_add(one_idle - one_searching, std::memory_order_seq_cst);
}

void worker_pool::impl::stop() noexcept {
  std::vector<worker*> sleeping;
  {
    std::lock_guard lock(idle_lock_);
    stopping_ = true;
    state_.fetch_sub(idle_stack_.size() * one_idle, std::memory_order_seq_cst);
    sleeping.swap(idle_stack_);
    std::erase_if(sleeping, [](const worker* each) {
      return !each->started.load(std::memory_order_relaxed);  // written under this lock
    });
    // Like any other that is woken: they find nothing, and take themselves off in park().
    state_.fetch_add(sleeping.size() * one_searching, std::memory_order_seq_cst);
  }
  for (worker* each : sleeping) {
    each->signal.store(worker::notified, std::memory_order_release);
    platform::wake_one(each->signal);
  }
  for (const auto& each : workers_) {
    if (each->thread.joinable()) each->thread.join();
  }
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();  // P8
}

worker_pool_stats worker_pool::impl::stats() const noexcept {
  worker_pool_stats out;
  out.min_threads = size();
  out.threads = threads_.load(std::memory_order_relaxed);
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  const unsigned unstarted = size() - std::min(size(), out.threads);
  const auto idle = static_cast<unsigned>(idle_of(state));
  out.idle = idle > unstarted ? idle - unstarted : 0;
  out.searching = static_cast<unsigned>(searching_of(state));
  out.queued = injection_.size();
  for (const auto& each : workers_) {
    out.queued += each->fifo.size() + (each->fifo.has_next() ? 1 : 0) + each->forks.size();
    out.items += each->items.read();
    out.steals += each->steals.read();
    out.parks += each->parks.read();
  }
  out.wakes = wakes_.load(std::memory_order_relaxed);
  out.injected = injected_.load(std::memory_order_relaxed);
  return out;
}

std::string worker_pool::impl::describe() const {
  const worker_pool_stats now = stats();
  std::string text = "pool " + name_ + ": " + std::to_string(now.threads) + " of " +
                     std::to_string(size()) + " threads, " + std::to_string(now.idle) + " idle, " +
                     std::to_string(now.searching) + " searching, " +
                     std::to_string(injection_.size()) + " in the injection queue\n";
  for (const auto& each : workers_) {
    if (!each->started.load(std::memory_order_relaxed)) continue;
    const bool parked = each->signal.load(std::memory_order_relaxed) == worker::parked;
    text += "  worker " + std::to_string(each->number) + (parked ? " parked" : " running") +
            ", forks " + std::to_string(each->forks.size()) + ", fifo " +
            std::to_string(each->fifo.size()) + (each->fifo.has_next() ? "+1" : "") + ", items " +
            std::to_string(each->items.read()) + ", steals " + std::to_string(each->steals.read()) +
            ", parks " + std::to_string(each->parks.read()) + "\n";
  }
  return text;
}

bool detail::look_after_lane(thread_context& context, bool joining) noexcept {
  worker& self = *context.current_worker;
  return self.owner.look_after_lane(self, joining);
}

}  // namespace tandem::inline v0
