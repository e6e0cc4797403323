// file_entry.hpp: ring entries of operations on files.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <tandem/io/detail/file_request.hpp>

#include "platform/unix/call_limit.hpp"

namespace tandem::inline v0::io {

inline void prepare_transfer(io_uring_sqe* sqe, detail::file_request& request) noexcept {
  const std::span<detail::segment> list = request.segments();
  const native_descriptor descriptor = request.descriptor();
  const bool reads = request.action() == detail::file_action::read;
  if (list.size() == 1) {
    const auto bytes = static_cast<unsigned>(platform::capped(list[0].bytes));
    if (reads) {
      io_uring_prep_read(sqe, descriptor, list[0].data, bytes, request.offset());
    } else {
      io_uring_prep_write(sqe, descriptor, list[0].data, bytes, request.offset());
    }
  } else {
    // segment is laid out as iovec (message.hpp).
    const auto* const first = reinterpret_cast<const iovec*>(list.data());  // NOLINT
    const auto count = static_cast<unsigned>(list.size());
    if (reads) {
      io_uring_prep_readv(sqe, descriptor, first, count, request.offset());
    } else {
      io_uring_prep_writev(sqe, descriptor, first, count, request.offset());
    }
  }
  const bool appends = request.action() == detail::file_action::append;
  sqe->rw_flags = request.write_flags();
  // To a thread of the kernel at once. What is appended is one piece, so it is not begun without
  // waiting and ended elsewhere; and a long copy would keep this thread from its other operations.
  if (appends || (!request.is_direct() && request.is_long())) sqe->flags |= IOSQE_ASYNC;
}

/// pre: neither truncate, which rings have no entry for, nor open_beneath.
inline void prepare_file_entry(io_uring_sqe* sqe, detail::file_request& request) noexcept {
  using action = detail::file_action;
  switch (request.action()) {
    case action::read:
    case action::write:
    case action::append: prepare_transfer(sqe, request); break;
    case action::sync: io_uring_prep_fsync(sqe, request.descriptor(), 0); break;
    case action::sync_data:
      io_uring_prep_fsync(sqe, request.descriptor(), IORING_FSYNC_DATASYNC);
      break;
    case action::open:
      io_uring_prep_openat(sqe, AT_FDCWD, request.path(), request.flags(), request.permissions());
      break;
    case action::status:
      io_uring_prep_statx(sqe, request.descriptor(), "", AT_EMPTY_PATH, STATX_BASIC_STATS,
                          static_cast<struct ::statx*>(request.data()));
      break;
    case action::allocate:
      io_uring_prep_fallocate(sqe, request.descriptor(), 0, static_cast<off_t>(request.offset()),
                              static_cast<off_t>(request.bytes()));
      break;
    case action::truncate:
    case action::open_beneath: io_uring_prep_nop(sqe); break;
  }
}

}  // namespace tandem::inline v0::io
