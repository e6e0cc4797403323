// completion_thread.hpp: the loop of one completion thread. Protocols I1-I8: io/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <tandem/detail/own_counter.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/timer.hpp>
#include <tandem/executor.hpp>
#include <tandem/io/completion_pool.hpp>
#include <thread>
#include <vector>

#include "backend.hpp"

namespace tandem::inline v0::io {

class completion_thread::impl final : public tandem::executor, public tandem::detail::timer_driver {
 public:
  impl(runtime& owner, completion_pool& pool, tandem::executor& pool_executor, unsigned index,
       const completion_options& options);
  ~impl() override;

  /// Starts the thread. @throws what the backend's set-up threw
  void start();
  /// pre: no task lives, so nothing is in flight.
  void stop() noexcept;

  // executor
  void post(job* item, post_kind kind) noexcept override;
  void post_batch(job_list items, post_kind kind) noexcept override;
  bool is_current() const noexcept override;
  tandem::runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return name_; }

  // timer_driver
  void wake() noexcept override;
  void drive_timers(bool on) noexcept { drives_timers_ = on; }

  /// Owner: hands an operation to the backend.
  void submit(detail::operation& operation) noexcept;
  void cancel(detail::operation& operation) noexcept;
  /// I5. The operation has ended: its task goes on here, or with the batch for its home.
  void finish(detail::operation& operation) noexcept;

  unsigned index() const noexcept { return index_; }
  completion_pool& pool() const noexcept { return pool_; }
  void add_stats(completion_pool_stats& out) const noexcept;

  static impl* current() noexcept;

 private:
  using own_counter = tandem::detail::own_counter;
  struct hand_over {
    tandem::executor* target;
    job_list items;
  };

  void run(const completion_options& options) noexcept;
  void loop() noexcept;
  void push_inbox(job* first, job* last) noexcept;
  bool take_inbox() noexcept;
  void run_local(tandem::detail::thread_context& context) noexcept;
  void route(tandem::detail::promise_base& waiting) noexcept;
  void flush_hand_overs() noexcept;
  void sleep() noexcept;
  void look() noexcept;
  static void operation_ended(void* self, detail::operation& ended) noexcept;

  tandem::runtime& owner_;
  completion_pool& pool_;
  tandem::executor& pool_executor_;
  const unsigned index_;
  const std::string name_;
  const completion_options options_;

  std::atomic<job*> inbox_{nullptr};  // newest first; pushed by anybody, taken whole by the owner
  std::atomic<bool> asleep_{false};   // I7
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> posting_{0};  // threads inside push_inbox; stop() waits for 0

  // Owner only.
  job_list local_;
  std::vector<hand_over> hand_overs_;
  bool drives_timers_ = false;
  std::unique_ptr<backend> backend_;

  own_counter submitted_;
  own_counter completed_;
  own_counter batches_;
  own_counter handed_over_;
  own_counter items_;
  std::atomic<std::uint64_t> wakes_{0};

  std::mutex set_up_;
  std::condition_variable set_up_done_;
  bool ready_ = false;                 // guarded by set_up_
  std::exception_ptr set_up_failure_;  // guarded by set_up_
  std::thread thread_;
};

}  // namespace tandem::inline v0::io
