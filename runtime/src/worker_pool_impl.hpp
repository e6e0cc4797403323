// worker_pool_impl.hpp: the machinery of the worker pool. Protocols P1-P7: runtime/README.md.
// SPDX-License-Identifier: MIT
//
// state_ packs two counts: searching workers in the low half, idle ones (parked, or never started) in
// the high half. The idle stack begins full of workers that have no thread yet: the first wake of
// each starts it, so a pool has no thread before its first item and starts one per item.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tandem/detail/gathering.hpp>
#include <tandem/detail/injection_queue.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/worker_pool.hpp>

#include "driven_loop.hpp"
#include "worker.hpp"

namespace tandem::inline v0 {

class worker_pool::impl {
 public:
  /// @param loop  null: the workers have threads; else they are logical ones that it drives
  impl(worker_pool& pool, tandem::runtime& owner, std::string name, unsigned threads,
       detail::driven_loop* loop);
  ~impl();

  void post(job* item, post_kind kind) noexcept;
  void post_batch(job_list items, post_kind kind) noexcept;
  bool is_current() const noexcept;
  void stop() noexcept;
  worker_pool_stats stats() const noexcept;
  std::string describe() const;
  /// P5. Wakes (or starts) one idle worker unless somebody searches already.
  void wake_one() noexcept;
  /// L6, F6. @returns whether the joining worker has to serve another lane first
  bool look_after_lane(detail::worker& self, bool joining) noexcept;

  bool anything_queued() const noexcept;

  /// Whether each worker has a thread, which runs or looks for work.
  bool all_awake() const noexcept {
    return loop_ == nullptr && idle_of(state_.load(std::memory_order_seq_cst)) == 0;  // K1
  }
  detail::gathering_slot& gathered_by() noexcept { return gathered_by_; }

  // Without threads, by the thread that drives.
  /// Runs up to so many items as the only worker. @returns how many
  std::size_t run_some(std::size_t most_items) noexcept;
  /// V4. Runs one item; the number decides which worker takes it, and from where. @returns false if
  /// there is none
  bool step(std::uint64_t random) noexcept;

  tandem::runtime& owner() const noexcept { return owner_; }
  const std::string& name() const noexcept { return name_; }
  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

 private:
  using worker = detail::worker;

  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_idle = std::uint64_t{1} << 32;
  static constexpr std::uint64_t searching_of(std::uint64_t state) { return state & 0xFFFFFFFFU; }
  static constexpr std::uint64_t idle_of(std::uint64_t state) { return state >> 32; }

  worker* own_worker() const noexcept;
  void post_local(worker& self, job* item, post_kind kind) noexcept;
  void push_fifo(worker& self, job* item) noexcept;
  void ask_attention() noexcept;

  void start(worker& fresh) noexcept;
  void run(worker& self) noexcept;
  void execute(worker& self, detail::thread_context& context, job* item,
               std::uint32_t budget = detail::await_budget) noexcept;
  job* next_local(worker& self) noexcept;
  job* from_other_lanes(worker& self) noexcept;
  job* old_end(worker& self) noexcept;
  job* search(worker& self) noexcept;
  job* steal_round(worker& self) noexcept;
  void note_progress(worker& self) noexcept;
  job* steal_stuck_next(worker& self) noexcept;
  bool begin_search() noexcept;
  void end_search() noexcept;
  /// P2-P4. @returns false if the pool is stopping
  bool park(worker& self, bool searching) noexcept;
  job* choose(worker& self, std::uint64_t random) noexcept;
  job* take_one_of(worker& self, std::uint64_t random) noexcept;
  job* injected_one_of(std::uint64_t random) noexcept;
  job* steal_from_one(worker& self, std::uint64_t random) noexcept;

  worker_pool& pool_;
  tandem::runtime& owner_;
  const std::string name_;
  const bool may_spin_;
  detail::driven_loop* const loop_;
  std::vector<std::unique_ptr<worker>> workers_;
  detail::injection_queue injection_;
  alignas(64) std::atomic<std::uint64_t> state_;
  alignas(64) mutable std::mutex idle_lock_;
  std::vector<worker*> idle_stack_;  // guarded by idle_lock_; the last one is woken first
  bool stopping_ = false;            // guarded by idle_lock_
  detail::gathering_slot gathered_by_;
  std::atomic<unsigned> threads_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> injected_{0};
  // Threads that are not ours and are inside a post: what they posted may end the runtime before they
  // have left (P8). stop() waits for 0.
  std::atomic<std::uint32_t> posting_{0};
};

}  // namespace tandem::inline v0
