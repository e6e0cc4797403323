// core.cpp: calls wait for a connection in turn, and have it for one hop.
// SPDX-License-Identifier: MIT
#include "sqlite/core.hpp"

#include <algorithm>
#include <mutex>
#include <tandem/blocking.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <utility>

#include "sqlite/call_mark.hpp"
#include "sqlite/hop.hpp"
#include "sqlite/stop_watch.hpp"

namespace tandem::inline v0::io::sqlite::detail {

namespace {

void check_options(const options& given) {
  if (given.steps_between_looks < 1) {
    throw error(errc::bad_option, "options::steps_between_looks is below 1");
  }
  if (given.busy_timeout < given.busy_timeout.zero()) {
    throw error(errc::bad_option, "options::busy_timeout is negative");
  }
  if (given.readers > 1'000) {
    throw error(errc::bad_option, "options::readers is above 1,000");
  }
}

}  // namespace

/// One that nobody else has. Its place is held longer than it.
class core::lent_reader {
 public:
  explicit lent_reader(core& of) noexcept : of_(of) {
    const std::lock_guard hold(of_.lock_);
    lent_ = of_.idle_readers_.back();
    of_.idle_readers_.pop_back();
  }
  lent_reader(const lent_reader&) = delete;
  lent_reader& operator=(const lent_reader&) = delete;
  ~lent_reader() {
    const std::lock_guard hold(of_.lock_);
    of_.idle_readers_.push_back(lent_);  // it has had this room
  }
  connection& get() const noexcept { return *lent_; }

 private:
  core& of_;
  connection* lent_;
};

core::core(const std::string& path, const options& given) : reader_places_(0) {
  check_options(given);
  writer_ = std::make_unique<connection>(path, given);
  if (writer_->is_private()) return;
  readers_.reserve(given.readers);
  idle_readers_.reserve(given.readers);
  options reading = given;
  if (reading.journal == journal_mode::wal)
    reading.journal = journal_mode::unchanged;  // as it is by now
  reading.create = false;
  for (std::size_t i = 0; i != given.readers; ++i) {
    readers_.push_back(std::make_unique<connection>(path, reading));
    idle_readers_.push_back(readers_.back().get());
  }
  reader_places_.release(given.readers);
}

core::~core() = default;

void core::refuse_if_closed() const {
  if (!is_open()) throw error(errc::closed, "the database was closed, or moved from");
}

task<void> core::run(access how, call_ref call) {
  refuse_if_closed();
  const bool only_reads = how == access::one_read || how == access::snapshot || how == access::copy;
  if (only_reads && reads_apart()) {
    const bool is_done = co_await run_on_reader(how, call);
    if (is_done) co_return;
    how = access::one_write;
  }
  co_await run_on_writer(how, call);
}

task<bool> core::run_on_reader(access how, call_ref call) {
  refuse_reading_within(*this);
  const semaphore_permit place = co_await reader_places_.scoped();
  refuse_if_closed();
  const lent_reader lent(*this);
  if (how == access::snapshot) {
    const held_mark mark(std::make_shared<const call_mark>(*this, call_mark::kind::snapshot));
    co_return co_await hop_below(mark.get(), lent.get(), how, call);
  }
  co_return co_await hop(lent.get(), how, call);
}

task<mutex_guard> core::take_writer() {
  refuse_writing_within(*this);
  mutex_guard turn = co_await writer_turn_.scoped_lock();
  refuse_if_closed();
  co_return turn;
}

task<void> core::run_on_writer(access how, call_ref call) {
  const mutex_guard turn = co_await take_writer();
  // On the connection for writing a statement is what it is.
  if (how == access::one_read) how = access::one_write;
  if (how == access::change || how == access::snapshot) {
    const auto kind = how == access::change ? call_mark::kind::change : call_mark::kind::snapshot;
    const held_mark mark(std::make_shared<const call_mark>(*this, kind));
    co_await hop_below(mark.get(), *writer_, how, call);
  } else {
    co_await hop(*writer_, how, call);
  }
}

task<void> core::close() {
  if (is_closed_.load(std::memory_order_relaxed)) co_return;
  refuse_closing_within(*this);
  is_closed_.store(true, std::memory_order_relaxed);
  const mutex_guard turn = co_await writer_turn_.scoped_lock();
  refuse_reading_within(*this);
  const semaphore_permit places = co_await reader_places_.scoped(readers_.size());
  auto work = [this] { close_all(); };
  co_await blocking(work);
}

void core::close_all() noexcept {
  // The last one merges the log.
  for (const auto& each : readers_) each->close();
  writer_->close();
}

}  // namespace tandem::inline v0::io::sqlite::detail
