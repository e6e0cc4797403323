// watched_path.hpp: one directory or file that is watched, and what changes of it are called.
// SPDX-License-Identifier: MIT
//
// Windows tells of directories only: a file is watched in its own. What is MODIFIED it does not
// say, so contents and attributes are asked for by two calls, each on a handle of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tandem/io/file_change.hpp>
#include <utility>

#include "platform/windows/change_queue.hpp"
#include "platform/windows/native_calls.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

class watched_path;

/// A directory's handle and the call on it. It lies still until the call's last packet has come.
class watch_call : public OVERLAPPED {
 public:
  /// @param filter  FILE_NOTIFY_CHANGE_...
  watch_call(owned_handle opened, DWORD filter, bool tells_attributes,
             std::shared_ptr<watched_path> whose) noexcept
      : OVERLAPPED(),
        directory(std::move(opened)),
        of(std::move(whose)),
        is_of_attributes(tells_attributes),
        filter_(filter) {}

  /// pre: the handle is bound to a port, and no call is under way on it
  /// @returns  0: a packet comes; else a code of Windows, and none comes
  DWORD begin() noexcept;
  /// Its packet still comes.
  void cancel() noexcept { (void)::CancelIoEx(directory.get(), this); }

  const owned_handle directory;
  const std::shared_ptr<watched_path> of;
  const bool is_of_attributes;
  // As much as a server on the network takes. The system keeps as much between two calls.
  static constexpr std::size_t most_bytes = std::size_t{64} << 10;
  alignas(8) std::array<std::byte, most_bytes> changes;

 private:
  const DWORD filter_;
};

/// What a file is, whatever its names are.
class file_identity {
 public:
  DWORD volume = 0;
  std::uint64_t number = 0;
  bool operator==(const file_identity&) const noexcept = default;
};

/// All of it is guarded by the queue's lock.
class watched_path {
 public:
  /// @param only  the file's name in its directory; empty: it is the directory that is watched
  watched_path(std::shared_ptr<change_queue> queue, const file_identity& identity, watch_for what,
               std::wstring only) noexcept
      : what_it_is(identity), queue_(std::move(queue)), what_(what), only_(std::move(only)) {}

  /// A call is under way for it.
  void begun(watch_call& call) noexcept;
  /// pre: not locked. A packet of the call has come.
  /// @returns  whether another one will
  bool told(watch_call& call) noexcept;
  /// It is told that the watch has ended.
  void end() noexcept;
  /// Nothing more is told.
  void stop() noexcept;
  /// Another one of the same number goes on: only what this one's calls have found is told.
  void replace() noexcept;
  bool is_live() const noexcept { return phase_ == phase::live; }
  const std::shared_ptr<change_queue>& queue() const noexcept { return queue_; }

  const file_identity what_it_is;
  int number = -1;

 private:
  enum class phase : std::uint8_t { live, replaced, over };

  void cancel(const watch_call* except) noexcept;
  void forget(const watch_call& call) noexcept;
  void note_all(const watch_call& call, std::size_t bytes) noexcept;
  void note(const watch_call& call, DWORD action, std::wstring_view name);
  void note_of_file(const watch_call& call, DWORD action, std::wstring_view name);
  void push(change_kind kind, std::wstring_view name, std::uint32_t cookie);

  const std::shared_ptr<change_queue> queue_;
  const watch_for what_;
  std::wstring only_;
  phase phase_ = phase::live;
  bool moves_ = false;         // the next new name is the file's
  std::uint32_t renames_ = 0;  // so far: the cookie of the last one
  std::array<watch_call*, 2> calls_{};
};

}  // namespace tandem::inline v0::io::platform
