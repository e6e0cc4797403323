// interest.hpp: what is known of the readiness of one socket, and who waits for it.
// SPDX-License-Identifier: MIT
//
// A word a side. Protocol direct: README.md beside this.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/io/detail/side_wait.hpp>
#include <tandem/io/detail/socket_side.hpp>
#include <utility>

namespace tandem::inline v0::io {

class direct_port;

namespace detail {

/// On lines of its own: two sockets may be served by two workers.
class alignas(64) interest {
 public:
  interest() noexcept = default;
  interest(const interest&) = delete;
  interest& operator=(const interest&) = delete;

  // The task whose operation is under way on that side.
  /// direct/use. Whether a call may find something: false if nothing has come since the last one
  /// that left nothing.
  bool may_find(socket_side side) const noexcept {
    return word(side).load(std::memory_order_seq_cst) != quiet;
  }
  /// direct/use. Before a call that may leave nothing: what comes from now on is noted.
  void begin_call(socket_side side) noexcept {
    std::uintptr_t seen = ready;
    if (word(side).load(std::memory_order_relaxed) == ready) {
      word(side).compare_exchange_strong(seen, quiet, std::memory_order_seq_cst);
    }
  }
  /// direct/use. A call has left something, or may have.
  void left_something(socket_side side) noexcept {
    std::uintptr_t seen = quiet;
    if (word(side).load(std::memory_order_relaxed) == quiet) {
      word(side).compare_exchange_strong(seen, ready, std::memory_order_seq_cst);
    }
  }
  /// direct/use. A call has found nothing. What had come may have come before it, or after it.
  enum class found : std::uint8_t { nothing_new, something_new, an_end };
  /// @returns  nothing_new: it is quiet; else it was not, and one has to call again
  found found_nothing(socket_side side) noexcept {
    std::uintptr_t seen = word(side).load(std::memory_order_seq_cst);
    // Nobody waits: only more may be noted.
    while (seen != quiet &&
           !word(side).compare_exchange_weak(seen, quiet, std::memory_order_seq_cst)) {}
    return seen == quiet   ? found::nothing_new
           : seen == ended ? found::an_end
                           : found::something_new;
  }
  /// direct/use. There is something, where an end had been noted: that is behind it.
  void ends_after_that(socket_side side) noexcept {
    word(side).store(ended, std::memory_order_seq_cst);
  }
  /// direct/wait. @returns false if it is not quiet: then it does not wait, and a call may find
  /// something. Else it may be gone.
  bool wait(socket_side side, side_wait& waiting) noexcept {
    std::uintptr_t seen = quiet;
    return word(side).compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(&waiting),
                                              std::memory_order_seq_cst);
  }

  /// direct/watch. Whether the set tells of it. Its task's, as the words' changes are.
  bool is_armed(socket_side side) const noexcept {
    return armed_[static_cast<std::size_t>(side)].load(std::memory_order_relaxed);
  }
  /// direct/use. A read may end before what follows: it has had urgent data.
  bool was_urgent() const noexcept { return urgent_.load(std::memory_order_seq_cst); }

  // Any thread.
  /// Before it is told.
  void note_urgent() noexcept { urgent_.store(true, std::memory_order_seq_cst); }
  /// direct/tell, direct/stop. @returns who has waited, and does not any more; or null
  side_wait* tell(socket_side side, bool has_ended) noexcept {
    std::uintptr_t seen = word(side).load(std::memory_order_seq_cst);
    while (true) {
      const bool waits = is_waiting(seen);
      if (seen == ended || (seen == ready && !has_ended)) return nullptr;
      const std::uintptr_t next = has_ended ? ended : waits ? quiet : ready;
      if (word(side).compare_exchange_weak(seen, next, std::memory_order_seq_cst)) {
        return waits ? reinterpret_cast<side_wait*>(seen) : nullptr;
      }
    }
  }
  unsigned waits() const noexcept {
    unsigned sum = 0;
    for (const auto& each : words_) sum += is_waiting(each.load(std::memory_order_seq_cst)) ? 1 : 0;
    return sum;
  }

  // Under the port's lock of this socket.
  /// Nothing is known of it, and nothing armed.
  void begin(std::shared_ptr<direct_port> port) noexcept {
    port_ = std::move(port);
    for (auto& each : words_) each.store(ready, std::memory_order_relaxed);  // published by arm()
    for (auto& each : armed_) each.store(false, std::memory_order_relaxed);
    urgent_.store(false, std::memory_order_relaxed);
  }
  std::shared_ptr<direct_port> end() noexcept { return std::move(port_); }
  direct_port& port() const noexcept { return *port_; }
  /// A call has found nothing on that side: it is quiet, before the set is asked to tell of it.
  void arm(socket_side side) noexcept {
    word(side).store(quiet, std::memory_order_seq_cst);
    set_armed(side, true);
  }
  /// Nobody waits there. Nothing is known of it from now on.
  void disarm(socket_side side) noexcept {
    set_armed(side, false);
    word(side).store(ready, std::memory_order_seq_cst);
  }

  interest* next_free = nullptr;  // the table's

 private:
  // Else the address of whoever waits.
  static constexpr std::uintptr_t quiet = 0;
  static constexpr std::uintptr_t ready = 1;
  static constexpr std::uintptr_t ended = 2;
  static bool is_waiting(std::uintptr_t word) noexcept { return word > ended; }

  std::atomic<std::uintptr_t>& word(socket_side side) noexcept {
    return words_[static_cast<std::size_t>(side)];
  }
  const std::atomic<std::uintptr_t>& word(socket_side side) const noexcept {
    return words_[static_cast<std::size_t>(side)];
  }

  void set_armed(socket_side side, bool on) noexcept {
    armed_[static_cast<std::size_t>(side)].store(on, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uintptr_t>, 2> words_{};
  std::array<std::atomic<bool>, 2> armed_{};
  std::atomic<bool> urgent_{false};
  std::shared_ptr<direct_port> port_;
};

}  // namespace detail
}  // namespace tandem::inline v0::io
