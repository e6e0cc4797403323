// copy.cpp: one file into another.
// SPDX-License-Identifier: MIT
#include <tandem/io/copy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/detail/copy_awaiters.hpp>
#include <utility>

#include "copy/file_use.hpp"

namespace tandem::inline v0::io {

namespace detail {

moved_part copy_range_awaiter::await_resume() {
  const std::error_code failure = end();
  if (failure && request_.done() == 0) throw_failure(failure);
  return {request_.done(), to_.why};
}

result<moved_part> copy_range_awaiter::await_resume_result() {
  const std::error_code failure = end();
  if (failure && request_.done() == 0) return failure;
  return moved_part(request_.done(), to_.why);
}

}  // namespace detail

namespace {

/// What one call of blocking() copies: after each of them progress is told, and others may have the
/// thread. A stop is heard of sooner (files/took).
constexpr std::uint64_t most_at_once = std::uint64_t{64} << 20;
constexpr std::size_t copy_buffer_bytes = std::size_t{1} << 20;

task<std::size_t> copy_by_buffer(file& from, std::uint64_t from_offset, file& to,
                                 std::uint64_t to_offset, std::uint64_t most,
                                 aligned_buffer& buffer) {
  if (buffer.size() == 0) {
    buffer = aligned_buffer(copy_buffer_bytes,
                            std::max(from.direct_io_alignment(), to.direct_io_alignment()));
  }
  const std::span<std::byte> room = buffer.bytes();
  const bool is_whole = from.handle().is_direct() || most >= room.size();
  const std::size_t wanted = is_whole ? room.size() : static_cast<std::size_t>(most);
  const std::size_t came = co_await from.read_at(room.first(wanted), from_offset);
  const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(came, most));
  co_return co_await to.write_at(room.first(some), to_offset);
}

bool is_one_file(const file_status& one, const file_status& other) noexcept {
  return one.kind == file_kind::regular && other.kind == file_kind::regular &&
         one.device == other.device && one.inode == other.inode;
}

/// copy/itself. @returns  how much is to be copied at most
task<std::uint64_t> most_of(file& from, file& to, const copy_options& options) {
  const file_status source = co_await from.status();
  if (!is_one_file(source, co_await to.status())) co_return options.most_bytes;
  const std::uint64_t there = source.size - std::min(source.size, options.from_offset);
  const std::uint64_t most = std::min(there, options.most_bytes);
  const auto [first, second] = std::minmax(options.from_offset, options.to_offset);
  if (second - first < most) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "copy \"" + from.path() + "\" into itself, where its parts overlap");
  }
  co_return most;
}

}  // namespace

task<std::uint64_t> copy(file& from, file& to, copy_options options) {
  const detail::file_use reading(from.handle());
  const detail::file_use writing(to.handle());
  const std::uint64_t most = co_await most_of(from, to, options);
  bool has_way = true;
  aligned_buffer buffer;
  std::uint64_t copied = 0;
  while (copied < most) {
    const std::uint64_t left = most - copied;
    const std::uint64_t at = options.from_offset + copied;
    const std::uint64_t into = options.to_offset + copied;
    std::size_t moved = 0;
    if (has_way) {
      detail::copy_range_awaiter part(from.handle(), at,
                                      static_cast<std::size_t>(std::min(left, most_at_once)),
                                      to.handle(), into);
      const detail::moved_part done = co_await std::move(part);
      moved = done.bytes;
      // Of a file of /proc the system copies nothing, though there is something to read.
      has_way = done.met == detail::obstacle::none && (moved != 0 || copied != 0);
    }
    if (moved == 0 && !has_way) moved = co_await copy_by_buffer(from, at, to, into, left, buffer);
    if (moved == 0) break;
    copied += moved;
    if (options.progress != nullptr) *options.progress += moved;
  }
  co_return copied;
}

}  // namespace tandem::inline v0::io
