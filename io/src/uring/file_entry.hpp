// file_entry.hpp: ring entries of operations on files.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/other_end.hpp>

#include "platform/linux/path_flags.hpp"
#include "platform/unix/call_limit.hpp"
#include "uring/buffer_table.hpp"

namespace tandem::inline v0::io {

inline void prepare_transfer(io_uring_sqe* sqe, detail::file_request& request) noexcept {
  const std::span<detail::segment> list = request.segments();
  const native_descriptor descriptor = request.descriptor();
  const bool reads = request.is_reading();
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

/// registered/look. As the plain transfer that it is where the ring does not know the buffer.
inline void prepare_registered(io_uring_sqe* sqe, detail::file_request& request,
                               buffer_table& buffers) noexcept {
  prepare_transfer(sqe, request);
  if (!buffers.knows(request.slot())) return;
  sqe->opcode = request.is_reading() ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED;
  sqe->buf_index = static_cast<std::uint16_t>(request.slot());
}

inline void prepare_splice(io_uring_sqe* sqe, const detail::file_request& request) noexcept {
  constexpr auto no_offset = ~std::int64_t{0};  // a pipe has none
  constexpr unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
  const detail::other_end& pipe = request.other();
  const auto bytes = static_cast<unsigned>(platform::capped(pipe.bytes));
  const auto at = static_cast<std::int64_t>(request.offset());
  if (request.action() == detail::file_action::fill_pipe) {
    io_uring_prep_splice(sqe, request.descriptor(), at, pipe.descriptor, no_offset, bytes, flags);
  } else {
    io_uring_prep_splice(sqe, pipe.descriptor, no_offset, request.descriptor(), at, bytes, flags);
  }
}

/// Of the kernel's headers of 6.9; liburing 2.3 has none of that name.
inline constexpr int truncate_opcode = 55;

/// Which opcode the kernel has to have for it. pre: it is not for blocking() alone
inline int opcode_of(detail::file_action what) noexcept {
  using action = detail::file_action;
  switch (what) {
    case action::read:
    case action::read_registered: return IORING_OP_READ;
    case action::write:
    case action::write_registered:
    case action::append: return IORING_OP_WRITE;
    case action::sync:
    case action::sync_data: return IORING_OP_FSYNC;
    case action::open: return IORING_OP_OPENAT;
    case action::status:
    case action::status_at: return IORING_OP_STATX;
    case action::truncate: return truncate_opcode;
    case action::allocate: return IORING_OP_FALLOCATE;
    case action::advise: return IORING_OP_FADVISE;
    case action::fill_pipe:
    case action::drain_pipe: return IORING_OP_SPLICE;
    case action::make_directory: return IORING_OP_MKDIRAT;
    case action::remove: return IORING_OP_UNLINKAT;
    case action::rename: return IORING_OP_RENAMEAT;
    case action::link: return IORING_OP_LINKAT;
    case action::symlink: return IORING_OP_SYMLINKAT;
    default: return IORING_OP_NOP;
  }
}

/// pre: `request` is of a path, and not for blocking() alone
inline void prepare_path_entry(io_uring_sqe* sqe, detail::file_request& request) noexcept {
  using action = detail::file_action;
  const detail::path_request& what = request.what();
  const int folder = platform::folder_of(request.descriptor());
  const int other = platform::folder_of(what.other_folder);
  switch (request.action()) {
    case action::status_at:
      io_uring_prep_statx(sqe, folder, what.path, platform::status_flags_of(request.flags()),
                          platform::status_mask, static_cast<struct ::statx*>(what.answer));
      break;
    case action::make_directory:
      io_uring_prep_mkdirat(sqe, folder, what.path, request.permissions());
      break;
    case action::remove:
      io_uring_prep_unlinkat(sqe, folder, what.path, platform::remove_flags_of(request.flags()));
      break;
    case action::rename:
      io_uring_prep_renameat(sqe, folder, what.path, other, what.other_path,
                             platform::rename_flags_of(request.flags()));
      break;
    case action::link:
      io_uring_prep_linkat(sqe, folder, what.path, other, what.other_path, 0);
      break;
    case action::symlink: io_uring_prep_symlinkat(sqe, what.other_path, folder, what.path); break;
    default: io_uring_prep_nop(sqe); break;
  }
}

/// pre: rings have an entry for it (uring_backend::file_actions)
inline void prepare_file_entry(io_uring_sqe* sqe, detail::file_request& request,
                               buffer_table& buffers) noexcept {
  using action = detail::file_action;
  switch (request.action()) {
    case action::read:
    case action::write:
    case action::append: prepare_transfer(sqe, request); break;
    case action::read_registered:
    case action::write_registered: prepare_registered(sqe, request, buffers); break;
    case action::sync: io_uring_prep_fsync(sqe, request.descriptor(), 0); break;
    case action::sync_data:
      io_uring_prep_fsync(sqe, request.descriptor(), IORING_FSYNC_DATASYNC);
      break;
    case action::open:
      io_uring_prep_openat(sqe, platform::folder_of(request.descriptor()), request.path(),
                           request.flags(), request.permissions());
      break;
    case action::status:
      io_uring_prep_statx(sqe, request.descriptor(), "", AT_EMPTY_PATH, platform::status_mask,
                          static_cast<struct ::statx*>(request.data()));
      break;
    case action::allocate:
      io_uring_prep_fallocate(sqe, request.descriptor(), 0, static_cast<off_t>(request.offset()),
                              static_cast<off_t>(request.bytes()));
      break;
    case action::fill_pipe:
    case action::drain_pipe: prepare_splice(sqe, request); break;
    case action::truncate:
      io_uring_prep_rw(truncate_opcode, sqe, request.descriptor(), nullptr, 0, request.offset());
      break;
    case action::advise:
      io_uring_prep_fadvise(sqe, request.descriptor(), request.offset(),
                            static_cast<off_t>(request.bytes()), request.flags());
      break;
    default: prepare_path_entry(sqe, request); break;
  }
}

}  // namespace tandem::inline v0::io
