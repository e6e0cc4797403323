// pipeline_core.hpp: the statements of a pipeline that are under way. Protocol postgres_pipeline: README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/event.hpp>
#include <tandem/io/postgres/rows.hpp>
#include <tandem/io/postgres/statement.hpp>
#include <tandem/io/postgres/value.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres::detail {

/// A statement, or a sync, that the server has not answered when it is made.
class pipeline_entry {
 public:
  explicit pipeline_entry(bool only_sync) noexcept : is_sync(only_sync) {}

  const bool is_sync;
  // Written before `done` is set, by whoever reads; after it by whoever has the answer.
  rows answer;
  rows failed;
  bool is_aborted = false;
  bool is_lost = false;
  bool has_any = false;
  bool is_taken = false;
  std::uint64_t number = 0;  // of the sends
  event done;
  std::shared_ptr<pipeline_entry>
      next;  // among those that have failed: noting that takes no memory
};

class pipeline_core {
 public:
  using entry = std::shared_ptr<pipeline_entry>;

  /// @throws  std::bad_alloc: an empty deque has memory
  pipeline_core(session& of, std::uint64_t outer)
      : of_(of), outer_(outer), scope_(of.new_scope()) {}

  pipeline_core(const pipeline_core&) = delete;
  pipeline_core& operator=(const pipeline_core&) = delete;
  ~pipeline_core();

  session& of() noexcept { return of_; }
  task<void> begin();
  /// @returns  what will be answered; flush() if `is_much`
  entry send(const command& what, const parameters& given, bool& is_much);
  task<void> flush();
  /// Waits for it. @throws error: its failure, once for all
  task<rows> wait_for(entry waited);
  task<entry> sync();
  task<void> read_answers();
  task<void> finish();
  task<void> wind_up();
  void conclude();
  /// Closes what wind_up() has not ended, since there was no memory for its task.
  void abandon() noexcept;
  std::size_t unanswered() const noexcept;

 private:
  using guard = std::lock_guard<tandem::detail::futex_mutex>;

  entry add(bool is_sync);
  /// What was added last has not been sent.
  void take_back() noexcept;
  /// What the server has done it tells now, without a sync.
  task<void> ask_for_answers(const pipeline_entry& waited);
  /// What a step has left.
  enum class left : std::uint8_t { nothing, what_has_come, what_will_come };

  /// With the lock: hands out what has come, a portion of it. @param ended  gets those whose done is
  /// to be set
  left take_answers(std::vector<entry>& ended, pipeline_entry*& lost);
  void note_failure(const entry& failed) noexcept;
  /// The connection is gone, and with it all that is unanswered: takes no memory.
  /// @returns  the first of those whose done is to be set; the others follow it
  pipeline_entry* take_broken() noexcept;
  /// Whoever waits for one of these is told.
  static void tell(pipeline_entry* first) noexcept;
  void end_broken(std::string_view why) noexcept;
  /// Takes a portion, and tells. @returns  what is still unanswered
  left step(bool reads_first);
  task<void> drain();
  task<void> cancel_and_drain();
  /// With the lock; of one whose `done` is set. @throws error if it has failed, or was lost
  void throw_failure(const pipeline_entry& of) const;
  /// With the lock. @throws error (connection_lost)
  void check_whole() const;

  session& of_;
  const std::uint64_t outer_;
  const std::uint64_t scope_;

  mutable tandem::detail::futex_mutex lock_;  // guards libpq and all that follows
  std::deque<entry> unanswered_;
  entry first_failure_;
  pipeline_entry* last_failure_ = nullptr;
  std::string lost_why_;
  std::uint64_t sent_ = 0;
  std::uint64_t asked_for_ = 0;      // up to this one the server was asked to answer
  std::size_t unflushed_bytes_ = 0;  // about
  bool is_begun_ = false;            // and not wound up
  bool is_broken_ = false;
  bool is_over_ = false;
  event work_;    // set: something is unanswered, or it is over; reset with the lock
  event broken_;  // ends waits for a socket that is gone
};

}  // namespace tandem::inline v0::io::postgres::detail
