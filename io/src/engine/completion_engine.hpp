// completion_engine.hpp: an OS thread with a backend; it runs what lives on its completion threads.
// SPDX-License-Identifier: MIT
//
// A completion_thread is a place where tasks and sockets live; an engine is what makes it go.
// Usually engine i hosts thread i and nothing else. When it retires its guests move on
// (migration.cpp, moving), and nobody else notices: addresses, executors and sockets stay what they
// are. Protocols: README.md beside this.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <source_location>
#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/gathering.hpp>
#include <tandem/detail/own_counter.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/executor.hpp>
#include <thread>
#include <vector>

#include "engine/completion_thread.hpp"
#include "engine/moves.hpp"
#include "operation/backend.hpp"

namespace tandem::inline v0::io {

namespace detail {
class receiver;
}
class stealable_executor;

class completion_engine final : public tandem::detail::timer_driver {
 public:
  using host = completion_thread::impl;

  /// @param most  how many threads it may have to host
  completion_engine(runtime& owner, stealable_executor& shared, moves& moved, unsigned index,
                    unsigned most, const completion_options& options);
  ~completion_engine() override;

  /// pre: not running. @throws what the backend's set-up threw
  void start();
  /// pre: no task lives, so nothing is in flight.
  void stop() noexcept;
  /// Waits for the end of the thread, if it has been told to leave or to stop.
  void join() noexcept;

  bool is_current() const noexcept { return current() == this; }
  static completion_engine* current() noexcept;
  unsigned index() const noexcept { return index_; }
  stealable_executor& shared() const noexcept { return shared_; }
  /// Of its last start; stays when it has ended. pre: started
  std::string_view backend_name() const noexcept { return backend_name_; }
  // Before start().
  void drive_timers(bool on) noexcept { drives_timers_ = on; }
  bool drives_timers() const noexcept { return drives_timers_; }
  void choose_backend(io_backend kind) noexcept { options_.backend = kind; }

  // Any thread.
  bool takes_files() const noexcept {
    return takes_files_.load(std::memory_order_relaxed);  // published by start(); of all the same
  }
  void wake() noexcept override;
  /// ring_sleep/gather. As wake(), for what may wait while it gathers.
  void wake_for_request() noexcept;
  /// stealable/call. @returns whether it slept, and is now awake to look for work
  bool wake_to_search() noexcept;
  /// ring_sleep/announce
  bool asleep() const noexcept { return asleep_.load(std::memory_order_seq_cst); }
  /// False as soon as start() would not have to wait for its end.
  bool is_running() const noexcept {
    return running_.load(std::memory_order_acquire);  // pairs with the end of run()
  }
  /// Sleeps, or has no thread.
  bool idle() const noexcept { return asleep() || !running_.load(std::memory_order_relaxed); }
  /// stealable/take: what others may steal.
  tandem::detail::fifo_lane& lane() noexcept { return lane_; }
  void add_stats(completion_pool_stats& out) const noexcept;

  // stalls/count, for the stall watch: the segments begun and ended, odd while one runs, and what
  // runs.
  std::uint64_t segments() const noexcept { return segments_.load(std::memory_order_acquire); }
  std::source_location running_at() const noexcept {
    return running_at_.load(std::memory_order_relaxed);
  }
  /// That its thread has used; 0 when it has ended.
  std::chrono::nanoseconds cpu_time() const noexcept;
  int os_thread() const noexcept {
    return os_thread_.load(std::memory_order_relaxed);  // published by start()
  }

  // The owner.
  /// @returns  whether the operation is pending
  bool submit(detail::operation& operation) noexcept;
  void cancel(detail::operation& operation) noexcept { backend_->cancel(operation); }
  /// operations/complete. Its operation has ended: it goes on here, or with the batch for its home.
  /// It holds the clock.
  void route(tandem::detail::promise_base& waiting) noexcept;
  /// Where others may take it. It holds the clock.
  void publish(job* item) noexcept;
  /// stealable/take. The oldest of `count` that were taken; the others are in the lane. pre: has no
  /// jobs
  void take_stolen(job* first, std::uint32_t count) noexcept {
    first_ = first;
    stolen_.add(count);
  }
  /// moving/cancel. After a move everything may be cancelled that nobody wanted to stop.
  bool has_swept() const noexcept { return has_swept_; }

  detail::receive_buffers& buffers() noexcept { return *buffers_; }
  void provide_buffer(std::uint32_t index) noexcept;
  void buffer_taken() noexcept;
  bool arm(multishot_source& target) noexcept { return backend_->arm(target); }
  void disarm(multishot_source& target) noexcept { backend_->disarm(target); }
  /// receiving/hold_back. It is told to go on when there is a buffer.
  void starves(detail::receiver& target) noexcept;
  /// It does not want to be told any more.
  void stops_starving(detail::receiver& target) noexcept;

 private:
  friend class moves;
  using own_counter = tandem::detail::own_counter;
  struct hand_over {
    tandem::executor* target = nullptr;
    job_list items;
  };
  static constexpr std::size_t homes_at_once = 8;

  void run() noexcept;
  void set_up();
  void loop() noexcept;
  bool is_done() noexcept;
  bool has_jobs() noexcept;
  void take_inboxes() noexcept;
  void take_shared() noexcept;
  void run_jobs(tandem::detail::thread_context& context) noexcept;
  void run_job(tandem::detail::thread_context& context, job* item, tandem::executor& as) noexcept;
  void hand_over_later(tandem::detail::promise_base& waiting) noexcept;
  void flush_hand_overs() noexcept;
  void post_hand_overs() noexcept;
  void sleep() noexcept;
  /// @returns  until when it may, as far as the memory of frames goes
  std::chrono::steady_clock::time_point lie_down() noexcept;
  void get_up() noexcept;
  bool may_gather() noexcept;
  /// @returns  whether it slept
  bool end_sleep(bool to_search) noexcept;
  void end_wait() noexcept;
  void look() noexcept;
  void feed_receivers() noexcept;
  /// Whether feed_receivers() would find a buffer for somebody.
  bool can_feed() const noexcept;
  // moving: migration.cpp.
  void handle_requests() noexcept;
  void begin_move(host& guest) noexcept;
  void continue_moves() noexcept;
  void take_from_starving(host& guest) noexcept;
  bool leave() noexcept;
  static void operation_ended(void* self, detail::operation& ended) noexcept;

  tandem::runtime& owner_;
  stealable_executor& shared_;
  moves& moves_;
  const unsigned index_;
  const std::string name_;
  completion_options options_;
  const bool workers_fill_cpus_;  // ring_sleep/gather

  std::atomic<bool> asleep_{false};   // ring_sleep/announce
  std::atomic<bool> gathers_{false};  // ring_sleep/gather: when asleep_, how
  std::atomic<bool> takes_files_{false};
  std::atomic<bool> running_{false};  // a hint
  std::atomic<bool> stopping_{false};
  // stealable/call: woken to look for work, and has not looked yet
  std::atomic<bool> searching_{false};
  std::atomic<std::uint32_t> waking_{0};  // threads between asleep_ and the backend's wake
  std::atomic<bool> requested_{false};    // moving/ask: there are requests
  host* requests_ = nullptr;              // guarded by moves_
  bool leaving_ = false;                  // guarded by moves_
  std::atomic<int> cpu_clock_{0};
  std::atomic<int> os_thread_{0};
  std::atomic<std::uint64_t> segments_{0};  // stalls/count
  std::atomic<std::source_location> running_at_{std::source_location()};

  // Owner only.
  std::vector<host*> hosted_;
  job* first_ = nullptr;  // stealable/take: runs before the lane
  bool any_moving_ = false;
  bool has_swept_ = false;
  tandem::detail::frame_idle spell_;
  std::uint64_t lay_down_at_ = 0;  // how many segments it had run when that spell began
  std::size_t brought_ = 0;        // ring_sleep/gather: to the workers since it slept
  bool stayed_ = false;            // ring_sleep/gather: something was for its own threads
  tandem::detail::gathering gathering_;
  job_list reaped_;  // stealable/publish: to be published
  // operations/complete. Nothing is allocated for a batch: what is of further homes has its turn
  // after the others.
  std::array<hand_over, homes_at_once> hand_overs_;
  std::size_t hand_over_count_ = 0;
  job_list of_further_homes_;
  bool drives_timers_ = false;
  std::unique_ptr<backend> backend_;
  std::string_view backend_name_;               // a literal
  detail::receive_buffers* buffers_ = nullptr;  // set before anybody else sees the thread
  std::uint32_t free_buffers_ = 0;              // with the backend
  std::uint32_t spare_buffers_ = UINT32_MAX;    // a chain of those it has no room for
  std::uint32_t spare_count_ = 0;
  detail::receiver* starving_ = nullptr;

  own_counter submitted_;
  own_counter completed_;
  own_counter batches_;
  own_counter reaped_count_;
  std::array<own_counter, std::tuple_size_v<decltype(completion_pool_stats::batch_sizes)>>
      batch_sizes_;
  own_counter handed_over_;
  own_counter items_;
  own_counter stolen_;
  std::atomic<std::uint64_t> wakes_{0};

  std::mutex set_up_;
  std::condition_variable set_up_done_;
  bool ready_ = false;                 // guarded by set_up_
  std::exception_ptr set_up_failure_;  // guarded by set_up_
  std::thread thread_;
  alignas(64) tandem::detail::fifo_lane lane_;  // stealable/publish
};

}  // namespace tandem::inline v0::io
