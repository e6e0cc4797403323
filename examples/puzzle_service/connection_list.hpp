// connection_list.hpp: which connections are open, and how they are ended.
// SPDX-License-Identifier: MIT
//
// Each connection has a ticket. It is `reading` while it waits for the rest of a request, `busy`
// while it answers, `closing` once it has been told to end. One compare-exchange decides whether a
// request that arrives during the shutdown is still answered:
//   L1  the connection, with a request:  reading -> busy; if that fails it closes.
//   L2  close_idle():                    reading -> closing, then it cancels the connection's task.
// A busy connection sees is_draining() before it sends its answer, and closes after it. An answer
// without an end of its own ends when drain() is set.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include <tandem/event.hpp>
#include <tandem/executor.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

namespace service {

class connection_list;

/// One open connection's entry.
///
/// @thread_safety  its own connection, except where said
class connection_ticket {
 public:
  /// @returns             false if the service is ending: there will be no further request
  bool begin_reading() noexcept;
  /// @returns             false if it was told to end meanwhile
  bool begin_answer() noexcept;

 private:
  friend class connection_list;
  enum class state : std::uint8_t { reading, busy, closing };

  std::atomic<state> state_{state::busy};
  const connection_list* list_ = nullptr;
  bool is_turned_away_ = false;
  tandem::join_handle<> task_;  // under the list's lock
  std::list<connection_ticket>::iterator self_;
};

class connection_list {
 public:
  connection_list() = default;

  /// A ticket for a new connection, in the state busy; one that is only turned away is not `open`.
  connection_ticket& add(bool is_turned_away);
  /// Starts the connection's task; it has to call remove() at its end, and must not throw.
  void start(connection_ticket& ticket, tandem::executor& home, tandem::task<void> body);
  void remove(connection_ticket& ticket) noexcept;

  std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }
  std::size_t turned_away() const noexcept { return turned_away_.load(std::memory_order_relaxed); }
  std::uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
  bool is_draining() const noexcept { return draining_.load(std::memory_order_acquire); }
  /// Set when is_draining() begins: for answers without an end of their own.
  tandem::event& drain() noexcept { return drain_; }

  /// Ends the idle connections at once, gives the others `grace` to finish, then stops them.
  ///
  /// @returns             how many had to be stopped
  tandem::task<std::size_t> close_all(std::chrono::milliseconds grace);

 private:
  friend class connection_ticket;

  std::vector<tandem::join_handle<>> close_idle();

  std::mutex lock_;  // tickets_ and each ticket's task_; never held across an await
  std::list<connection_ticket> tickets_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::size_t> turned_away_{0};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<bool> draining_{false};
  tandem::event drain_;
};

}  // namespace service
