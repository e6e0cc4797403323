// file_calls.hpp: what a file_request asks Windows for; all of it waits.
// SPDX-License-Identifier: MIT
//
// A failure is an outcome: a negative error number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// As an offset: wherever the end is when it is written.
inline constexpr std::uint64_t end_of_file = ~std::uint64_t{0};

/// Bits of open_flags(), which no system has: they say what open_options do.
enum open_flag : int {
  opens_to_read = 1,
  opens_to_write = 2,
  creates = 4,
  is_exclusive = 8,
  truncates = 16,
  appends = 32,
  is_direct_flag = 64,
  opens_directory = 128,
  refuses_link = 256,
  is_unnamed = 512,
};

/// Bytes, 0 at the end of the file; fewer than asked for only there.
std::int32_t transfer(bool reads, native_descriptor file, void* data, std::size_t bytes,
                      std::uint64_t offset) noexcept;
/// pre: `path` is UTF-8. @returns  a descriptor
std::int32_t open_file(const char* path, int flags, unsigned permissions) noexcept;
/// @param answer  status_bytes of room
std::int32_t ask_status(native_descriptor file, void* answer) noexcept;
std::int32_t set_size(native_descriptor file, std::uint64_t bytes) noexcept;
/// Of an open file: whether anybody may write.
std::int32_t set_permissions(native_descriptor file, unsigned permissions) noexcept;
/// Without waiting for another lock (EAGAIN). @param bytes  0: to the end, wherever that will be
/// @param how    a lock_flag
std::int32_t set_lock(native_descriptor file, std::uint64_t offset, std::uint64_t bytes,
                      int how) noexcept;
/// Room on the disk, and a size of at least that.
std::int32_t allocate(native_descriptor file, std::uint64_t bytes) noexcept;

}  // namespace tandem::inline v0::io::platform
