// core.hpp: a database's connections, and who has them.
// SPDX-License-Identifier: MIT
//
// Protocol sqlite_calls: README.md beside this.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/options.hpp>
#include <tandem/mutex.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "sqlite/connection.hpp"

namespace tandem::inline v0::io::sqlite::detail {

class core final : public call_target {
 public:
  /// On a thread that may wait. @throws  error, operation_cancelled, std::bad_alloc
  core(const std::string& path, const options& given);
  ~core() override;

  task<void> run(access how, call_ref call) override;

  /// sqlite_calls/turn. @throws  error (nested, closed); operation_cancelled
  task<mutex_guard> take_writer();
  connection& writer() noexcept { return *writer_; }

  task<void> close();
  bool is_open() const noexcept { return !is_closed_.load(std::memory_order_relaxed); }
  bool reads_apart() const noexcept { return !readers_.empty(); }

 private:
  class lent_reader;

  void refuse_if_closed() const;
  task<bool> run_on_reader(access how, call_ref call);
  task<void> run_on_writer(access how, call_ref call);
  void close_all() noexcept;

  std::unique_ptr<connection> writer_;                // whoever has writer_turn_
  std::vector<std::unique_ptr<connection>> readers_;  // never changed but by close_all()
  mutex writer_turn_;
  semaphore reader_places_;
  tandem::detail::futex_mutex lock_;
  std::vector<connection*> idle_readers_;  // under lock_; the one used last is the next
  // Only ever set. Relaxed: whoever gets a connection by the locks above, after close() had them all, sees it.
  std::atomic<bool> is_closed_{false};
};

}  // namespace tandem::inline v0::io::sqlite::detail
