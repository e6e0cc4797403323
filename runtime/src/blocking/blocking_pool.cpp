// blocking_pool.cpp: queueing blocking calls, and the life of the threads that run them.
// SPDX-License-Identifier: MIT
#include "blocking/blocking_pool.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <tandem/clock.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/timer_service.hpp>

#include "frames/idle_wait.hpp"
#include "platform/futex.hpp"
#include "platform/threads.hpp"
#include "process/fork_guard.hpp"

namespace tandem::inline v0 {

namespace {
/// A std::system_error with that text, or what became of making it.
template <class Text>
std::exception_ptr busy(Text text) noexcept {
  try {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            text());
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

struct blocking_pool::impl::thread_record {
  std::thread thread;
  std::atomic<bool> has_thread{false};   // `thread` is set: its starter has let go of the record
  std::atomic<std::uint32_t> signal{0};  // 1: taken off the idle list; written under the lock
  thread_record* younger = nullptr;      // links of the idle list, under the lock
  thread_record* older = nullptr;
};

blocking_pool::impl::impl(tandem::runtime& owner, const blocking_options& options)
    : owner_(owner), options_(options), thread_prefix_(owner.options().name + "-block-") {
  if (options.max_threads == 0) {
    throw std::invalid_argument("blocking_options::max_threads is 0: it has to be at least 1");
  }
}

blocking_pool::impl::~impl() { stop(); }

blocking_pool::impl::admission blocking_pool::impl::enqueue(request& item) noexcept {
  // blocking_calls/last_access: published by the lock
  entering_.fetch_add(1, std::memory_order_relaxed);
  bool must_start = false;
  admission answer = admission::queued;
  {
    const std::lock_guard lock(lock_);
    const bool may_start = threads_ < options_.max_threads;
    if (item.state_ == request::state::stopped) {
      answer = admission::stopped;
    } else if (youngest_idle_ == nullptr && !may_start && queue_.size() >= options_.queue_limit) {
      answer = admission::full;
      item.state_ = request::state::running;  // on_stop leaves it alone from now on
    } else {
      item.state_ = request::state::queued;
      queue_.push(item);
      // blocking_calls/coming
      if (youngest_idle_ != nullptr) {
        if (queue_.size() > woken_) wake_youngest();
      } else if (may_start && queue_.size() > woken_ + starting_) {
        must_start = true;
        ++starting_;
        peak_ = std::max(peak_, ++threads_);
      }
    }
  }
  if (must_start) start_thread();
  // blocking_calls/last_access: the last access; pairs with stop()
  entering_.fetch_sub(1, std::memory_order_release);
  return answer;
}

bool blocking_pool::impl::remove(request& item) noexcept {
  const std::lock_guard lock(lock_);
  const bool queued = item.state_ == request::state::queued;
  if (queued) queue_.remove(item);
  if (item.state_ != request::state::running) item.state_ = request::state::stopped;
  return queued;
}

void blocking_pool::impl::describe(const request& item, detail::wait_note& note) noexcept {
  const std::lock_guard lock(lock_);
  note.object = this;
  if (item.state_ == request::state::queued) {
    note.say("that is one of %zu in the queue: all %u blocking threads are busy", queue_.size(),
             threads_ - idle_);
  } else {
    note.say("that runs on one of %u blocking threads", threads_ - idle_);
  }
}

void blocking_pool::impl::start_thread() noexcept {
  try {
    auto record = std::make_unique<thread_record>();
    unsigned number = 0;
    {
      const std::lock_guard lock(lock_);
      number = serial_++;
    }
    const std::string name = thread_prefix_ + std::to_string(number);
    record->thread =
        platform::start_thread(name.c_str(), [this, self = record.get()] { loop(*self); });
    record.release()->has_thread.store(true, std::memory_order_release);  // pairs with join()
  } catch (const std::exception& reason) {
    fail_queued(reason);
  }
}

void blocking_pool::impl::fail_queued(const std::exception& reason) noexcept {
  // Here there may be no memory for a text either: then that is the failure.
  const std::exception_ptr failure = busy([&] {
    return "tandem::blocking: the system gives no thread (" + std::string(reason.what()) +
           "), and there is none. Check the limits on processes (ulimit -u, pids.max) and on "
           "memory";
  });
  {
    const std::lock_guard lock(lock_);
    --threads_;
    --starting_;
  }
  while (true) {
    request* item = nullptr;
    {
      const std::lock_guard lock(lock_);
      if (threads_ != 0) return;  // they run what is queued
      item = queue_.pop();
      if (item == nullptr) return;
      item->state_ = request::state::running;
    }
    item->result_->error = failure;
    item->finish();
  }
}

std::exception_ptr blocking_pool::impl::too_many() const noexcept {
  return busy([&] {
    return "tandem::blocking: all " + std::to_string(options_.max_threads) +
           " threads are busy and " + std::to_string(options_.queue_limit) +
           " calls wait already (blocking_options::max_threads, queue_limit)";
  });
}

void blocking_pool::impl::loop(thread_record& self) noexcept {
  detail::listed_thread here(&owner_, "blocking thread", -1);
  std::unique_lock lock(lock_);
  --starting_;
  do {
    while (request* const item = queue_.pop()) {
      item->state_ = request::state::running;
      lock.unlock();
      here.begins();
      run(*item);
      lock.lock();
    }
  } while (wait_for_work(self, lock));
  retire(self, lock);
}

void blocking_pool::impl::run(request& item) noexcept {
  detail::thread_context& context = detail::this_thread();
  context.env = item.waiting().env;
  item.call_(item);
  if (context.env == nullptr && detail::is_forked(owner_)) detail::end_forked_child();
  context.env = nullptr;
  run_.fetch_add(1, std::memory_order_relaxed);
  item.finish();
}

bool blocking_pool::impl::wait_for_work(thread_record& self,
                                        std::unique_lock<std::mutex>& lock) noexcept {
  if (stopping_) return false;
  self.signal.store(0, std::memory_order_relaxed);  // under the lock, as are the writes of wakers
  self.younger = nullptr;
  self.older = youngest_idle_;
  if (youngest_idle_ != nullptr) youngest_idle_->younger = &self;
  youngest_idle_ = &self;
  ++idle_;
  const std::int64_t deadline_ns =
      detail::deadline_after(options_.keep_alive).time_since_epoch().count();
  detail::frame_idle spell;
  // With a virtual clock nothing else happens by the real one.
  if (!detail::timers_of(owner_).is_virtual()) {
    spell.begin(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  bool in_time = true;
  while (self.signal.load(std::memory_order_relaxed) == 0) {
    if (!in_time) {
      leave_idle(self);
      return false;
    }
    lock.unlock();
    in_time = detail::lie_on(spell, self.signal, 0, deadline_ns, [] { return true; });
    lock.lock();
  }
  --woken_;
  return true;
}

void blocking_pool::impl::wake_youngest() noexcept {
  thread_record& woken = *youngest_idle_;
  leave_idle(woken);
  ++woken_;
  platform::wake_one(woken.signal);
}

void blocking_pool::impl::leave_idle(thread_record& self) noexcept {
  (self.younger != nullptr ? self.younger->older : youngest_idle_) = self.older;
  if (self.older != nullptr) self.older->younger = self.younger;
  --idle_;
  self.signal.store(1, std::memory_order_relaxed);  // read under the lock; the futex looks as well
}

void blocking_pool::impl::retire(thread_record& self, std::unique_lock<std::mutex>& lock) noexcept {
  thread_record* const before = std::exchange(retired_, &self);
  --threads_;
  const bool last = stopping_ && threads_ == 0;
  lock.unlock();
  join(before);
  if (last) {
    // stop() joins this thread, so the pool is there until it has ended.
    all_ended_.store(1, std::memory_order_release);
    platform::wake_all(all_ended_);
  }
}

void blocking_pool::impl::join(thread_record* ended) noexcept {
  if (ended == nullptr) return;
  // It may have retired before its starter had the handle.
  while (!ended->has_thread.load(std::memory_order_acquire)) std::this_thread::yield();
  ended->thread.join();
  delete ended;
}

void blocking_pool::impl::stop() noexcept {
  // blocking_calls/last_access
  while (entering_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  bool any = false;
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
    any = threads_ != 0;
    while (youngest_idle_ != nullptr) wake_youngest();
  }
  while (any && all_ended_.load(std::memory_order_acquire) == 0) {
    platform::wait_on(all_ended_, 0);
  }
  thread_record* last = nullptr;
  {
    const std::lock_guard lock(lock_);
    last = std::exchange(retired_, nullptr);
  }
  join(last);
}

blocking_stats blocking_pool::impl::stats() const {
  detail::refuse_if_forked(owner_, "blocking_pool::stats");
  blocking_stats out;
  const std::lock_guard lock(lock_);
  out.threads = threads_;
  out.idle = idle_;
  out.peak = peak_;
  out.queued = queue_.size();
  out.run = run_.load(std::memory_order_relaxed);
  return out;
}

}  // namespace tandem::inline v0
