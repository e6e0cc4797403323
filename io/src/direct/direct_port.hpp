// direct_port.hpp: where workers wait for sockets, and take what has become ready.
// SPDX-License-Identifier: MIT
//
// One for a runtime. One thread at a time is inside. It lives as long as a socket that it knows,
// which may be longer than the runtime. Protocol direct: README.md beside this.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tandem/detail/own_counter.hpp>
#include <tandem/detail/worker_port.hpp>
#include <tandem/worker_pool.hpp>

#include "direct/interest.hpp"
#include "direct/interest_table.hpp"
#include "growth/stall_watch.hpp"
#include "platform/event_set.hpp"

namespace tandem::inline v0::io {

class direct_port final : public tandem::detail::worker_port,
                          public watched_port,
                          public std::enable_shared_from_this<direct_port> {
 public:
  /// @param workers  whose port it is; both live until close()
  /// @throws         std::system_error
  direct_port(worker_pool& workers, stall_watch& watch) : workers_(workers), watch_(watch) {}

  // worker_port
  bool is_used() const noexcept override { return sockets_.load(std::memory_order_relaxed) != 0; }
  bool try_enter() noexcept override;
  bool wait(std::int64_t until_ns) noexcept override;
  void leave(const executor& home, job_list& for_home) noexcept override;
  void wake() noexcept override { set_.wake(); }
  // watched_port
  bool is_unattended() const noexcept override;
  void attend() noexcept override;

  /// direct/watch. The set tells of this side of a socket from now on. Any thread: both sides may
  /// come at once.
  ///
  /// @param found_nothing  the side on which a call has just found nothing
  /// @returns              null if the system refuses
  detail::interest* watch(detail::interest_slot& of, native_descriptor descriptor,
                          detail::socket_side found_nothing) noexcept;
  /// direct/leave_side. Somebody else than the workers waits on that side from now on. By its task;
  /// nothing where it is not armed.
  static void leave_side(const detail::interest_slot& of, native_descriptor descriptor,
                         detail::socket_side side) noexcept;
  /// ports/rest. An operation has begun to wait.
  void waits_now() noexcept { watch_.kick(); }
  /// direct/forget. Before its socket is closed or given away; no operation is under way there.
  static void forget(detail::interest& known, native_descriptor descriptor) noexcept;

  /// ports/end. Nobody enters any more.
  void close() noexcept;

  // For statistics.
  std::uint64_t told() const noexcept { return told_.read(); }
  std::uint64_t waits() const noexcept { return known_.waits(); }

 private:
  enum state : std::uint32_t { empty, entered, being_left };

  void give_back(detail::interest& known) noexcept;
  std::mutex& lock_of(native_descriptor descriptor) noexcept {
    return making_[static_cast<std::size_t>(descriptor) % making_.size()];
  }

  worker_pool& workers_;
  stall_watch& watch_;
  bool has_sent_ = false;  // the watch's: a worker, at its last look
  platform::event_set set_;
  interest_table known_;
  std::array<std::mutex, 16> making_;  // direct/watch
  alignas(64) std::atomic<std::uint32_t> state_{empty};
  // Of whoever is inside.
  job_list ready_;
  tandem::detail::own_counter told_;
  platform::event_set::events events_;
  alignas(64) std::atomic<std::uint32_t> sockets_{0};
};

}  // namespace tandem::inline v0::io
