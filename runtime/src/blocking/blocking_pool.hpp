// blocking_pool.hpp: the queue of blocking calls and the threads that run them. Protocol blocking_calls.
// SPDX-License-Identifier: MIT
//
// One lock guards queue, idle list and counts: a call costs two thread hand-overs anyway, some
// microseconds, so nothing is won by more. Nothing is allocated under it, since on_stop takes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <tandem/blocking.hpp>

#include "blocking/blocking_queue.hpp"

namespace tandem::inline v0 {

class blocking_pool::impl {
 public:
  impl(tandem::runtime& owner, const blocking_options& options);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl();

  enum class admission : std::uint8_t { queued, stopped, full };

  /// blocking_calls/queue. If queued, the request may have ended, and be gone, on return.
  admission enqueue(detail::blocking_request& item) noexcept;
  /// blocking_calls/stop. From on_stop. @returns whether the request was taken out of the queue
  bool remove(detail::blocking_request& item) noexcept;
  /// For a look, which holds the request.
  void describe(const detail::blocking_request& item, detail::wait_note& note) noexcept;

  void stop() noexcept;
  blocking_stats stats() const;
  std::exception_ptr too_many() const noexcept;

 private:
  using request = detail::blocking_request;
  struct thread_record;

  void start_thread() noexcept;
  void loop(thread_record& self) noexcept;
  void run(request& item) noexcept;
  /// blocking_calls/idle. Under `lock`. @returns false if the thread has to end
  bool wait_for_work(thread_record& self, std::unique_lock<std::mutex>& lock) noexcept;
  void leave_idle(thread_record& self) noexcept;
  /// Under the lock. pre: there is one
  void wake_youngest() noexcept;
  void retire(thread_record& self, std::unique_lock<std::mutex>& lock) noexcept;
  static void join(thread_record* ended) noexcept;
  void fail_queued(const std::exception& reason) noexcept;

  tandem::runtime& owner_;
  const blocking_options options_;
  const std::string thread_prefix_;

  mutable std::mutex lock_;
  // All under lock_.
  detail::blocking_queue queue_;
  thread_record* youngest_idle_ = nullptr;
  thread_record* retired_ = nullptr;  // ended last, not joined yet
  unsigned threads_ = 0;
  unsigned idle_ = 0;
  unsigned woken_ = 0;     // taken off the idle list, and have not looked yet
  unsigned starting_ = 0;  // counted in threads_, and have not looked yet
  unsigned peak_ = 0;
  unsigned serial_ = 0;
  bool stopping_ = false;

  std::atomic<std::uint64_t> run_{0};
  std::atomic<std::uint32_t> all_ended_{0};  // 1: stop() may join the last thread
  // blocking_calls/last_access: threads that are inside enqueue(): what they queue may end the
  // runtime before they have left.
  std::atomic<std::uint32_t> entering_{0};
};

}  // namespace tandem::inline v0
