// readiness_backend.hpp: a backend of our own calls that never block, told by a poller when to make them.
// SPDX-License-Identifier: MIT
//
// An operation is tried first; what would block waits until the poller says that the descriptor is
// ready, then reap() tries again. So an operation that is cancelled while it waits has consumed
// nothing. Protocol readiness: io/src/readiness/README.md. A poller has:
//
//     explicit Poller(registration_table& told);  // may throw std::system_error
//     static constexpr std::string_view name;
//     std::unique_ptr<registration> make_registration();  // or of a final class; may throw std::bad_alloc
//     // readiness/wait: tells the table of what has come; before that, if `may_wait`, waits for
//     // something to tell, a wake() or the deadline
//     void look(bool may_wait, std::chrono::steady_clock::time_point deadline) noexcept;
//     void wake() noexcept;  // readiness/wake; any thread
//
// And, if it has a port for transfers of files (iocp/transfer):
//
//     file_transfers& files() noexcept;  // and const
//
// whose `kinds` are the operations that it takes.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <tandem/config.hpp>
#include <type_traits>
#include <utility>

#include "backend/backend.hpp"
#include "platform/attempt.hpp"
#include "readiness/receive_wait.hpp"
#include "readiness/registration_table.hpp"
#include "ring/receive_buffers.hpp"

namespace tandem::inline v0::io {

template <class Poller>
class readiness_backend final : public backend {
  using watch = watch_of<Poller>;

 public:
  readiness_backend() = default;

  std::string_view name() const noexcept override { return Poller::name; }

  const platform::file_port* port_of_files() const noexcept override {
    if constexpr (has_files) {
      return &poller_.files().port();
    } else {
      return nullptr;
    }
  }

  submit_answer submit(detail::operation& operation) noexcept override {
    const direction way = way_of(operation);
    ::new (operation.backend_room()) operation_entry(way);
    if (way == direction::none) [[unlikely]]
      return submit_transfer(operation);
    registration* at = table_.find(operation.descriptor());
    if (at == nullptr ||
        at->of(way).waiting.empty()) {  // readiness/try. Else it has its turn after the others.
      const std::int32_t outcome = platform::begin_attempt(operation);
      if (outcome != platform::would_block) return ended_at_once(operation, outcome);
    }
    if (at == nullptr) {
      const int error =
          table_.enter(operation.descriptor(), detail::are_on_our_descriptors.has(operation.kind()),
                       poller_, at);
      if (error != 0) return ended_at_once(operation, -error);
    }
    entry_of(operation).at = at;
    at->of(way).waiting.push_back(operation);
    operation.state = detail::operation::phase::submitted;
    if (!at->of(way).armed) wait_for(*at, way);
    return submit_answer::pending;
  }

  void cancel(detail::operation& operation) noexcept override {
    // readiness/cancel. It waits, so nothing has been done: the next reap() ends it.
    const operation_entry& entry = entry_of(operation);
    if constexpr (has_files) {
      if (entry.way == direction::none) {
        poller_.files().cancel(operation);
        return;
      }
    }
    registration& at = *entry.at;
    at.of(entry.way).waiting.remove(operation);
    end(operation, -ECANCELED);
    // readiness/leave. At once: its owner may have closed it already, and the next operation may be
    // for another descriptor of the same number.
    table_.template leave_if_idle<watch>(at);
  }

  void look_again(native_descriptor socket) noexcept override {
    // readiness/look_again. The poller's wait goes on.
    registration* const at = table_.find(socket);
    if (at == nullptr) return;
    registration::side& side = at->of(direction::read);
    // A source is told that there is something; it tries, and finds the end.
    if (detail::operation* const first = side.waiting.front();
        first != nullptr && entry_of(*first).armed != nullptr) {
      side.waiting.remove_front();
      end(*first, 1);
    }
    try_those_who_wait(side);
    if (side.waiting.empty()) table_.list_if_idle(*at);
  }

  void cancel_all() noexcept override {
    for (const auto& each : table_.all()) {
      for (const direction way : {direction::read, direction::write}) {
        detail::operation* next = each->of(way).waiting.front();
        while (next != nullptr) {
          detail::operation& operation = *next;
          next = entry_of(operation).next;
          if (entry_of(operation).armed == nullptr) cancel(operation);  // else it is a source's
        }
      }
    }
  }

  void use_buffers(detail::receive_buffers& buffers) noexcept override { buffers_ = &buffers; }

  void provide_buffer(std::uint32_t index) noexcept override {
    buffers_->next(index) = stock_;
    stock_ = index;
  }

  bool arm(multishot_source& source) noexcept override {
    receive_wait* const wait = receive_waits_.take();
    if (wait == nullptr) return false;
    wait->source = &source;
    wait->disarmed = false;
    source.backend_state = wait;
    wait->operation.aim(nullptr, source.descriptor());
    // A connection that is gone again between readiness and accept() would block us.
    if (source.what() == multishot_source::kind::accept)
      platform::set_non_blocking(source.descriptor());
    wait_again(*wait);
    return true;
  }

  void disarm(multishot_source& source) noexcept override {
    receive_wait& wait = *static_cast<receive_wait*>(source.backend_state);
    wait.disarmed = true;
    if (wait.operation.state == detail::operation::phase::submitted) cancel(wait.operation);
  }

  void wait(std::chrono::steady_clock::time_point deadline) noexcept override {
    poller_.look(deadline != std::chrono::steady_clock::time_point::min() && ended_.empty() &&
                     table_.ready().empty(),
                 deadline);
  }

  unsigned reap(completion_function ended, void* context) noexcept override {
    if constexpr (has_files) {
      while (detail::operation* const operation = poller_.files().ended.pop_front()) {
        ended_.push_back(*operation);
      }
    }
    for (const auto& each : table_.ready()) try_again(*each.at, each.way);
    table_.clear_ready();
    unsigned operations = 0;
    // What ends meanwhile has to wait for the next round: a socket that never runs dry is no reason
    // to keep all others waiting.
    operation_list batch = std::exchange(ended_, operation_list());
    while (detail::operation* const operation = batch.pop_front()) {
      if (receive_wait* const wait = entry_of(*operation).armed) {
        receive(*wait);
        continue;
      }
      ++operations;
      ended(context, *operation);
    }
    // readiness/leave. Before any task of theirs resumes: from then on the descriptor may be
    // closed.
    table_.template let_idle_leave<watch>();
    return operations;
  }

  void wake() noexcept override { poller_.wake(); }

 private:
  static constexpr bool has_files = requires(Poller& poller) { poller.files(); };

  /// None: it is a transfer.
  static direction way_of(const detail::operation& operation) noexcept {
    if constexpr (has_files) {
      using files = std::remove_cvref_t<decltype(std::declval<Poller&>().files())>;
      if (files::kinds.has(operation.kind())) return direction::none;
    }
    return operation.row().waits_for;
  }

  submit_answer submit_transfer(detail::operation& operation) noexcept {
    if constexpr (has_files) {
      const std::int32_t outcome = poller_.files().begin(operation);
      if (outcome != platform::would_block) return ended_at_once(operation, outcome);
      operation.state = detail::operation::phase::submitted;
      return submit_answer::pending;
    } else {
      TANDEM_ASSERT(false, "submitted though file_actions() has none");
      return ended_at_once(operation, -EINVAL);
    }
  }

  static submit_answer ended_at_once(detail::operation& operation, std::int32_t outcome) noexcept {
    operation.complete(outcome);
    return submit_answer::completed_inline;
  }
  void end(detail::operation& operation, std::int32_t outcome) noexcept {
    operation.complete(outcome);
    ended_.push_back(operation);
  }

  /// readiness/wait. Until the socket can be read.
  void wait_again(receive_wait& wait) noexcept {
    wait.operation.state = detail::operation::phase::idle;
    if (submit(wait.operation) == submit_answer::completed_inline) {
      ended_.push_back(wait.operation);
    }
    entry_of(wait.operation).armed = &wait;
  }

  void receive(receive_wait& wait) noexcept {
    std::int32_t outcome = wait.operation.outcome();
    for (unsigned turn = 0; turn < receives_in_turn && outcome >= 0; ++turn) {
      if (wait.disarmed) {
        outcome = -ECANCELED;
        break;
      }
      const std::int32_t got = take_one(*wait.source);
      if (got == platform::would_block) break;
      if (got == went_on) continue;
      end_receive(wait, got);
      return;
    }
    if (wait.disarmed && outcome >= 0) outcome = -ECANCELED;
    if (outcome < 0) {
      end_receive(wait, outcome);
    } else {
      wait_again(wait);
    }
  }

  /// @returns  went_on if something came, would_block, or how it ends
  std::int32_t take_one(multishot_source& source) noexcept {
    constexpr std::uint32_t none = detail::receive_buffers::none;
    if (source.what() == multishot_source::kind::accept) {
      const std::int32_t accepted = platform::accept_now(source.descriptor());
      // A peer that has left before it was accepted is none of the source's.
      const bool has_left = accepted == -ECONNABORTED;
      if (accepted < 0) return has_left || is_none_yet(accepted) ? platform::would_block : accepted;
      source.received(accepted, none, true);
      return went_on;
    }
    const std::uint32_t index = stock_;
    if (index == none) return -ENOBUFS;
    const std::int32_t bytes =
        platform::receive_now(source.descriptor(), buffers_->data(index), buffers_->bytes_each());
    if (bytes < 0) return is_none_yet(bytes) ? platform::would_block : bytes;
    if (bytes == 0) return 0;
    stock_ = buffers_->next(index);
    source.received(bytes, index, true);
    return went_on;
  }
  static bool is_none_yet(std::int32_t outcome) noexcept {
    return outcome == platform::would_block || outcome == -EINTR;
  }

  void end_receive(receive_wait& wait, std::int32_t outcome) noexcept {
    multishot_source& source = *wait.source;
    // The source may close its descriptor when it hears of it.
    if (registration* const at = table_.find(source.descriptor()))
      table_.template leave_if_idle<watch>(*at);
    receive_waits_.give_back(wait);
    source.received(outcome, detail::receive_buffers::none, false);
  }

  /// readiness/wait.
  TANDEM_ALWAYS_INLINE void wait_for(registration& at, direction way) noexcept {
    const int error = at.wait<watch>(way);
    if (error == 0) return;
    while (detail::operation* const operation = at.of(way).waiting.pop_front()) {
      end(*operation, -error);
    }
    table_.list_if_idle(at);
  }

  void try_those_who_wait(registration::side& side) noexcept {
    while (detail::operation* const operation = side.waiting.front()) {
      const std::int32_t outcome =
          side.error != 0 ? -side.error : platform::attempt_when_ready(*operation);
      if (outcome == platform::would_block) break;
      side.waiting.remove_front();
      end(*operation, outcome);
    }
    side.error = 0;
  }

  void try_again(registration& at, direction way) noexcept {
    registration::side& side = at.of(way);
    side.armed = false;
    try_those_who_wait(side);
    if (!side.waiting.empty()) {
      wait_for(at, way);
    } else {
      table_.list_if_idle(at);
    }
  }

  static constexpr unsigned receives_in_turn = 4;
  static constexpr std::int32_t went_on = 1;

  detail::receive_buffers* buffers_ = nullptr;
  std::uint32_t stock_ = detail::receive_buffers::none;  // a chain of free ones
  receive_wait_store receive_waits_;
  operation_list ended_;
  Poller poller_{table_};  // before the table: registrations end before what watches for them
  registration_table table_;
};

}  // namespace tandem::inline v0::io
