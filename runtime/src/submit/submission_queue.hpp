// submission_queue.hpp: submissions that wait for a worker, and tasks that wait to submit. submissions.
// SPDX-License-Identifier: MIT
//
// Its parts: the side where items enter (submission_inbox), the order in which they are taken
// (item_order), those that have left (left_items), those that wait for a place (waiter_line).
//
// Locks: a stopper comes with stop locks held and takes the queue's; nobody who holds the queue's
// lock takes another one, ends a wait, or drops a task. A place that becomes free goes to the
// oldest waiter's task at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/submit_waiter.hpp>
#include <tandem/job.hpp>
#include <tandem/submission_options.hpp>

#include "submit/item_order.hpp"
#include "submit/left_items.hpp"
#include "submit/submission_inbox.hpp"
#include "submit/waiter_line.hpp"

namespace tandem::inline v0::detail {

class submission_queue {
 public:
  enum class answer : std::uint8_t { entered, full, closed };

  explicit submission_queue(const submission_options& options)
      : kind_(options.queue),
        capacity_(capacity_of(options)),
        inbox_(capacity_),
        order_(options.queue) {}
  submission_queue(const submission_queue&) = delete;
  submission_queue& operator=(const submission_queue&) = delete;
  ~submission_queue();

  queue_kind kind() const noexcept { return kind_; }
  bool is_bounded() const noexcept { return capacity_ != submission_options::unlimited; }
  bool has_places() const noexcept { return capacity_ != 0; }

  /// submissions/take_place, submissions/push. Full also while somebody waits.
  /// @param alone  it is all that there is: tell everybody
  /// @throws  std::bad_alloc (priority queues)
  answer offer(joinable_root& item, int priority, bool& alone);
  /// submissions/discard_oldest. As offer(), but drops the oldest for it.
  /// @param dropped  null, or whoever lost the place: to be dropped
  answer displace(joinable_root& item, int priority, joinable_root*& dropped);
  /// submissions/wait. @returns whether `waiter` waits now: then it may be gone already. Else its
  /// state says why
  bool enter_or_wait(submit_waiter& waiter) noexcept;
  /// submissions/wait, from on_stop. @returns whether the waiter was taken out, or will not enter
  bool stop_waiting(submit_waiter& waiter) noexcept;

  /// submissions/take. What is next; the oldest waiter gets its place. Also for a pool's workers
  /// that find nothing: one load.
  job* pop() noexcept {
    return available_.load(std::memory_order_relaxed) == 0 && empty() ? nullptr : pop_available();
  }
  /// After pop(): whether it has left some that nobody's attention was asked for.
  /// submissions/tell.
  bool has_more() const noexcept { return available_.load(std::memory_order_relaxed) != 0; }
  /// submissions/leave. A removed item that may be in here leaves its place, and the oldest waiter
  /// gets that.
  enum class leaving : std::uint8_t { not_here, left, passed_on };
  leaving leave(joinable_root& item) noexcept;
  /// submissions/close. From now on nothing enters; those that wait are refused.
  void close() noexcept;
  /// What is next, without a place for anybody: the queue is closed.
  joinable_root* take_unstarted() noexcept;

  /// Whether a worker would find nothing.
  bool empty() const noexcept {
    // seq_cst: a sleeper's scan (parking/announce). In this order: submissions/gather.
    return inbox_.empty() && available_.load(std::memory_order_seq_cst) == 0;
  }
  /// At about one moment.
  std::size_t size() const noexcept { return inbox_.size(); }
  std::size_t waiting() const noexcept { return line_.size(); }

 private:
  static std::size_t capacity_of(const submission_options& options) noexcept {
    switch (options.queue) {
      case queue_kind::unbounded: return submission_options::unlimited;
      case queue_kind::rendezvous: return 0;
      default: return options.capacity;
    }
  }

  job* pop_available() noexcept;
  // Under the lock.
  /// It has a place, and there is room.
  void append(joinable_root& item, int priority);
  void gather() noexcept;
  joinable_root* take() noexcept;
  /// The oldest waiter is out of the line, its task to enter or to be handed over. @returns that
  /// waiter, for finish()
  submit_waiter& grant() noexcept;
  /// submissions/sweep. If more have left than are there. Cold.
  void sweep_if_due() noexcept;
  void sweep() noexcept;
  void publish() noexcept;

  const queue_kind kind_;
  const std::size_t capacity_;
  submission_inbox inbox_;
  alignas(64) futex_mutex lock_;  // guards all below; the atomics are written under it
  bool closed_ = false;
  item_order order_;
  waiter_line line_;
  left_items left_;
  alignas(64) std::atomic<std::size_t> available_{0};  // what pop() would find
};

}  // namespace tandem::inline v0::detail
