// connection_list.cpp: tickets, and the end of all connections.
// SPDX-License-Identifier: MIT
#include "connection_list.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>

namespace service {

namespace {

tandem::task<void> join_all(std::vector<tandem::join_handle<>>& tasks) {
  while (!tasks.empty()) {
    // A task that was cancelled before it started has a failure, too: that of never having run.
    auto ended = co_await tandem::as_result(tasks.back());
    if (!tasks.back().is_done()) std::move(ended).value();
    tasks.pop_back();
  }
}

}  // namespace

bool connection_ticket::begin_reading() noexcept {
  state_.store(state::reading, std::memory_order_seq_cst);
  // seq_cst, as the pair in close_idle(): either this sees the flag, or that sees `reading`.
  return !list_->draining_.load(std::memory_order_seq_cst);
}

bool connection_ticket::begin_answer() noexcept {
  state expected = state::reading;
  return state_.compare_exchange_strong(expected, state::busy) || expected == state::busy;  // L1
}

connection_ticket& connection_list::add(bool is_turned_away) {
  const std::lock_guard guard(lock_);
  connection_ticket& ticket = tickets_.emplace_back();
  ticket.list_ = this;
  ticket.self_ = std::prev(tickets_.end());
  ticket.is_turned_away_ = is_turned_away;
  (is_turned_away ? turned_away_ : open_).fetch_add(1, std::memory_order_relaxed);
  total_.fetch_add(1, std::memory_order_relaxed);
  return ticket;
}

void connection_list::start(connection_ticket& ticket, tandem::executor& home,
                            tandem::task<void> body) {
  // Under the lock: the task may end, and remove the ticket, before the handle is stored.
  const std::lock_guard guard(lock_);
  ticket.task_ = tandem::spawn(home, std::move(body));
}

void connection_list::remove(connection_ticket& ticket) noexcept {
  const std::lock_guard guard(lock_);
  (ticket.is_turned_away_ ? turned_away_ : open_).fetch_sub(1, std::memory_order_relaxed);
  tickets_.erase(ticket.self_);
}

std::vector<tandem::join_handle<>> connection_list::close_idle() {
  std::vector<tandem::join_handle<>> tasks;
  const std::lock_guard guard(lock_);
  draining_.store(true, std::memory_order_seq_cst);
  tasks.reserve(tickets_.size());
  for (connection_ticket& ticket : tickets_) {
    if (!ticket.task_) continue;
    auto expected = connection_ticket::state::reading;
    const bool is_idle =
        ticket.state_.compare_exchange_strong(expected, connection_ticket::state::closing);  // L2
    if (is_idle) ticket.task_.cancel();
    tasks.push_back(std::move(ticket.task_));
  }
  return tasks;
}

tandem::task<std::size_t> connection_list::close_all(std::chrono::milliseconds grace) {
  std::vector<tandem::join_handle<>> tasks = close_idle();
  drain_.set();
  tandem::task<void> joining = join_all(tasks);
  (void)co_await tandem::as_result(tandem::with_timeout(grace, std::move(joining)));
  const auto late = static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](auto& each) { return !each.is_done(); }));
  for (auto& each : tasks) each.cancel();
  co_await join_all(tasks);
  co_return late;
}

}  // namespace service
