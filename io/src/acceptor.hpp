// acceptor.hpp: the connections that were accepted between the user's calls of incoming().
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "multishot.hpp"

namespace tandem::inline v0::io::detail {

class acceptor final : public multishot {
 public:
  acceptor(completion_thread::impl& thread, int descriptor) noexcept;
  ~acceptor() override;

  /// M2. The user's strand. @returns whether there is an outcome: a descriptor (put into `out`, the
  ///      caller's), or a failure, which is told once
  bool take(int& out, std::int32_t& failure) noexcept;

  /// The owner. @param outcome  a descriptor, or an error number
  void received(std::int32_t outcome, std::uint32_t buffer, bool armed) noexcept override;

 private:
  class accepted {
   public:
    explicit accepted(int of) noexcept : descriptor(of) {}
    int descriptor;
    accepted* next = nullptr;
  };

  bool has_arrived() const noexcept override;
  void drop_queue() noexcept override;

  std::atomic<accepted*> arrived_{nullptr};  // M1: a chain, newest first
  accepted* ready_ = nullptr;                // the user's: a chain, oldest first
};

}  // namespace tandem::inline v0::io::detail
