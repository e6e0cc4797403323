// files.hpp: what files ask the operating system for, beside their operations (detail/file_request.hpp).
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits for a disk. What may fail answers with a std::error_code; the others
// are hints, or have a usual answer for what the system does not tell. Nothing is thrown, and no
// caller looks at errno.
//
// pre of all that take a file: it is open, and stays so during the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/file_access.hpp>
#include <tandem/io/file_status.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/open_options.hpp>

namespace tandem::inline v0::io::platform {

/// As the system's own open takes them; also for file_request::aim_at_path().
int open_flags(const open_options& options) noexcept;
/// pre: the file has just been opened with open_flags(options); no operation is under way on it
/// post: it blocks, as others expect of it
void settle_opened(native_descriptor file, const open_options& options) noexcept;
/// Makes a foreign descriptor one like ours. Any number will do; no operation is under way on it.
///
/// @param is_direct  set if there was no error: whether it goes past the page cache
/// post: it is not inherited across exec, and blocks
[[nodiscard]] std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept;

class watch_calls;

/// Where the packets of a pool's files come.
class file_port {
 public:
  /// Lower numbers are states of a file that has joined none.
  static constexpr std::uint64_t first_id = 16;

  native_descriptor handle;
  std::uint64_t key;
  std::uint64_t id;      // no other port of this process had it before, whatever its handle
  watch_calls* watches;  // whose packets come there, too
};

/// files/port. Who carries out a transfer.
enum class file_way : std::uint8_t {
  port,      ///< the first completion thread, by that port
  blocking,  ///< a thread of blocking()
  refused,   ///< nobody: somebody else's port has the file
};
/// Any thread, several at once. The first call for a file has it join the port, if it can.
/// pre: it is a transfer of bytes, of an open file
/// @param joined  the file's: 0 at first, later which port it has joined
file_way way_of(detail::file_request& request, std::atomic<std::uint64_t>& joined,
                const file_port& port) noexcept;
/// pre: it has joined a port, and no operation is under way on it
/// post: its next owner may have it join another one, where the system knows how
void leave_port(native_descriptor file) noexcept;
/// What to do where way_of() refuses, for the text of the failure; it is told as EBUSY.
/// @returns  nothing for all other failures
std::string_view cure_of(const std::error_code& failure) noexcept;

/// On a file system without a disk: a transfer waits for nothing, but knows no "do not wait".
bool has_no_disk(native_descriptor file) noexcept;
/// Of buffers, offsets and sizes; as the file system says, else 4096.
std::size_t direct_io_alignment_of(native_descriptor file) noexcept;
/// What the system remembers, without asking a disk or a server; 0: nothing.
std::size_t size_hint(native_descriptor file) noexcept;

/// For file_request::say() of file_action::advise, as the system has it.
int advice_flag(file_access how) noexcept;
/// Likewise of file_action::lock.
enum lock_flag : int { unlocks, locks_shared, locks_exclusive };
/// Of one that was locked so. No disk is waited for, but a network's server may be.
void unlock(native_descriptor file, std::uint64_t offset, std::uint64_t bytes) noexcept;

/// Room for the answer to file_action::status, aligned to 8 bytes: file_status_awaiter has it.
inline constexpr std::size_t status_bytes = 256;
/// pre: `answer` is such room, and that operation has filled it in
file_status status_from(const void* answer) noexcept;

}  // namespace tandem::inline v0::io::platform
