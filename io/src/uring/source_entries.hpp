// source_entries.hpp: ring entries of multishot sources, and the buffers that they receive into.
// SPDX-License-Identifier: MIT
//
// The kernel tells of a source again and again, and picks the buffers (5.19 and 6.0). Where it is
// older it says so once, by its answer to the first entry; from then on each entry is for one
// receive or accept. Without a ring of buffers they come from a stock of our own, one for each
// receive that waits.
#pragma once

#include <liburing.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <tandem/io/native_descriptor.hpp>
#include <utility>

#include "backend/multishot_source.hpp"
#include "ring/receive_buffers.hpp"

namespace tandem::inline v0::io {

/// The ring's owner's.
class source_entries {
 public:
  source_entries() noexcept = default;
  source_entries(const source_entries&) = delete;
  source_entries& operator=(const source_entries&) = delete;
  /// After the end of the ring: the kernel has the buffers until then.
  ~source_entries() { std::free(buffer_ring_); }

  void use_buffers(io_uring& ring, detail::receive_buffers& buffers) noexcept;
  void provide_buffer(std::uint32_t index) noexcept {
    if (buffer_ring_ != nullptr) {
      add_to_ring(index, 0);
      io_uring_buf_ring_advance(buffer_ring_, 1);
      return;
    }
    buffers_->next(index) = stock_;
    stock_ = index;
  }

  /// All but the mark (user_data).
  void prepare(io_uring_sqe* sqe, multishot_source& source) noexcept {
    const native_descriptor descriptor = source.descriptor();
    if (source.what() == multishot_source::kind::accept) {
      source.backend_repeats = multishot_accept_;
      if (multishot_accept_) {
        io_uring_prep_multishot_accept(sqe, descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      } else {
        io_uring_prep_accept(sqe, descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      }
      return;
    }
    if (buffer_ring_ == nullptr) {
      prepare_from_stock(sqe, source);
      return;
    }
    source.backend_repeats = multishot_;
    if (multishot_) {
      io_uring_prep_recv_multishot(sqe, descriptor, nullptr, 0, 0);
    } else {
      io_uring_prep_recv(sqe, descriptor, nullptr, 0, 0);
    }
    sqe->flags = static_cast<std::uint8_t>(sqe->flags | IOSQE_BUFFER_SELECT);
    sqe->buf_group = buffer_group;
  }

  /// Tells the source, which may be gone after that. Where its multishot was refused it hears that it
  /// was cancelled, and asks again, unless it is being held back. So does each of those that were
  /// armed before the first refusal was read.
  void received(multishot_source& source, const io_uring_cqe& cqe) noexcept {
    std::int32_t outcome = cqe.res;
    bool armed = (cqe.flags & IORING_CQE_F_MORE) != 0;
    std::uint32_t buffer = none;
    if (source.what() == multishot_source::kind::accept) {
      if (outcome == -EINVAL && source.backend_repeats && listens(source.descriptor())) {
        multishot_accept_ = false;  // before 5.19: one at a time
        outcome = -ECANCELED;
      }
      source.received(outcome, none, armed);
      return;
    }
    if (buffer_ring_ == nullptr) {
      buffer = std::exchange(source.backend_buffer, none);
      if (buffer == none) outcome = -ENOBUFS;
      armed = false;
    } else if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
      buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    } else if (outcome == -EINVAL && source.backend_repeats) {
      multishot_ = false;  // before 6.0: one receive at a time, into a buffer that the kernel picks
      outcome = -ECANCELED;
    }
    if (outcome <= 0 && buffer != none) provide_buffer(std::exchange(buffer, none));
    source.received(outcome, buffer, armed);
  }

 private:
  static constexpr std::uint32_t none = detail::receive_buffers::none;
  static constexpr unsigned short buffer_group = 0;

  static bool listens(native_descriptor descriptor) noexcept {
    int answer = 0;
    socklen_t bytes = sizeof answer;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &bytes) == 0 && answer != 0;
  }

  void prepare_from_stock(io_uring_sqe* sqe, multishot_source& source) noexcept {
    const std::uint32_t index = stock_;
    if (index == none) {
      io_uring_prep_nop(sqe);  // as the kernel answers it: by a completion
      return;
    }
    stock_ = buffers_->next(index);
    source.backend_buffer = index;
    io_uring_prep_recv(sqe, source.descriptor(), buffers_->data(index), buffers_->bytes_each(), 0);
  }

  void add_to_ring(std::uint32_t index, int offset) noexcept {
    io_uring_buf_ring_add(buffer_ring_, buffers_->data(index), buffers_->bytes_each(),
                          static_cast<unsigned short>(index),
                          io_uring_buf_ring_mask(buffers_->at_once()), offset);
  }
  void register_buffer_ring(io_uring& ring) noexcept;

  bool multishot_ = true;         // until the kernel says otherwise
  bool multishot_accept_ = true;  // likewise
  detail::receive_buffers* buffers_ = nullptr;
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::uint32_t stock_ = none;  // without a ring: a chain of free ones
};

}  // namespace tandem::inline v0::io
