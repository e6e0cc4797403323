// file_transfers.hpp: overlapped reads and writes of files and pipes, told at one thread's port.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/files.hpp"
#include "platform/windows/native_calls.hpp"
#include "platform/windows/system.hpp"
#include "readiness/operation_list.hpp"

namespace tandem::inline v0::io {

/// One call: lies still until its packet has been dequeued, also when it was cancelled.
class file_transfer {
 public:
  IO_STATUS_BLOCK status{};
  HANDLE file = nullptr;
  detail::operation* operation = nullptr;  // null: nothing is under way
  std::uint32_t turn = 0;                  // its number among the calls that were made here
  std::uint32_t next = 0;                  // free: the next free one
};

/// All of it is the owner's of the port. Only that of the pool's first thread has files.
class file_transfers {
 public:
  /// What comes here, instead of waiting for a readiness.
  static constexpr detail::operation_set kinds{
      detail::operation_rows, [](const detail::operation_row& row) {
        using kind = detail::operation_kind;
        return row.kind == kind::file || row.kind == kind::read_pipe ||
               row.kind == kind::write_pipe || row.kind == kind::write_all_pipe;
      }};

  /// @param key      of the packets
  /// @param watches  for whoever has the port
  file_transfers(HANDLE port, ULONG_PTR key, platform::watch_calls& watches) noexcept;
  file_transfers(const file_transfers&) = delete;
  file_transfers& operator=(const file_transfers&) = delete;
  /// pre: is_idle()
  ~file_transfers();

  /// Any thread.
  const platform::file_port& port() const noexcept { return port_; }

  /// iocp/transfer. pre: its file has joined the port
  /// @returns  would_block: its packet comes; else its outcome, and none comes
  std::int32_t begin(detail::operation& operation) noexcept;
  /// iocp/recall. pre: begun, and not in `ended`
  void cancel(detail::operation& operation) noexcept;
  /// iocp/packet_of_file. It goes to `ended`, completed.
  void told(const OVERLAPPED_ENTRY& packet) noexcept;
  bool is_idle() const noexcept { return under_way_ == 0; }

  operation_list ended;

 private:
  using call_function = NTSTATUS(NTAPI*)(HANDLE, HANDLE, void*, void*, IO_STATUS_BLOCK*, void*,
                                         ULONG, LARGE_INTEGER*, ULONG*);
  using cancel_function = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, IO_STATUS_BLOCK*);
  static constexpr std::uint32_t none = UINT32_MAX;

  /// @returns  its index, or none: there is no memory
  std::uint32_t take() noexcept;
  void give_back(std::uint32_t index) noexcept;

  const platform::file_port port_;
  const call_function read_;
  const call_function write_;
  const cancel_function cancel_;
  std::vector<std::unique_ptr<file_transfer>> all_;
  std::uint32_t free_ = none;
  std::size_t under_way_ = 0;
};

}  // namespace tandem::inline v0::io
