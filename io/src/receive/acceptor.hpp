// acceptor.hpp: the connections that were accepted between the user's calls of incoming().
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "receive/multishot.hpp"

namespace tandem::inline v0::io::detail {

class acceptor final : public multishot {
 public:
  acceptor(completion_thread::impl& thread, native_descriptor descriptor) noexcept;
  ~acceptor() override;

  /// receiving/take. The user's strand.
  ///
  /// @returns  whether there is an outcome: a descriptor, which is put into `out` and the caller's,
  ///           or a failure, which is told once
  bool take(native_descriptor& out, std::int32_t& failure) noexcept;

  /// The owner. @param outcome  a descriptor, or an error number
  void received(std::int32_t outcome, std::uint32_t buffer, bool armed) noexcept override;

 private:
  class accepted {
   public:
    native_descriptor descriptor = no_descriptor;
    accepted* next = nullptr;
    bool is_kept = false;
    std::atomic<bool> is_used{false};  // of a kept one: set by the owner, cleared by the strand
  };
  /// More than the queue holds before the kernel is asked to hold back.
  static constexpr std::size_t kept_places = 16;

  bool has_arrived() const noexcept override;
  void drop_queue() noexcept override;
  /// The owner. @returns null if the kept ones are in use, and there is no memory for another one
  accepted* place_for(native_descriptor descriptor) noexcept;
  static void give_back(accepted& place) noexcept;
  void nothing_queued(std::int32_t outcome, bool armed, bool lost) noexcept;

  std::atomic<accepted*> arrived_{nullptr};  // receiving/arrive: a chain, newest first
  accepted* ready_ = nullptr;                // the user's: a chain, oldest first
  bool has_lost_ = false;  // owner: closed one for want of memory; told when it is not armed
  std::array<accepted, kept_places> kept_;
};

}  // namespace tandem::inline v0::io::detail
