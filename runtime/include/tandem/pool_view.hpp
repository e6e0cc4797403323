// pool_view.hpp: a worker pool without its setters.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0 {

/// For code that may use a pool, and may neither reconfigure it nor shut it down. A pointer, no
/// more: it owns nothing, and the runtime has to outlive it.
///
///     class crawler {
///      public:
///       explicit crawler(tandem::pool_view pool) : pool_(pool) {}
///       void visit(url there) { pool_.submit(fetch(std::move(there))).detach(); }
///     ...
///     crawler one(rt.workers().view());
///
/// @thread_safety  as a value; all members from any thread, as those of worker_pool, which they
///                 call
class pool_view {
 public:
  explicit pool_view(worker_pool& pool) noexcept : pool_(&pool) {}

  /// worker_pool::submit()
  template <class T>
  join_handle<T> submit(task<T> body, int priority = 0,
                        std::source_location where = std::source_location::current()) const {
    return pool_->submit(std::move(body), priority, where);
  }
  /// worker_pool::submit_when_free()
  template <class T>
  submit_awaiter<T> submit_when_free(
      task<T> body, int priority = 0,
      std::source_location where = std::source_location::current()) const noexcept {
    return pool_->submit_when_free(std::move(body), priority, where);
  }

  /// pool_options::name
  std::string_view name() const noexcept { return pool_->name(); }
  /// worker_pool::state()
  pool_state state() const noexcept { return pool_->state(); }
  /// worker_pool::stats()
  worker_pool_stats stats() const { return pool_->stats(); }
  /// worker_pool::size()
  unsigned size() const noexcept { return pool_->size(); }
  /// worker_pool::decisions()
  std::vector<pool_decision> decisions() const { return pool_->decisions(); }
  /// worker_pool::describe()
  std::string describe() const { return pool_->describe(); }
  /// Whether the calling thread is one of its workers.
  bool is_current() const noexcept { return pool_->is_current(); }

  /// Whether both are views of the same pool.
  friend bool operator==(const pool_view&, const pool_view&) = default;

 private:
  worker_pool* pool_;
};

}  // namespace tandem::inline v0
