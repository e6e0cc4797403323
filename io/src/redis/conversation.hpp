// conversation.hpp: who connects, writes and reads for all that share a connection.
// SPDX-License-Identifier: MIT
//
// Protocol conversation: README.md of this room. There is no task of its own: whoever waits for an
// answer takes up what nobody does yet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/event.hpp>
#include <tandem/io/redis/batch.hpp>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/message.hpp>
#include <tandem/io/redis/options.hpp>
#include <tandem/retry.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/task.hpp>

#include "redis/link.hpp"
#include "redis/request.hpp"
#include "redis/subscriptions.hpp"

namespace tandem::inline v0::io::redis::detail {

class conversation {
 public:
  /// @param messages  null: none are expected
  /// @throws          error: bad_option; std::bad_alloc
  conversation(options where, manners kind, std::unique_ptr<subscriptions> messages = nullptr);
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation() = default;

  const options& where() const noexcept { return where_; }
  manners kind() const noexcept { return kind_; }

  /// The first connection: one attempt, before any request.
  task<void> open();
  /// Until all answers are there.
  ///
  /// @throws  the request's failure; operation_cancelled: then it has left
  task<void> run(request& asked);
  /// As run(), within options::limit. @throws also error: timed_out
  task<void> run_limited(request& asked);
  /// What run_limited() says of a request that has left.
  error out_of_time(const request& asked) const;
  /// The oldest message; nothing once it is closed.
  task<std::optional<message>> next();
  void close() noexcept;
  bool is_up() const noexcept;

 private:
  enum class duty : std::uint8_t { end, wait, connect, write, read };
  enum class farewell : std::uint8_t { left, has_ended, is_being_woken };
  /// Who waits for the next answers of the server.
  class expected {
   public:
    request* who;  // null: it has been stopped, and its answers are dropped
    std::size_t left;
    std::size_t cost;
    std::uint64_t begin;  // of its bytes, among all of this connection
  };
  /// What is done when the lock is free again.
  class later {
   public:
    explicit later(conversation& of) noexcept : of_(of) {}
    later(const later&) = delete;
    later& operator=(const later&) = delete;
    ~later();
    request* woken = nullptr;
    std::size_t places = 0;

   private:
    conversation& of_;
  };
  using lock = std::lock_guard<tandem::detail::futex_mutex>;

  // conversation.cpp: the duties. Those that await.
  task<void> connect(request& asked);
  task<void> write(request& asked);
  task<void> write_out(link& on);
  task<void> write_and_read(link& on, request& asked);
  task<void> read_meanwhile(request& asked, std::stop_token written);
  task<void> read_for_all(request& asked);
  task<void> read(request& asked);
  // Under the lock, which each takes itself.
  duty begin(request& asked);
  duty look(request& asked);
  farewell leave(request& asked) noexcept;
  bool take_unsent(request& asked);
  bool take_reads(request& asked);
  bool take_in(request& asked, std::size_t bytes);
  void check_idle(request& asked);
  void note_written(link& on, const result<std::size_t>& sent);
  void lose(std::string_view why);
  void connected(request& asked, std::unique_ptr<link>&& made);
  void not_connected(request& asked, const std::exception_ptr& why);

  // The lock is held.
  void refuse_in_vain(bool listens) const;
  duty choose(request& asked) noexcept;
  bool is_satisfied(const request& asked) const noexcept;
  bool deliver(reply&& got, later& after);
  void release(request& asked, request::role which) noexcept;
  void pass_on(later& after) noexcept;
  static void wake(request& asleep) noexcept;
  void end(request& who, std::exception_ptr failure, later& after) noexcept;
  void end_unsent(const std::exception_ptr& failure, later& after) noexcept;
  void end_listener(const std::exception_ptr& failure, later& after) noexcept;
  void break_off(const std::exception_ptr& why, later& after) noexcept;

  const options where_;
  const manners kind_;
  const retry_options back_off_;
  semaphore places_;          // bytes of what is unanswered
  std::stop_source closing_;  // reaches who connects

  mutable tandem::detail::futex_mutex lock_;  // of all below; never held across an await
  request_list unsent_;
  std::deque<expected> sent_;
  request* listener_ = nullptr;
  const std::unique_ptr<subscriptions> messages_;
  std::unique_ptr<link> link_;  // stays as long as anybody has a role
  bool is_up_ = false;          // link_ is there, and nothing is known against it
  bool was_up_ = false;
  bool is_closed_ = false;
  bool connecting_ = false;  // the three roles, each held by one request at most
  bool writing_ = false;
  bool reading_ = false;
  bool writer_wants_to_read_ = false;  // as soon as whoever reads has gone: `reads_free_`
  event reads_free_;
  bool crowded_ = false;   // several were answered at once: they will all ask again
  unsigned attempts_ = 0;  // since the last answer
  std::chrono::steady_clock::time_point next_attempt_{};
  std::exception_ptr last_failure_;  // of an attempt, until one succeeds
};

}  // namespace tandem::inline v0::io::redis::detail
