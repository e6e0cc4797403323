// timer_service.cpp: shards of deadlines, and what becomes due in them.
// SPDX-License-Identifier: MIT
//
// Who drives them, and why no deadline is missed: timer_driving.hpp.
#include <tandem/detail/timer_service.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/thread_context.hpp>

#include "timers/timer_driving.hpp"
#include "timers/timer_wheel.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::int64_t never = INT64_MAX;

// timers/rest. About what getting up costs (two threads wake, one of them a worker), and what
// nobody notices.
constexpr std::int64_t rest_per_timer_ns = 4'000;
constexpr std::int64_t longest_rest_ns = 500'000;

std::int64_t to_ns(clock::time_point time) noexcept { return time.time_since_epoch().count(); }

}  // namespace

timer_driver::~timer_driver() = default;

void fired_timers::resume(promise_base& waiting) noexcept {
  if (waiting.home != home_) flush();
  home_ = waiting.home;
  waiting.note_queued();
  waiting_.push_back(&waiting);
}

void fired_timers::flush() noexcept {
  if (!waiting_.empty()) home_->post_batch(std::exchange(waiting_, job_list()));
}

struct alignas(64) timer_service::shard {
  futex_mutex lock;
  std::atomic<std::uint32_t> arming{0};  // timers/last_access: threads inside arm()
  // No deadline in the wheel is before it; never if the wheel is empty, but not the moment it gets
  // empty. Written under the lock, read by drivers.
  std::atomic<std::int64_t> earliest{never};
  // Guarded by lock.
  timer_wheel wheel;
  timer_stats counts;  // but for armed and wakes

  /// Under the lock.
  void refresh(bool exactly) noexcept;
};

void timer_service::shard::refresh(bool exactly) noexcept {
  const std::int64_t found = wheel.earliest(exactly);
  // Relaxed load: only written under the lock.
  if (found == earliest.load(std::memory_order_relaxed)) return;
  earliest.store(found, std::memory_order_seq_cst);  // timers/sleep
}

timer_service::timer_service(unsigned shards, bool is_virtual)
    : is_virtual_(is_virtual),
      shards_(std::make_unique<shard[]>(is_virtual ? 1U : std::max(1U, shards))),
      shard_count_(is_virtual ? 1U : std::max(1U, shards)),
      driving_(std::make_unique<timer_driving>(*this)),
      driven_(is_virtual) {
  for (unsigned i = 0; i < shard_count_; ++i) shards_[i].wheel.start_at(to_ns(now()));
}

timer_service::~timer_service() {
  // timers/last_access. Release: pairs with arm().
  for (unsigned i = 0; i < shard_count_; ++i) {
    while (shards_[i].arming.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }
  driving_->end();
}

void timer_service::advance_to(clock::time_point time) noexcept {
  TANDEM_ASSERT(is_virtual_, "only a virtual clock can be advanced");
  // Relaxed: one thread drives; release pairs with now().
  if (to_ns(time) <= virtual_ns_.load(std::memory_order_relaxed)) return;
  virtual_ns_.store(to_ns(time), std::memory_order_release);
}

clock::time_point timer_service::earliest() const noexcept {
  std::int64_t first = never;
  for (unsigned i = 0; i < shard_count_; ++i) {
    const std::lock_guard lock(shards_[i].lock);
    shards_[i].refresh(true);
    first = std::min(first, shards_[i].earliest.load(std::memory_order_relaxed));  // under the lock
  }
  return clock::time_point(clock::duration(first));
}

timer_stats timer_service::stats() const noexcept {
  timer_stats sum;
  for (unsigned i = 0; i < shard_count_; ++i) {
    const std::lock_guard lock(shards_[i].lock);
    const timer_stats& counts = shards_[i].counts;
    sum.started += counts.started;
    sum.fired += counts.fired;
    sum.stopped += counts.stopped;
    sum.lateness += counts.lateness;
  }
  sum.armed = static_cast<std::size_t>(sum.started - sum.fired - sum.stopped);
  sum.wakes = driving_->wakes();
  return sum;
}

std::int64_t timer_service::next_look() const noexcept {
  std::int64_t first = never;
  for (unsigned i = 0; i < shard_count_; ++i) {
    first = std::min(first, shards_[i].earliest.load(std::memory_order_seq_cst));  // timers/sleep
  }
  return first;
}

void timer_service::prepare(timer_node& node) const noexcept {
  const auto self =
      reinterpret_cast<std::uintptr_t>(&this_thread());  // NOLINT: a hash of the thread
  node.shard_ = static_cast<std::uint8_t>(((self >> 12) * 0x9E3779B1U >> 16) % shard_count_);
}

bool timer_service::arm(timer_node& node, clock::time_point deadline) noexcept {
  shard& home = shards_[node.shard_];
  std::int64_t at = to_ns(deadline);
  if (at == never) --at;
  {
    std::lock_guard lock(home.lock);
    if (node.state_ == timer_node::state::stopped) return false;  // timers/arm
    node.state_ = timer_node::state::armed;
    node.deadline_ns_ = at;
    home.wheel.insert(node);
    ++home.counts.started;
    // Relaxed load: only written under the lock. Not earlier: the driver comes in time, and the
    // unlock is the last access.
    if (at >= home.earliest.load(std::memory_order_relaxed)) return true;
    home.earliest.store(at, std::memory_order_seq_cst);  // timers/sleep
    // timers/last_access: published by the lock
    home.arming.fetch_add(1, std::memory_order_relaxed);
  }
  // From here on the node may have fired and be gone, and so may all that keeps the runtime alive.
  if (driving_->sleeps_beyond(at)) driving_->wake_driver();  // timers/sleep
  home.arming.fetch_sub(1, std::memory_order_release);       // timers/last_access: the last access
  return true;
}

bool timer_service::disarm(timer_node& node) noexcept {
  shard& home = shards_[node.shard_];
  std::lock_guard lock(home.lock);
  if (node.state_ == timer_node::state::armed) {
    home.wheel.remove(node);
    ++home.counts.stopped;
    node.state_ = timer_node::state::stopped;
    // `earliest` stays: at worst the driver looks once in vain, at the time for which the timer was
    // set, which is cheaper than looking for the next one now.
    return true;
  }
  if (node.state_ == timer_node::state::idle) node.state_ = timer_node::state::stopped;
  return false;
}

std::size_t timer_service::expire(clock::time_point now) noexcept {
  const std::int64_t limit = to_ns(now);
  std::size_t fired = 0;
  fired_timers batch;
  for (unsigned i = 0; i < shard_count_; ++i) {
    shard& home = shards_[i];
    // Relaxed: what is armed meanwhile is seen by sleep_begins().
    if (home.earliest.load(std::memory_order_relaxed) > limit) continue;
    for (bool done = false; !done;) {
      // A chunk at a time, so that a thousand due timers do not hold the lock against arming.
      std::array<timer_node*, 64> due;
      std::size_t count = 0;
      {
        std::lock_guard lock(home.lock);
        count = home.wheel.take_due(limit, due, done);
        for (std::size_t k = 0; k < count; ++k) {
          due[k]->state_ = timer_node::state::fired;
          home.counts.lateness += std::chrono::nanoseconds(limit - due[k]->deadline_ns_);
        }
        home.counts.fired += count;
        if (done) home.refresh(false);
      }
      // A time limit may run callbacks of a std::stop_token (stopping/listener): they must not wait
      // for this thread.
      bool& firing = this_thread().fires_timers;
      firing = true;
      for (std::size_t k = 0; k < count; ++k) due[k]->fire_(*due[k], batch);
      firing = false;
      batch.flush();
      fired += count;
    }
  }
  if (fired != 0 && !is_virtual_) {
    const auto rest = std::min<std::int64_t>(static_cast<std::int64_t>(fired) * rest_per_timer_ns,
                                             longest_rest_ns);
    driving_->rest_until(limit + rest);
  }
  return fired;
}

clock::time_point timer_service::sleep_begins(const timer_driver* who) noexcept {
  return driving_->sleep_begins(who);
}
void timer_service::sleep_ended(const timer_driver* who) noexcept { driving_->sleep_ended(who); }

void timer_service::set_driver(timer_driver* driver) noexcept { driving_->change(driver, false); }
void timer_service::drive_by(timer_driver* driver) noexcept { driving_->change(driver, true); }
bool timer_service::is_driven_for_good() const noexcept { return driving_->is_fixed(); }
bool timer_service::start_monitor() noexcept { return driving_->start_monitor(); }

void timer_service::throw_not_driven() {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "tandem: the system gives no thread for timers. Check the limits on "
                          "processes (ulimit -u, pids.max) and on memory");
}

}  // namespace tandem::inline v0::detail
