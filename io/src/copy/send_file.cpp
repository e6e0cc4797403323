// send_file.cpp: a part of a file to a connection, by the system where it can, else by a buffer.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/detail/copy_awaiters.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/socket_stream.hpp>
#include <utility>

#include "copy/file_use.hpp"

namespace tandem::inline v0::io {

namespace detail {

moved_part send_piece_awaiter::moved() const noexcept {
  return {static_cast<std::size_t>(operation_.outcome()), file_.why};
}

moved_part send_piece_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return moved();
}

result<moved_part> send_piece_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return moved();
}

}  // namespace detail

namespace {

using detail::obstacle;

constexpr std::size_t send_buffer_bytes = std::size_t{256} << 10;

/// A part of a range of a file.
struct file_part {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::size_t at_most(std::size_t limit) const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, limit));
  }
};

/// copy/read_piece. Reads some of it, which may wait for the disk, and sends that.
///
/// @returns  bytes sent; 0 at the end of the file
/// @throws   what kept it from sending the first byte
task<std::size_t> send_by_buffer(socket_stream& to, file& from, file_part part,
                                 aligned_buffer& buffer) {
  if (buffer.size() == 0) buffer = aligned_buffer(send_buffer_bytes, from.direct_io_alignment());
  std::size_t wanted = part.at_most(buffer.size());
  if (from.handle().is_direct()) {  // which reads whole blocks only
    const std::size_t block = buffer.alignment();
    wanted = (wanted + block - 1) / block * block;
  }
  const std::size_t came = co_await from.read_at(buffer.bytes().first(wanted), part.offset);
  const std::span<const std::byte> bytes(buffer.data(), part.at_most(came));
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    if (sent == 0) {
      sent = co_await to.write(bytes);
      continue;
    }
    const auto more = co_await as_result(to.write(bytes.subspan(sent)));
    if (!more) break;  // the next call tells
    sent += more.value();
  }
  co_return sent;
}

}  // namespace

task<std::uint64_t> socket_stream::send_file(file& from, std::uint64_t offset,
                                             std::uint64_t bytes) {
  copy_options part;
  part.from_offset = offset;
  part.most_bytes = bytes;
  return detail::send_part(from, *this, part);
}

task<std::uint64_t> socket_stream::send_file_some(file& from, std::uint64_t offset,
                                                  std::uint64_t bytes) {
  const detail::file_use reading(from.handle());
  // What is read past the page cache is the disk's.
  obstacle met = from.handle().is_direct() ? obstacle::system : obstacle::none;
  aligned_buffer buffer;
  std::uint64_t sent = 0;
  while (sent < bytes) {
    const file_part part{offset + sent, bytes - sent};
    std::size_t moved = 0;
    if (met != obstacle::system) {
      detail::send_piece_awaiter piece(socket_, from.handle(), part.offset, part.at_most(SIZE_MAX));
      if (sent == 0) {
        const detail::moved_part first = co_await std::move(piece);
        moved = first.bytes;
        met = first.met;
      } else {
        const auto more = co_await as_result(std::move(piece));
        if (!more) break;  // the next call tells
        moved = more.value().bytes;
        met = more.value().met;
      }
    }
    if (met != obstacle::none) {
      if (sent == 0) {
        moved = co_await send_by_buffer(*this, from, part, buffer);
      } else {
        const auto more = co_await as_result(send_by_buffer(*this, from, part, buffer));
        if (!more) break;
        moved = more.value();
      }
    }
    if (moved == 0) break;
    sent += moved;
  }
  co_return sent;
}

task<std::uint64_t> detail::send_part(file& from, socket_stream& to, copy_options options) {
  std::uint64_t copied = 0;
  while (copied < options.most_bytes) {
    const std::uint64_t sent =
        co_await to.send_file_some(from, options.from_offset + copied, options.most_bytes - copied);
    if (sent == 0) break;
    copied += sent;
    if (options.progress != nullptr) *options.progress += sent;
  }
  co_return copied;
}

}  // namespace tandem::inline v0::io
