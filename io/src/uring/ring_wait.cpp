// ring_wait.cpp: submitting and waiting, without being counted as waiting for a disk.
// SPDX-License-Identifier: MIT
#include "uring/ring_wait.hpp"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::io {

namespace {

// Of Linux 6.15; linux/io_uring.h of Debian 12 is older.
constexpr unsigned feature_no_iowait = 1U << 17;  // IORING_FEAT_NO_IOWAIT
constexpr unsigned enter_no_iowait = 1U << 7;     // IORING_ENTER_NO_IOWAIT
constexpr std::size_t signal_set_bytes = 8;       // the kernel's, not the C library's

/// The kernel takes entries in the order of an index, which liburing from 2.3 on fills in once for
/// all, or does without: then new entries are published by the ring's tail alone.
bool is_published_by_tail(const io_uring& ring) noexcept {
  if ((ring.flags & IORING_SETUP_SQPOLL) != 0) return false;
  if (ring.sq.array == nullptr) return true;
  for (unsigned i = 0; i < ring.sq.ring_entries; ++i) {
    if (ring.sq.array[i] != i) return false;
  }
  return true;
}

/// As liburing does it in each of its calls that submit. @returns how many entries are to be taken
unsigned publish_entries(io_uring& ring) noexcept {
  io_uring_sq& queue = ring.sq;
  if (queue.sqe_head != queue.sqe_tail) {
    queue.sqe_head = queue.sqe_tail;
    // The kernel reads it inside the call that follows, on this thread.
    std::atomic_ref(*queue.ktail).store(queue.sqe_tail, std::memory_order_relaxed);
  }
  return queue.sqe_tail - std::atomic_ref(*queue.khead).load(std::memory_order_relaxed);
}

}  // namespace

void ring_wait::set_up(const io_uring& ring, bool is_registered) noexcept {
  if ((ring.features & feature_no_iowait) == 0 || !is_published_by_tail(ring)) return;
  flags_ = IORING_ENTER_GETEVENTS | enter_no_iowait;
  if (is_registered) flags_ |= IORING_ENTER_REGISTERED_RING;
}

int ring_wait::submit_and_wait(io_uring& ring, __kernel_timespec* limit) const noexcept {
  if (flags_ == 0) {
    if (limit == nullptr) return io_uring_submit_and_wait(&ring, 1);
    io_uring_cqe* first = nullptr;
    return io_uring_submit_and_wait_timeout(&ring, &first, 1, limit, nullptr);
  }
  const auto descriptor = static_cast<unsigned>(ring.enter_ring_fd);
  const unsigned count = publish_entries(ring);
  if (limit == nullptr) {
    return io_uring_enter2(descriptor, count, 1, flags_, nullptr, signal_set_bytes);
  }
  io_uring_getevents_arg more{};
  more.sigmask_sz = signal_set_bytes;
  more.ts = reinterpret_cast<std::uintptr_t>(limit);  // NOLINT: as the kernel takes it
  return io_uring_enter2(descriptor, count, 1, flags_ | IORING_ENTER_EXT_ARG,
                         reinterpret_cast<sigset_t*>(&more), sizeof more);  // NOLINT: likewise
}

}  // namespace tandem::inline v0::io
