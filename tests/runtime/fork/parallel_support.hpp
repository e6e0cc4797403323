// parallel_support.hpp: what the tests of the parallel algorithms share.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>
#include <tandem/runtime.hpp>
#include <thread>
#include <utility>

namespace tandem::test {

/// Thrown by bodies.
class broken_item : public std::runtime_error {
 public:
  explicit broken_item(std::int64_t at) : std::runtime_error("item"), item(at) {}
  std::int64_t item;
};

/// A number that counts how many of its kind are alive.
class counted_number {
 public:
  counted_number(long v = 0) : value(v) { ++alive; }  // NOLINT: converts on purpose
  counted_number(const counted_number& other) : value(other.value) { ++alive; }
  counted_number(counted_number&& other) noexcept : value(std::exchange(other.value, -1)) {
    ++alive;
  }
  counted_number& operator=(const counted_number&) = default;
  counted_number& operator=(counted_number&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~counted_number() { --alive; }

  friend bool operator==(const counted_number& a, const counted_number& b) {
    return a.value == b.value;
  }

  long value;
  static inline std::atomic<long> alive{0};
};

/// One thread that runs what is posted to it in order: a home that nobody steals from.
class lone_executor final : public executor {
 public:
  explicit lone_executor(tandem::runtime& owner) : owner_(owner), thread_([this] { work(); }) {}
  ~lone_executor() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void post(job* item, post_kind) noexcept override {
    // Notified under the lock: what was posted may end the test, and this object with it.
    const std::lock_guard lock(mutex_);
    items_.push_back(item);
    changed_.notify_one();
  }
  bool is_current() const noexcept override {
    return std::this_thread::get_id() == thread_.get_id();
  }
  tandem::runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return "lone"; }

 private:
  void work() {
    detail::thread_context& context = detail::this_thread();
    context.current_executor = this;
    while (job* item = next()) {
      context.env = item->env;
      context.budget = detail::await_budget;
      item->run(item);
      context.env = nullptr;
    }
    context.current_executor = nullptr;
  }
  job* next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ending_ || !items_.empty(); });
    return items_.pop_front();
  }

  tandem::runtime& owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  job_list items_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tandem::test
