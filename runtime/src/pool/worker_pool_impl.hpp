// worker_pool_impl.hpp: the machinery of the worker pool. Protocols parking, crew, submissions, changes: runtime/src/pool/README.md.
// SPDX-License-Identifier: MIT
//
// state_ packs two counts: searching workers in the low half; in the high half the room, which says
// how many more workers may be busy: target - busy, below zero while too many are. Busy is who runs
// or searches. A wake takes the youngest of the idle stack, or else starts a thread: so a pool has
// none before its first item.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tandem/detail/decision_log.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/gathering.hpp>
#include <tandem/detail/injection_lane.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/worker_pool.hpp>

#include "pool/pool_life.hpp"
#include "pool/short_text.hpp"
#include "pool/worker.hpp"
#include "pool/worker_set.hpp"
#include "runtime/driven_loop.hpp"
#include "sizing/pool_control.hpp"
#include "submit/submission_queue.hpp"

namespace tandem::inline v0 {

class worker_pool::impl {
 public:
  /// @param options  checked
  /// @param loop     null: the workers have threads; else they are logical ones that it drives
  impl(worker_pool& pool, tandem::runtime& owner, const pool_options& options,
       detail::driven_loop* loop);
  ~impl();

  void post(job* item, post_kind kind) noexcept;
  void post_batch(job_list items, post_kind kind) noexcept;
  bool is_current() const noexcept;
  void stop() noexcept;
  worker_pool_stats stats() const noexcept;
  std::string describe() const;
  /// parking/wake. Wakes (or starts) one idle worker unless somebody searches already.
  void wake_one() noexcept;
  /// fork_lane/expose, joins/give_way. @returns whether the joining worker has to serve another
  /// lane first
  bool look_after_lane(detail::worker& self, bool joining) noexcept;

  bool anything_queued() const noexcept;

  /// Whether as many workers as may be busy run or look for work.
  bool all_awake() const noexcept {
    // gathering/enter
    return loop_ == nullptr && room_of(state_.load(std::memory_order_seq_cst)) <= 0;
  }

  // What the control sees and does.
  /// crew/goal. So many more (or less) workers may be busy from now on.
  void change_target(int by) noexcept;
  int busy() const noexcept;
  /// How many workers may be busy.
  unsigned goal() const noexcept;
  unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  /// Jobs that workers have taken, by all of them.
  std::uint64_t items_taken() const noexcept;
  /// Spawned tasks that have ended on them.
  std::uint64_t tasks_ended() const noexcept;
  std::size_t queued() const noexcept;
  const detail::worker_set& workers() const noexcept { return workers_; }
  /// Null: a fixed pool that nobody has changed. seq_cst: a wake is counted before (crew/timers),
  /// and changes/control may make one.
  detail::pool_control* control() const noexcept {
    return control_.load(std::memory_order_seq_cst);
  }
  /// Any thread: for decisions().
  void note(pool_action action, decision_reason reason, unsigned old_goal, unsigned goal,
            double throughput, double cpu) noexcept {
    const auto since = std::chrono::steady_clock::now() - born_;
    log_.add(pool_decision(since, action, reason, old_goal, goal, threads(), throughput, cpu));
  }
  std::vector<pool_decision> decisions() const { return log_.copy(); }
  decision_counts decided() const noexcept { return log_.counts(); }
  /// crew/region. The calling thread's worker is about to block: what it holds is for others.
  void expose(detail::worker& self) noexcept;
  detail::gathering_slot& gathered_by() noexcept { return gathered_by_; }

  // Submissions (submission.cpp, saturation.cpp).
  using admission = detail::submission_queue::answer;
  /// parking/visit. Somebody who is no worker of this pool is inside a call that may hand something
  /// over.
  class visit {
   public:
    explicit visit(impl& pool) noexcept;
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit();

   private:
    impl* const pool_;  // null: one of its workers
  };
  /// What a visit does; by nobody else's worker.
  void enter() noexcept;
  void leave() noexcept;
  void submit(detail::joinable_root& block, int priority);
  /// submissions/read_state, submissions/order. The block is launched, unposted.
  admission try_admit(detail::joinable_root& block, int priority);
  /// submissions/wait. @returns whether `waiter` waits now
  bool enter_or_wait(detail::submit_waiter& waiter) noexcept;
  /// submissions/leave. A removed submission leaves its place. @returns false if it has none any
  /// more: a worker has it
  bool leave_queue(detail::joinable_root& block) noexcept;
  rejection rejection_of(rejection_cause cause, const std::source_location& where,
                         int priority) const;
  detail::submission_queue& submissions() noexcept { return submissions_; }
  bool prestart_core_thread() noexcept;

  // Changes (reconfigure.cpp).
  void reconfigure(const pool_change& change);
  std::shared_ptr<const pool_options> settings() const noexcept;

  // The end (pool_life.cpp).
  pool_state state() const noexcept { return life_.state(); }
  void shutdown() noexcept;
  std::vector<unstarted_task> shutdown_now();
  bool await_termination(std::chrono::steady_clock::duration timeout);
  /// The runtime ends: as shutdown_now(), but the workers stay until stop().
  void close_for_runtime() noexcept;
  /// submissions/end. After a task's end, once the pool is shut down.
  void end_if_drained() noexcept;
  /// submissions/reopen. No task lives; before the services stop.
  void reopen() noexcept;

  // Without threads, by the thread that drives.
  /// Runs up to so many items as the only worker. @returns how many
  std::size_t run_some(std::size_t most_items) noexcept;
  /// driving/choose. Runs one item; the number decides which worker takes it, and from where.
  /// @returns false if there is none
  bool step(std::uint64_t random) noexcept;

  tandem::runtime& owner() const noexcept { return owner_; }
  const std::string& name() const noexcept { return name_; }
  unsigned size() const noexcept { return min_threads_.load(std::memory_order_relaxed); }

 private:
  using worker = detail::worker;

  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_room = std::uint64_t{1} << 32;
  static constexpr std::uint64_t searching_of(std::uint64_t state) { return state & 0xFFFFFFFFU; }
  static constexpr int room_of(std::uint64_t state) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(state >> 32));
  }

  worker* own_worker() const noexcept;
  void post_local(worker& self, job* item, post_kind kind) noexcept;
  void push_fifo(worker& self, job* item) noexcept;
  void ask_attention() noexcept;
  /// inbox/take. With an item, if its lane is empty, some of those behind it come along.
  job* take_injected(worker& self) noexcept;
  void choose_lot(worker& self) noexcept;
  /// parking/post, parking/wake, parking/visit. The chain, by `next`, from the newest to the
  /// oldest.
  void inject(job* newest, job* oldest) noexcept;
  bool injected_waits() const noexcept { return !injection_.empty() || !submissions_.empty(); }

  /// @param alone  nothing else was there: whoever is in a long recursion has to hear of it, too
  void announce_submission(bool alone) noexcept;
  /// submissions/order. To a parked worker, or to a new thread. @returns false if there is none
  bool give_by_hand(job& item, growth_order order) noexcept;
  /// submissions/order. Makes a place. @returns false if nobody is parked
  bool hand_oldest_to_idle() noexcept;
  /// Off the idle stack, and counted as busy: to be handed something, and roused. Null: nobody is
  /// parked, or may work
  worker* take_idle() noexcept;
  job* take_submission(worker& self) noexcept;
  /// Starts a thread for the item. @returns false if there are `limit` or no room
  bool start_for(job& item, unsigned limit) noexcept;
  void take_handed(worker& self) noexcept;
  void saturate(detail::joinable_root& block, int priority, admission answer);
  /// @returns  why this thread is no place for it; none: it has run
  policy_obstacle run_here(detail::joinable_root& block) noexcept;
  void displace_oldest(detail::joinable_root& block, int priority);
  void close(pool_state to) noexcept;
  void drop_unstarted() noexcept;
  enum class door : std::uint8_t { of_the_pool, for_good };
  /// submissions/end. Nobody starts any more, and whoever finds nothing leaves.
  void begin_stop(door closed) noexcept;
  void terminate() noexcept;

  /// The worker was taken off the idle stack, and counted.
  void rouse(worker& chosen) noexcept;
  growth_order growth() const noexcept { return growth_.load(std::memory_order_relaxed); }
  unsigned threads_without_asking() const noexcept {
    return growth() == growth_order::queue_first ? size() : workers_.most();
  }
  /// changes/limits. Under idle_lock_. @returns how much more (or less) room threads above the core
  /// bring now
  int set_limits(const pool_options& options) noexcept;
  void tell_sleepers() noexcept;
  void start_for_waiters() noexcept;
  /// Under idle_lock_. @param first what it begins with, or null
  /// @returns  false if there are `limit`, or no thread is to be had
  bool start_thread(unsigned limit, job* first) noexcept;
  bool start(worker& fresh, bool for_full_queue, detail::short_text& reason) noexcept;
  void note_start(bool for_full_queue) noexcept;
  void start_by(worker& fresh, const thread_options::factory_function& factory,
                const std::string& thread_name);
  /// The life of a worker's thread.
  void live(worker& self) noexcept;
  /// The thread's last doings; it may be the pool's last one (submissions/end).
  void say_goodbye(worker& self) noexcept;
  /// submissions/end. Under idle_lock_, stopping. @returns false: it has been counted out
  bool has_to_stay(worker& self) noexcept;
  bool count_out() noexcept;
  void report_no_thread(const char* reason, bool at_once) noexcept;
  /// For stop(): takes the thread, which is under idle_lock_, and waits for its end.
  void join_if_there(std::thread& thread);
  /// parking/start_hook. The worker is about to run its start hook.
  void begin_hook(worker& self) noexcept;
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
  void end_search(worker& self) noexcept;
  /// parking. @returns false if the thread is to end
  bool park(worker& self) noexcept;
  /// crew/step_back. Parks if too many are busy. @returns false if the thread is to end
  bool step_back(worker& self) noexcept;
  bool rest(worker& self) noexcept;
  /// crew/retire, changes/look_again. Until when a worker that parked then may stay.
  std::int64_t rest_until(std::chrono::steady_clock::time_point since) const noexcept;
  /// crew/retire. Dismisses who has been idle longest. @returns false if there are no more threads
  /// than stay
  bool retire_one() noexcept;
  void leave(worker& self) noexcept;
  void hand_over_lanes(worker& self) noexcept;
  job* choose(worker& self, std::uint64_t random) noexcept;
  job* take_one_of(worker& self, std::uint64_t random) noexcept;
  job* injected_one_of(std::uint64_t random) noexcept;
  job* steal_from_one(worker& self, std::uint64_t random) noexcept;

  worker_pool& pool_;
  tandem::runtime& owner_;
  const std::string name_;
  const bool may_spin_;
  detail::driven_loop* const loop_;
  // changes/limits: written by reconfigure() under idle_lock_; read relaxed, which is a look: under
  // the lock it counts.
  std::atomic<unsigned> min_threads_;
  std::atomic<unsigned> stay_;  // so many threads do not end when they are idle
  std::atomic<growth_order> growth_;
  std::atomic<std::chrono::steady_clock::duration> keep_alive_;
  std::atomic<saturation_policy> policy_;
  const std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  detail::decision_log log_;
  detail::worker_set workers_;
  mutable detail::injection_lane injection_;  // statistics gather it, too
  detail::submission_queue submissions_;
  alignas(64) std::atomic<std::uint64_t> state_;
  std::atomic<int> target_;  // what the room is counted from; changed with it (crew/goal)
  alignas(64) mutable std::mutex idle_lock_;
  std::vector<worker*> idle_stack_;  // guarded by idle_lock_; the last one is woken first
  unsigned brought_ =
      0;  // guarded by idle_lock_; room that threads above the core bring (submissions/order)
  unsigned present_ = 0;   // guarded by idle_lock_; threads, also those on their way out
  std::thread last_left_;  // guarded by idle_lock_; joined by the next one that leaves
  bool stopping_ = false;  // guarded by idle_lock_
  std::chrono::steady_clock::time_point next_report_{};   // guarded by idle_lock_
  std::chrono::steady_clock::time_point next_attempt_{};  // guarded by idle_lock_
  std::mutex configuring_;  // one reconfigure() at a time; taken before all others
  bool ended_ = false;      // guarded by configuring_
  mutable detail::futex_mutex settings_lock_;     // taken after all others
  std::shared_ptr<const pool_options> settings_;  // guarded by settings_lock_
  std::unique_ptr<detail::pool_control>
      own_control_;  // made once: by set-up, or under configuring_
  std::atomic<detail::pool_control*> control_;
  detail::gathering_slot gathered_by_;
  std::atomic<unsigned> threads_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::array<std::atomic<std::uint64_t>, decision_reason_count> injections_{};
  std::atomic<std::uint64_t> retirements_{0};
  std::atomic<unsigned> starting_{0};  // threads in start hooks that came for what is queued
  detail::pool_life life_;
  std::atomic<bool> runtime_ends_{false};  // then stop() ends the workers, and nobody else
  // Threads that are not ours and are inside a post: what they posted may end the runtime before
  // they have left (parking/visit). stop() waits for 0.
  alignas(64) std::atomic<std::uint32_t> posting_{0};
  std::atomic<std::uint64_t> rejections_{0};  // written by those, too
};

}  // namespace tandem::inline v0
