// timer_service.cpp: shards of deadlines, and the monitor thread that drives them without io.
// SPDX-License-Identifier: MIT
//
// Why no deadline is missed (T4): a driver that is about to sleep stores the time until which it will
// (seq_cst), then reads every shard's earliest again (seq_cst). Arming stores the shard's earliest
// (seq_cst), then reads the driver's time (seq_cst). So at least one of them sees the other: either
// the driver sleeps shorter, or the arming thread wakes it.
// Who is the driver may change (T6): that, and what a driver says about its sleep, is under one lock, so
// one that has been replaced cannot overwrite what its successor said.
#include <tandem/detail/timer.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/thread_context.hpp>

#include "platform.hpp"
#include "timer_heap.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::int64_t never = INT64_MAX;
constexpr std::int64_t awake = INT64_MIN;  // the driver will look before it sleeps

std::int64_t to_ns(clock::time_point time) noexcept { return time.time_since_epoch().count(); }

}  // namespace

timer_driver::~timer_driver() = default;

struct alignas(64) timer_service::shard {
  futex_mutex lock;
  timer_heap heap;  // guarded by lock
  // Deadline of heap.first(), never if empty. Written under the lock, read by drivers.
  std::atomic<std::int64_t> earliest{never};

  /// Under the lock. @returns whether the earliest moved forward
  bool refresh() noexcept;
};

struct timer_service::driver_slot {
  // Until when the driver sleeps; awake while it does not.
  alignas(64) std::atomic<std::int64_t> sleeps_until{awake};
  std::mutex change;               // guards driver against its wake
  timer_driver* driver = nullptr;  // null: the monitor
};

/// Drives expiry while no completion thread does. Made by the first timer; sleeps for good when
/// nothing is due.
class timer_service::monitor {
 public:
  explicit monitor(timer_service& timers) : timers_(timers) {}
  ~monitor() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    wake();
    thread_.join();
  }

  void wake() noexcept {
    std::call_once(started_, [this] {
      // Without a thread no timer of this runtime could fire: terminating, by noexcept, is honest.
      thread_ = platform::start_thread("tandem-monitor", [this] { loop(); });
    });
    signal_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in loop()
    platform::wake_one(signal_);
  }

 private:
  void loop() noexcept {
    while (true) {
      const std::uint32_t seen = signal_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_acquire)) return;
      if (is_replaced()) {
        platform::wait_on(signal_, seen);
        continue;
      }
      const std::int64_t until = to_ns(timers_.sleep_begins(nullptr));
      if (until > to_ns(timers_.now())) platform::wait_on(signal_, seen, until);
      timers_.sleep_ended(nullptr);
      if (!is_replaced()) timers_.expire(timers_.now());
    }
  }

  bool is_replaced() noexcept {
    std::lock_guard lock(timers_.driver_->change);
    return timers_.driver_->driver != nullptr;
  }

  timer_service& timers_;
  std::atomic<std::uint32_t> signal_{0};
  std::atomic<bool> stop_{false};
  std::once_flag started_;
  std::thread thread_;
};

bool timer_service::shard::refresh() noexcept {
  const timer_node* const first = heap.first();
  const std::int64_t now_earliest = first != nullptr ? first->deadline_ns_ : never;
  const std::int64_t before =
      earliest.load(std::memory_order_relaxed);  // only written under the lock
  if (now_earliest != before) earliest.store(now_earliest, std::memory_order_seq_cst);  // T4
  return now_earliest < before;
}

timer_service::timer_service(unsigned shards)
    : shards_(std::make_unique<shard[]>(std::max(1U, shards))),
      shard_count_(std::max(1U, shards)),
      monitor_(std::make_unique<monitor>(*this)),
      driver_(std::make_unique<driver_slot>()) {
  driver_->sleeps_until.store(never, std::memory_order_relaxed);  // nobody else can see it yet
}

timer_service::~timer_service() { monitor_.reset(); }

void timer_service::prepare(timer_node& node) const noexcept {
  const auto self =
      reinterpret_cast<std::uintptr_t>(&this_thread());  // NOLINT: a hash of the thread
  node.shard_ = static_cast<std::uint32_t>((self >> 12) * 0x9E3779B1U >> 16) % shard_count_;
}

bool timer_service::arm(timer_node& node, clock::time_point deadline) noexcept {
  shard& home = shards_[node.shard_];
  std::int64_t at = to_ns(deadline);
  if (at == never) --at;
  bool earlier = false;
  {
    std::lock_guard lock(home.lock);
    if (node.state_ == timer_node::state::stopped) return false;  // T2
    node.state_ = timer_node::state::armed;
    node.deadline_ns_ = at;
    home.heap.insert(node);
    earlier = home.refresh();
  }
  // From here on the node may have fired and be gone.
  if (earlier && at < driver_->sleeps_until.load(std::memory_order_seq_cst)) wake_driver();  // T4
  return true;
}

bool timer_service::disarm(timer_node& node) noexcept {
  shard& home = shards_[node.shard_];
  std::lock_guard lock(home.lock);
  if (node.state_ == timer_node::state::armed) {
    home.heap.remove(node);
    node.state_ = timer_node::state::stopped;
    home.refresh();
    return true;
  }
  if (node.state_ == timer_node::state::idle) node.state_ = timer_node::state::stopped;
  return false;
}

clock::time_point timer_service::sleep_begins(const timer_driver* who) noexcept {
  const std::lock_guard lock(driver_->change);  // T6
  if (driver_->driver != who) return clock::time_point::max();
  std::int64_t until = awake;
  while (true) {
    std::int64_t earliest = never;
    for (unsigned i = 0; i < shard_count_; ++i) {
      earliest = std::min(earliest, shards_[i].earliest.load(std::memory_order_seq_cst));  // T4
    }
    if (earliest == until) return clock::time_point(clock::duration(until));
    until = earliest;
    driver_->sleeps_until.store(until, std::memory_order_seq_cst);  // T4
  }
}

void timer_service::sleep_ended(const timer_driver* who) noexcept {
  const std::lock_guard lock(driver_->change);  // T6
  if (driver_->driver != who) return;
  // Relaxed: too early a "not asleep" costs nothing, the driver looks again before it sleeps.
  driver_->sleeps_until.store(awake, std::memory_order_relaxed);
}

std::size_t timer_service::expire(clock::time_point now) noexcept {
  const std::int64_t limit = to_ns(now);
  std::size_t fired = 0;
  for (unsigned i = 0; i < shard_count_; ++i) {
    shard& home = shards_[i];
    while (home.earliest.load(std::memory_order_relaxed) <= limit) {  // re-read under the lock
      // A chunk at a time, so that a thousand due timers do not hold the lock against arming.
      timer_node* due[32];
      std::size_t count = 0;
      {
        std::lock_guard lock(home.lock);
        while (count < std::size(due)) {
          timer_node* const first = home.heap.first();
          if (first == nullptr || first->deadline_ns_ > limit) break;
          home.heap.remove(*first);
          first->state_ = timer_node::state::fired;
          due[count++] = first;
        }
        home.refresh();
      }
      for (std::size_t k = 0; k < count; ++k) due[k]->fire_(*due[k]);
      fired += count;
    }
  }
  return fired;
}

void timer_service::set_driver(timer_driver* driver) noexcept {
  {
    const std::lock_guard lock(driver_->change);
    if (driver_->driver == driver) return;
    driver_->driver = driver;
    if (driver != nullptr) {
      // Awake: it computes its sleep when it gets there, and the wake makes it get there. The monitor
      // finds out when its sleep ends, and sleeps for good.
      driver_->sleeps_until.store(awake, std::memory_order_seq_cst);
      driver->wake();
      return;
    }
    // As if the monitor slept for ever, so that the next arm() wakes it (T4).
    driver_->sleeps_until.store(never, std::memory_order_seq_cst);
  }
  for (unsigned i = 0; i < shard_count_; ++i) {
    if (shards_[i].earliest.load(std::memory_order_seq_cst) != never) {
      monitor_->wake();
      return;
    }
  }
}

void timer_service::wake_driver() noexcept {
  std::lock_guard lock(driver_->change);
  if (driver_->driver != nullptr) {
    driver_->driver->wake();
  } else {
    monitor_->wake();
  }
}

}  // namespace tandem::inline v0::detail
