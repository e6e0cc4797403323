// file_request.hpp: what is asked of a file, and how much of it is done.
// SPDX-License-Identifier: MIT
//
// It lies in the awaiter, and is worked on by one thread at a time: the task's own (attempt), then
// a ring or a thread of blocking() (files in io/src/file/README.md). A transfer goes on until all
// is done, the end or an error: so a read is short at the end of the file only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/detail/file_action.hpp>
#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/detail/path_request.hpp>
#include <tandem/io/detail/segment_window.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::detail {

struct other_end;

class TANDEM_IO_API file_request {
 public:
  /// What one call transfers without blocking, or inside a ring: more is left to other threads,
  /// since it would keep this one busy for too long.
  static constexpr std::size_t inline_bytes = std::size_t{1} << 20;

  /// @param data  the buffer; of open: unused, see aim_at_path(); of status: room for the answer
  file_request(file_action action, void* data, std::size_t bytes, std::uint64_t offset) noexcept
      : action_(action), one_{data, bytes}, offset_(offset) {}

  /// registered/look. For a transfer of a part of a registered_buffer.
  void use_slot(int slot) noexcept { flags_ = slot; }

  /// All as late as the await begins: awaiters may be moved before.
  void aim(const file_handle& target) noexcept {
    descriptor_ = target.descriptor();
    is_direct_ = target.is_direct();
    is_in_memory_ = target.is_in_memory();
  }
  void aim_at(segment_window& window) noexcept {
    window.fill();
    window_ = &window;
  }
  void aim_at(other_end& other) noexcept { one_.data = &other; }
  void aim_at_path(const char* path, int flags, unsigned permissions) noexcept {
    one_.data = const_cast<char*>(path);  // NOLINT: the kernel only reads it
    say(flags, permissions);
  }
  void aim_at(path_request& what, int flags, unsigned permissions) noexcept {
    one_.data = &what;
    say(flags, permissions);
  }
  /// What an action on an open file needs to know beside offset and bytes.
  void say(int flags, unsigned permissions) noexcept {
    flags_ = flags;
    permissions_ = permissions;
  }

  /// files/try. Does what can be done without waiting. @returns whether it has ended
  bool attempt() noexcept;
  /// files/blocking. Does all of it, and waits.
  void perform() noexcept;
  /// files/took. What a call or a ring has answered. @returns whether more is left to ask for
  bool took(std::int32_t outcome) noexcept;
  void fail(int error) noexcept { error_ = error; }

  file_action action() const noexcept { return action_; }
  bool is_transfer() const noexcept { return are_transfers.has(action_); }
  bool is_reading() const noexcept { return are_reading.has(action_); }
  bool is_opening() const noexcept { return are_opening.has(action_); }
  bool is_direct() const noexcept { return is_direct_; }
  bool is_vectored() const noexcept { return window_ != nullptr; }
  native_descriptor descriptor() const noexcept { return descriptor_; }
  /// What the next call transfers.
  std::span<segment> segments() noexcept {
    return window_ != nullptr ? window_->segments() : std::span(&one_, one_.bytes != 0 ? 1U : 0U);
  }
  void* data() const noexcept { return one_.data; }
  std::size_t bytes() const noexcept { return one_.bytes; }
  other_end& other() const noexcept { return *static_cast<other_end*>(one_.data); }
  const char* path() const noexcept { return static_cast<const char*>(one_.data); }
  /// Of an action on a path, but for open and open_beneath.
  path_request& what() const noexcept { return *static_cast<path_request*>(one_.data); }
  int flags() const noexcept { return flags_; }
  int slot() const noexcept { return flags_; }
  unsigned permissions() const noexcept { return permissions_; }
  std::uint64_t offset() const noexcept { return offset_; }
  /// Whether the next call would keep a thread busy for too long.
  bool is_long() noexcept;
  /// RWF_APPEND or 0.
  int write_flags() const noexcept;

  /// Bytes, or the descriptor that was opened.
  std::size_t done() const noexcept { return done_; }
  /// 0 or an error number.
  int error() const noexcept { return error_; }
  bool is_complete() noexcept { return segments().empty(); }

 private:
  /// Of a call that must not wait.
  int attempt_flags() const noexcept;
  /// Whether it is one buffer of no great length, and nothing speaks against a first try.
  bool may_be_quick() const noexcept {
    return are_at_offsets.has(action_) && window_ == nullptr && one_.bytes - 1 < inline_bytes &&
           !is_direct_ && is_descriptor(descriptor_) &&
           offset_ <= static_cast<std::uint64_t>(INT64_MAX);
  }
  /// The part of took() that is the same on every system.
  bool advance(std::int32_t outcome) noexcept;
  std::int32_t call(int flags) noexcept;
  std::int32_t command() noexcept;

  file_action action_;
  bool is_direct_ = false;
  bool is_in_memory_ = false;
  bool has_no_end_ = false;  // a device to which appending is writing
  native_descriptor descriptor_ = no_descriptor;
  int error_ = 0;
  int flags_ = 0;
  unsigned permissions_ = 0;
  segment one_;
  segment_window* window_ = nullptr;
  std::uint64_t offset_;
  std::size_t done_ = 0;
};

}  // namespace tandem::inline v0::io::detail
