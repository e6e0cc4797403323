// pool.cpp: who gets which connection, and what becomes of it. Protocol postgres_pool: README.md.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/pool.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres {

namespace {

using pool_clock = std::chrono::steady_clock;

struct idle_connection {
  connection kept;
  pool_clock::time_point since;
};

/// What may be over by itself.
bool may_pass(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const error& told) {
    const std::error_code code = told.code();
    return code == errc::cannot_connect || code == errc::starting_up ||
           code == errc::shutting_down || code == errc::too_many_connections;
  } catch (...) {
    return false;
  }
}

task<void> ask_nothing(connection& of) { (void)co_await of.query(""); }

}  // namespace

class pool::impl {
 public:
  impl(std::string conninfo, pool_options options)
      : conninfo_(std::move(conninfo)),
        options_(std::move(options)),
        places_(options_.max_connections) {
    if (options_.max_connections == 0 || options_.max_connections > semaphore::max) {
      throw error(errc::bad_option,
                  "postgres::pool: max_connections is " + std::to_string(options_.max_connections));
    }
  }

  /// @param self  this
  task<lease> acquire(std::shared_ptr<impl> self);
  task<void> give_back(lease& used);
  /// As it is; closed if it cannot be kept. Takes no memory that it needs.
  void keep(lease& used) noexcept;
  void drop(connection& used) noexcept;
  task<void> warm_up(std::shared_ptr<impl> self);
  void close() noexcept;
  pool_stats stats() const;

 private:
  class one_waiting;

  task<void> wait_for_place(pool_clock::time_point deadline);
  task<connection> find_or_open(pool_clock::time_point deadline);
  task<connection> open(pool_clock::time_point deadline);
  task<bool> is_well(idle_connection& found);
  std::optional<idle_connection> take_idle();

  const std::string conninfo_;
  const pool_options options_;
  semaphore places_;

  mutable std::mutex lock_;           // guards what follows
  std::deque<idle_connection> idle_;  // the latest last
  pool_stats counts_;
  bool is_closed_ = false;
};

/// Somebody waits for a place as long as it lives.
class pool::impl::one_waiting {
 public:
  explicit one_waiting(impl& of) noexcept : of_(of) {}  // was counted with the lock
  one_waiting(const one_waiting&) = delete;
  one_waiting& operator=(const one_waiting&) = delete;
  ~one_waiting() {
    const std::lock_guard locked(of_.lock_);
    --of_.counts_.waiting;
  }

 private:
  impl& of_;
};

task<void> pool::impl::wait_for_place(pool_clock::time_point deadline) {
  {
    const std::lock_guard locked(lock_);
    if (is_closed_) throw error(errc::closed, "postgres::pool: it was closed");
    if (places_.try_acquire()) co_return;
    if (counts_.waiting >= options_.max_waiting) {
      ++counts_.refused;
      throw error(errc::pool_exhausted, "postgres::pool: " + std::to_string(counts_.waiting) +
                                            " wait already (max_waiting)");
    }
    ++counts_.waiting;
  }
  // postgres_pool/place
  const one_waiting waits(*this);
  const result<void> got = co_await as_result(with_deadline(deadline, places_.acquire()));
  if (got.has_value()) co_return;
  if (stop_requested() || !got.is_cancelled()) std::rethrow_exception(got.exception());
  const std::lock_guard locked(lock_);
  ++counts_.refused;
  throw error(errc::pool_exhausted,
              "postgres::pool: all connections (max_connections: " +
                  std::to_string(options_.max_connections) + ") were taken for " +
                  std::to_string(options_.acquire_limit.count()) + " ms (acquire_limit)");
}

std::optional<idle_connection> pool::impl::take_idle() {
  std::vector<connection> old;  // closed without the lock
  const std::lock_guard locked(lock_);
  if (is_closed_) throw error(errc::closed, "postgres::pool: it was closed");
  const auto now = tandem::now();
  while (idle_.size() > options_.min_idle && idle_.front().since + options_.idle_limit < now) {
    old.push_back(std::move(idle_.front().kept));
    idle_.pop_front();
  }
  if (idle_.empty()) return std::nullopt;
  std::optional<idle_connection> found(std::move(idle_.back()));
  idle_.pop_back();
  return found;
}

task<bool> pool::impl::is_well(idle_connection& found) {
  const auto now = tandem::now();
  detail::session& of = *found.kept.implementation();
  if (of.born() + options_.lifetime < now || !of.still_answers()) co_return false;
  if (found.since + options_.check_after > now) co_return true;
  const result<void> asked =
      co_await as_result(with_timeout(options_.check_limit, ask_nothing(found.kept)));
  if (!asked.has_value() && stop_requested()) std::rethrow_exception(asked.exception());
  co_return asked.has_value();
}

task<connection> pool::impl::find_or_open(pool_clock::time_point deadline) {
  while (std::optional<idle_connection> found = take_idle()) {  // postgres_pool/find
    const bool is_usable = co_await is_well(*found);
    if (is_usable) co_return std::move(found->kept);
    const std::lock_guard locked(lock_);
    ++counts_.replaced;
  }
  co_return co_await open(deadline);
}

task<connection> pool::impl::open(pool_clock::time_point deadline) {  // postgres_pool/open
  std::chrono::milliseconds pause = options_.first_pause;
  while (true) {
    auto opened = co_await as_result(
        with_deadline(deadline, connection::open(conninfo_, options_.connections)));
    if (opened.has_value()) {
      const std::lock_guard locked(lock_);
      ++counts_.opened;
      co_return std::move(opened).value();
    }
    if (opened.is_cancelled() && !stop_requested()) {
      throw error(errc::pool_exhausted, "postgres::pool: no connection could be opened within " +
                                            std::to_string(options_.acquire_limit.count()) +
                                            " ms (acquire_limit)");
    }
    const std::exception_ptr failure = opened.exception();
    if (!may_pass(failure) || tandem::now() + pause >= deadline) std::rethrow_exception(failure);
    co_await sleep_for(pause);
    pause = (std::min)(pause * 2, options_.longest_pause);
  }
}

task<pool::lease> pool::impl::acquire(std::shared_ptr<impl> self) {
  const auto deadline = tandem::now() + options_.acquire_limit;
  co_await wait_for_place(deadline);
  try {
    connection found = co_await find_or_open(deadline);
    const std::lock_guard locked(lock_);
    ++counts_.in_use;
    co_return lease(std::move(self), std::move(found));
  } catch (...) {
    places_.release();
    throw;
  }
}

void pool::impl::keep(lease& used) noexcept {
  const std::shared_ptr<impl> self = std::move(used.from);
  {
    const std::lock_guard locked(lock_);
    --counts_.in_use;
    const auto now = tandem::now();
    if (!is_closed_ && used.mine.is_usable() &&
        used.mine.implementation()->born() + options_.lifetime >= now) {
      try {
        idle_.push_back(idle_connection{std::move(used.mine), now});
      } catch (const std::bad_alloc&) {}  // then it is closed
    }
  }
  used.mine.close();  // postgres_pool/back
  places_.release();
}

void pool::impl::drop(connection& used) noexcept {
  used.close();
  {
    const std::lock_guard locked(lock_);
    --counts_.in_use;
  }
  places_.release();
}

task<void> pool::impl::give_back(lease& used) {
  detail::session* const of = used.mine.implementation();
  if (of != nullptr && of->is_open() && !of->is_tidy()) {
    const auto tidied =
        co_await as_result(shielded(with_timeout(options_.check_limit, of->tidy_up())));
    if (!tidied.has_value() || !tidied.value()) used.mine.close();
  }
  keep(used);
}

task<void> pool::impl::warm_up(std::shared_ptr<impl> self) {
  const auto deadline = tandem::now() + options_.acquire_limit;
  while (true) {
    {
      const std::lock_guard locked(lock_);
      if (is_closed_ || idle_.size() + counts_.in_use >= options_.min_idle) co_return;
    }
    co_await wait_for_place(deadline);
    try {
      connection made = co_await open(deadline);
      {
        const std::lock_guard locked(lock_);
        ++counts_.in_use;
      }
      lease opened(self, std::move(made));
      keep(opened);
    } catch (...) {
      places_.release();
      throw;
    }
  }
}

void pool::impl::close() noexcept {
  std::unique_lock locked(lock_);
  is_closed_ = true;
  while (!idle_.empty()) {
    const idle_connection closed = std::move(idle_.front());
    idle_.pop_front();
    locked.unlock();
    // Here it is closed, and nothing was needed to keep it.
    locked.lock();
  }
}

pool_stats pool::impl::stats() const {
  const std::lock_guard locked(lock_);
  pool_stats now = counts_;
  now.idle = idle_.size();
  return now;
}

pool::pool(std::string conninfo, pool_options options)
    : impl_(std::make_shared<impl>(std::move(conninfo), std::move(options))) {}
pool::~pool() = default;

pool::lease::lease(std::shared_ptr<impl> owner, connection&& of) noexcept
    : from(std::move(owner)), mine(std::move(of)) {}
pool::lease::~lease() {
  if (from != nullptr) from->drop(mine);
}

task<pool::lease> pool::acquire() { return impl_->acquire(impl_); }
bool pool::give_back_tidy(lease& used) noexcept {
  const detail::session* const of = used.mine.implementation();
  if (of != nullptr && of->is_open() && !of->is_tidy()) return false;
  impl_->keep(used);
  return true;
}
task<void> pool::give_back(lease& used) { return impl_->give_back(used); }
task<void> pool::warm_up() { return impl_->warm_up(impl_); }
void pool::close() noexcept { impl_->close(); }
pool_stats pool::stats() const { return impl_->stats(); }

task<rows> pool::ask(command what, parameters given, bool in_binary) {
  lease held = co_await acquire();
  detail::session& of = *held.mine.implementation();
  auto asked = co_await as_result(of.query(0, std::move(what), std::move(given), in_binary));
  if (!give_back_tidy(held)) co_await give_back(held);
  co_return std::move(asked).value();
}

}  // namespace tandem::inline v0::io::postgres
