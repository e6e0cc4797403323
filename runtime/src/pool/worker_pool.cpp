// worker_pool.cpp: posting, waking and the public face of the pool.
// SPDX-License-Identifier: MIT
#include <tandem/worker_pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <tandem/detail/fork.hpp>
#include <tandem/detail/forked.hpp>

#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

std::shared_ptr<const pool_options> settings_of(pool_options options) {
  options.max_threads = std::max({options.min_threads, options.max_threads, 1U});
  return std::make_shared<const pool_options>(std::move(options));
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
worker_pool_stats worker_pool::stats() const {
  detail::refuse_if_forked(impl_->owner(), "worker_pool::stats");
  return impl_->stats();
}
unsigned worker_pool::size() const noexcept { return impl_->size(); }
std::vector<pool_decision> worker_pool::decisions() const {
  detail::refuse_if_forked(impl_->owner(), "worker_pool::decisions");
  return impl_->decisions();
}
std::string worker_pool::describe() const {
  detail::refuse_if_forked(impl_->owner(), "worker_pool::describe");
  return impl_->describe();
}
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
      stay_(options.allow_core_timeout ? 0 : size()),
      growth_(options.growth),
      keep_alive_(options.keep_alive),
      policy_(options.submissions.when_saturated),
      workers_(*this, loop != nullptr ? size() : options.most_threads(),
               loop != nullptr ? size() : pool_options::most_possible),
      submissions_(options.submissions),
      state_(loop == nullptr ? detail::pool_control::fixed_goal(options) * one_room : 0),
      target_(static_cast<int>(detail::pool_control::fixed_goal(options))),
      settings_(settings_of(options)),
      own_control_(loop == nullptr && options.is_adaptive()
                       ? std::make_unique<detail::pool_control>(*this, settings_, true)
                       : nullptr),
      control_(own_control_.get()) {
  idle_stack_.reserve(workers_.most());
  if (loop == nullptr) return;
  // Nobody to wake: whoever drives looks at all of them.
  for (unsigned i = 0; i < size(); ++i) workers_.take();
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
  inject(item, item);
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
  job* const oldest = items.pop_front();
  job* newest = oldest;
  while (job* const item = items.pop_front()) {
    item->next = newest;
    newest = item;
  }
  inject(newest, oldest);  // one wake for a batch; it wakes the next if it finds more
}

void worker_pool::impl::inject(job* newest, job* oldest) noexcept {
  detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  // parking/post. Whoever put the first one there tells the workers of all: this may be our last
  // access.
  if (loop_ == nullptr && injection_.push_behind(newest, oldest)) return;
  posting_.fetch_add(1, std::memory_order_relaxed);  // parking/visit: published by the push
  injection_.push(newest, oldest);
  wake_one();
  ask_attention();
  if (loop_ != nullptr) loop_->notify();
  // parking/visit: the last access; pairs with stop()
  posting_.fetch_sub(1, std::memory_order_release);
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
  if (self.fifo.push(item)) return;
  job_list one;
  one.push_back(item);
  injection_.hand_over(one);
}

void worker_pool::impl::ask_attention() noexcept {
  // Whoever is in a long recursion looks at its flag at the next join.
  if (room_of(state_.load(std::memory_order_relaxed)) > 0) return;  // an idle one comes for it
  for (worker& each : workers_) {
    // Mostly it is set, and its line stays where it is. seq_cst: its owner then clears it
    // (fork_lane/expose) after the item was published, and sees the item. Release: pairs with the
    // exchange in look_after(), so that the flag never outruns the item.
    if (!each.forks.attention.load(std::memory_order_seq_cst)) {
      each.forks.attention.store(true, std::memory_order_release);
    }
  }
}

void worker_pool::impl::wake_one() noexcept {
  // parking/wake. seq_cst: pairs with the sleeper's count in park(); the item was published seq_cst
  // before.
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
  if (auto* const watching = control()) watching->somebody_is_awake();
}

void worker_pool::impl::rouse(worker& chosen) noexcept {
  wakes_.fetch_add(1, std::memory_order_relaxed);
  chosen.signal.store(worker::notified, std::memory_order_release);  // pairs with rest()
  platform::wake_one(chosen.signal);
  if (auto* const watching = control()) watching->somebody_is_awake();
}

void worker_pool::impl::change_target(int by) noexcept {
  // crew/goal. First the room is there, then the look: seq_cst, both. The target is never too low
  // for the room beside it, so that busy() misses nobody.
  const std::uint64_t added = static_cast<std::uint64_t>(by) << 32;  // below zero too: modulo 2^64
  if (by > 0) target_.fetch_add(by, std::memory_order_seq_cst);
  const std::uint64_t now = state_.fetch_add(added, std::memory_order_seq_cst) + added;
  if (by < 0) target_.fetch_add(by, std::memory_order_seq_cst);
  if (room_of(now) < 0) control()->ask(detail::pool_control::too_many);
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
  // steal() also finds nothing where a thief was quicker: that does not say that nothing is left.
  while (!self.forks.empty()) {
    if (job* item = self.forks.steal()) items.push_back(item);
  }
  if (!items.empty()) injection_.hand_over(items);
}

bool worker_pool::impl::retire_one() noexcept {
  worker* oldest = nullptr;
  decision_reason why = decision_reason::keep_alive;
  {
    const std::lock_guard lock(idle_lock_);
    const unsigned left = threads_.load(std::memory_order_relaxed);     // written under the lock
    if (left > workers_.most()) why = decision_reason::outside_change;  // changes/look_again
    if (stopping_ || left <= stay_.load(std::memory_order_relaxed) || idle_stack_.empty()) {
      return false;
    }
    oldest = idle_stack_.front();
    idle_stack_.erase(idle_stack_.begin());
    threads_.store(left - 1, std::memory_order_relaxed);
    if (brought_ != 0) {
      // Only a submission that finds the queue full may bring this thread back: its room goes, too.
      --brought_;
      state_.fetch_sub(one_room, std::memory_order_seq_cst);
      target_.fetch_sub(1, std::memory_order_seq_cst);
    }
    oldest->signal.store(worker::dismissed, std::memory_order_release);  // pairs with rest()
  }
  platform::wake_one(oldest->signal);  // it lives as long as the pool
  retirements_.fetch_add(1, std::memory_order_relaxed);
  if (auto* const watching = control()) {
    watching->thread_retired(why);
  } else {
    note(pool_action::retire, why, goal(), goal(), 0, 0);
  }
  return true;
}

void worker_pool::impl::stop() noexcept {
  {
    const std::lock_guard last_change(configuring_);  // changes/room
    ended_ = true;
    if (auto* const watching = control()) watching->stop();
  }
  begin_stop(door::for_good);
  // One by one, and nothing is collected: the end must not ask for memory. Nobody starts any more,
  // and who leaves meanwhile either finds its thread taken, or leaves it in last_left_ and joins
  // the one that was there: so after the last worker no further thread gets there.
  for (worker& each : workers_.all()) join_if_there(each.thread);
  join_if_there(last_left_);
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();  // parking/visit
}

void worker_pool::impl::join_if_there(std::thread& thread) {
  std::thread mine;
  {
    const std::lock_guard lock(idle_lock_);
    mine.swap(thread);
  }
  if (mine.joinable()) mine.join();
}

bool detail::look_after_lane(thread_context& context, bool joining) noexcept {
  worker& self = *context.current_worker;
  return self.owner.look_after_lane(self, joining);
}

}  // namespace tandem::inline v0
