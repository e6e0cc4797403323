// receiver.hpp: what comes in on one connection between the user's calls of receive().
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <tandem/io/leased_buffer.hpp>

#include "receive/multishot.hpp"
#include "ring/buffer_stock.hpp"

namespace tandem::inline v0::io::detail {

class receiver final : public multishot, public hungry_receiver {
 public:
  receiver(completion_thread::impl& thread, native_descriptor descriptor) noexcept;

  /// receiving/take. The user's strand. @returns whether there is an outcome: a buffer (put into
  /// `out`), or an
  ///      end
  ///      (as received())
  bool take(leased_buffer& out, std::int32_t& end) noexcept;

  // The owner.
  void received(std::int32_t outcome, std::uint32_t buffer, bool armed) noexcept override;
  // hungry_receiver; receiving/hold_back. Without memory it is told as a failure, since whoever
  // holds the others may be waiting for this one.
  void go_on() noexcept override;
  void refuse() noexcept override;
  bool is_of(const tandem::executor& thread) const noexcept override { return owner() == &thread; }

 private:
  bool has_arrived() const noexcept override;
  bool prepare_to_arm(buffer_stock& here) noexcept override;
  bool give_up() noexcept override;
  void drop_queue() noexcept override;

  receive_buffers* buffers_ =
      nullptr;  // moving/old_buffers: of the engine that armed it; what is queued lies there
  std::atomic<std::uint32_t> arrived_;  // receiving/arrive: a chain, newest first
  std::uint32_t ready_;                 // the user's: a chain, oldest first
  bool starving_ = false;               // owner
};

}  // namespace tandem::inline v0::io::detail
