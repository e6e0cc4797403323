// completion_thread.hpp: a place where tasks and sockets live, one after the other.
// SPDX-License-Identifier: MIT
//
// Inbox and local queue of what is confined to it. An engine (completion_engine.hpp) makes it go,
// mostly the same one for life. "Owner" is whoever runs on that engine. Protocols: README.md beside
// this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tandem/detail/posted_jobs.hpp>
#include <tandem/executor.hpp>
#include <tandem/io/completion_pool.hpp>

#include "backend/backend.hpp"
#include "engine/source_list.hpp"
#include "ready/held_queue.hpp"

namespace tandem::inline v0 {
namespace detail {
class promise_base;
}  // namespace detail

namespace io {

class completion_engine;
class direct_port;
class guests;
class moves;
class thread_loads;

class completion_thread::impl final : public tandem::executor {
 public:
  impl(runtime& owner, completion_pool& pool, unsigned index, completion_engine& engine,
       std::shared_ptr<thread_loads> loads);
  ~impl() override;

  // executor
  void post(job* item, post_kind kind) noexcept override;
  void post_batch(job_list items, post_kind kind) noexcept override;
  /// Also while the engine runs another of its guests: nothing else of this one runs at that time.
  bool is_current() const noexcept override;
  tandem::runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return name_; }

  /// ring_sleep/gather. The start of an operation, or of what comes without being asked: it may
  /// wait a little.
  void post_request(job* item) noexcept;
  /// ring_sleep/clock. A stop request has resumed the task of an operation.
  void resumed_elsewhere() noexcept;
  unsigned index() const noexcept { return index_; }
  completion_pool& pool() const noexcept { return pool_; }
  const std::shared_ptr<thread_loads>& loads() const noexcept { return loads_; }
  /// At the end: threads inside post() have left. pre: no task lives
  void wait_for_posts() noexcept;
  /// Where the workers wait for its sockets, or null. Set before and after any task.
  direct_port* direct() const noexcept { return direct_; }
  void set_direct(direct_port* port) noexcept { direct_ = port; }
  /// Any thread: whether the backend takes operations on files.
  detail::file_action_set file_actions() const noexcept;
  /// Any thread: whether it can send without a copy.
  bool lends_memory() const noexcept;
  /// Any thread: where it has none of that, the port of the files, or null.
  const platform::file_port* port_of_files() const noexcept;

  // Operations; owner.
  void submit(detail::operation& operation) noexcept;
  void cancel(detail::operation& operation) noexcept;
  /// The backend is done with it.
  void ended(detail::operation& operation) noexcept;
  /// Its outcome stands, unless it has to be tried again.
  void finish(detail::operation& operation) noexcept;
  /// selecting/end. Of a branch of a select that has completed, and that no cancel is under way for.
  void end_branch(detail::operation& operation) noexcept;

  // What comes without being asked each time; owner.
  completion_engine& engine() const noexcept {
    return *engine_.load(std::memory_order_acquire);  // pairs with moving/exchange
  }
  /// The task's operation has ended: it goes on here, or with the batch for its home.
  void resume(tandem::detail::promise_base& waiting) noexcept;
  /// moving/cancel. While it moves, what would begin waits for the new engine.
  bool is_moving() const noexcept { return moving_; }
  void defer(job& request) noexcept { deferred_.push_back(&request); }

  // The engine.
  void take_inbox() noexcept;
  bool has_mail() const noexcept {
    return !inbox_.empty();  // ring_sleep/announce
  }
  held_queue& local() noexcept { return local_; }
  source_list& sources() noexcept { return sources_; }

 private:
  friend class guests;
  friend class moves;
  void push_inbox(job* first, job* last, bool urgent) noexcept;

  tandem::runtime& owner_;
  completion_pool& pool_;
  const unsigned index_;
  const std::string name_;
  const std::shared_ptr<thread_loads> loads_;  // of all threads
  direct_port* direct_ = nullptr;

  std::atomic<completion_engine*>
      engine_;                         // written by the engine that gives it away (moving/exchange)
  tandem::detail::posted_jobs inbox_;  // pushed by anybody, taken whole by the owner
  std::atomic<std::uint32_t> posting_{0};  // threads inside push_inbox

  // Owner only.
  held_queue local_;
  std::size_t in_flight_ = 0;   // of its operations, with the engine's backend
  std::size_t lent_ = 0;        // lending: of these, sends without a copy
  bool waits_to_move_ = false;  // lending/keep: until none of these is left
  source_list sources_;         // that have been armed
  bool moving_ = false;         // moving/cancel
  job_list deferred_;           // moving/cancel

  // Guarded by the pool's moves.
  completion_engine* wanted_;
  bool requested_ = false;
  bool is_open_ = false;  // spreading/open: an engine hosts it, or is about to
  impl* next_request_ = nullptr;
};

/// For what is bound to no thread: the one we are on waits cheapest, else the engines have their
/// turns.
completion_thread& thread_at_hand(completion_pool& pool) noexcept;

}  // namespace io
}  // namespace tandem::inline v0
