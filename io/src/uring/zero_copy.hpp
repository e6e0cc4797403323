// zero_copy.hpp: sends from memory that is lent to the kernel until a second completion.
// SPDX-License-Identifier: MIT
//
// Protocol lending: README.md of this room.
#pragma once

#include <liburing.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <tandem/io/detail/operation.hpp>

#include "platform/two_ends.hpp"
#include "platform/unix/call_limit.hpp"

namespace tandem::inline v0::io {

/// What such a send keeps in its operation's room.
class lent_send {
 public:
  bool has_outcome = false;  ///< lending/sent: what is missing is the notification
  bool is_reset = false;     ///< lending/stop
  std::int32_t outcome = 0;

  static lent_send& of(detail::operation& operation) noexcept {
    return *std::launder(reinterpret_cast<lent_send*>(operation.backend_room()));  // NOLINT
  }
};

inline void prepare_zero_copy(io_uring_sqe* sqe, detail::operation& operation) noexcept {
  static_assert(sizeof(lent_send) <= detail::operation::backend_bytes);
  ::new (operation.backend_room()) lent_send;
  const std::size_t bytes = platform::capped(operation.bytes());
  if (operation.sends_a_copy) {
    io_uring_prep_send(sqe, operation.descriptor(), operation.buffer(), bytes, MSG_NOSIGNAL);
  } else {
    // All of it by one entry, so that the peer is waited for once.
    io_uring_prep_send_zc(sqe, operation.descriptor(), operation.buffer(), bytes,
                          MSG_NOSIGNAL | MSG_WAITALL, 0);
  }
}

/// Of one ring.
class zero_copies {
 public:
  /// The notification is to tell whether there was a copy after all.
  void mark(io_uring_sqe& sqe, const detail::operation& operation) const noexcept {
    if (!operation.sends_a_copy && tells_copies_) sqe.ioprio |= report_usage;
  }

  /// lending/stop. By a stop, after its cancel has been submitted.
  static void stop(detail::operation& operation) noexcept {
    lent_send& sent = lent_send::of(operation);
    // Of a send that took nothing nothing is lent either; what was written before it is the peer's.
    if (!sent.has_outcome || sent.outcome <= 0 || sent.is_reset) return;
    sent.is_reset = true;
    platform::reset_connection(operation.descriptor());
  }

  /// @returns  whether the operation has its outcome
  bool ended(detail::operation& operation, const io_uring_cqe& cqe) noexcept {
    lent_send& sent = lent_send::of(operation);
    if ((cqe.flags & IORING_CQE_F_NOTIF) != 0) {  // lending/back
      if ((static_cast<std::uint32_t>(cqe.res) & was_copied) != 0) {
        operation.sends_a_copy = operation.is_copied_anyway = true;
      }
      operation.complete(sent.is_reset ? -ECANCELED : sent.outcome);
      return true;
    }
    const std::int32_t outcome =
        operation.sends_a_copy ? cqe.res : without_refusal(operation, cqe.res);
    if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
      operation.complete(outcome);
      return true;
    }
    sent.outcome = outcome;  // lending/sent
    sent.has_outcome = true;
    if (operation.cancel_seen) stop(operation);
    return false;
  }

 private:
  // By number: liburing 2.3 does not name them (Linux 6.2).
  static constexpr std::uint16_t report_usage = 1U << 3U;  // IORING_SEND_ZC_REPORT_USAGE
  static constexpr std::uint32_t was_copied = 1U << 31U;   // IORING_NOTIF_USAGE_ZC_COPIED

  /// lending/refused. What the kernel does not do, or has no memory for, is sent by a copy: the
  /// operation begins again, as after an interruption.
  std::int32_t without_refusal(detail::operation& operation, std::int32_t outcome) noexcept {
    switch (outcome) {
      case -EINVAL:
        if (tells_copies_) {
          tells_copies_ = false;
          return -EINTR;
        }
        break;
      case -EOPNOTSUPP:
      case -ENOMEM:
      case -ENOBUFS: break;
      default: return outcome;
    }
    operation.sends_a_copy = operation.is_copied_anyway = true;
    return -EINTR;
  }

  bool tells_copies_ = true;
};

}  // namespace tandem::inline v0::io
