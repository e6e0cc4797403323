// file_transfers.cpp: beginning, cancelling and ending overlapped calls of files and pipes.
// SPDX-License-Identifier: MIT
//
// NtReadFile() and NtWriteFile() instead of ReadFile() and WriteFile(), which turn warnings into
// failures: whether a packet comes is what the status says, and nothing else.
#include "iocp/file_transfers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <tandem/io/detail/file_request.hpp>

#include "iocp/lent_memory.hpp"
#include "platform/attempt.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr NTSTATUS transfer_pending = 0x00000103;
constexpr auto cancelled = static_cast<NTSTATUS>(0xC0000120);

/// No success, no information and no warning.
bool is_error(NTSTATUS status) noexcept { return static_cast<ULONG>(status) >> 30U == 3; }

std::int32_t outcome_of(bool reads, NTSTATUS status, ULONG_PTR bytes) noexcept {
  // What was transferred before a cancel counts.
  if (!is_error(status) || (status == cancelled && bytes != 0)) {
    return static_cast<std::int32_t>(bytes);
  }
  const DWORD code = ::RtlNtStatusToDosError(status);
  if (reads && (code == ERROR_HANDLE_EOF || code == ERROR_BROKEN_PIPE)) return 0;
  return -platform::number_of(code);
}

bool is_of_file(const detail::operation& operation) noexcept {
  return operation.kind() == detail::operation_kind::file;
}
bool reads(detail::operation& operation) noexcept {
  return is_of_file(operation) ? operation.of_file().is_reading()
                               : operation.kind() == detail::operation_kind::read_pipe;
}

/// What is to be transferred, as the system takes it.
class wanted_transfer {
 public:
  explicit wanted_transfer(detail::operation& operation) noexcept
      : data(operation.buffer()), bytes(operation.bytes()) {
    // processes/piece
    constexpr std::size_t piece = 4096;
    if (!is_of_file(operation)) {
      if (!reads(operation)) bytes = std::min(bytes, piece);
      return;
    }
    detail::file_request& request = operation.of_file();
    const detail::segment part = request.segments().front();
    data = part.data;
    bytes = part.bytes;
    at.QuadPart = request.write_flags() != 0 ? -1 : static_cast<LONGLONG>(request.offset());
  }

  void* data;
  std::size_t bytes;
  LARGE_INTEGER at{};
};

// What a packet says of its call: the place, and its turn there, which is never 0. A packet that
// comes although its call was refused (of devices, under wine) then belongs to nobody.
void* name_of(std::uint32_t index, std::uint32_t turn) noexcept {
  return reinterpret_cast<void*>((std::uint64_t{turn} << 32U) | index);  // NOLINT: it is a number
}

std::uint64_t next_port_id() noexcept {
  static std::atomic<std::uint64_t> last{platform::file_port::first_id};
  return last.fetch_add(1, std::memory_order_relaxed);  // only that it is new
}

}  // namespace

file_transfers::file_transfers(HANDLE port, ULONG_PTR key, platform::watch_calls& watches) noexcept
    : port_{platform::descriptor_of(port), key, next_port_id(), &watches},
      read_(platform::native_call<call_function>("NtReadFile")),
      write_(platform::native_call<call_function>("NtWriteFile")),
      cancel_(platform::native_call<cancel_function>("NtCancelIoFileEx")) {}

file_transfers::~file_transfers() {
  for (const auto& each : all_) memory_given_up(each.get());
}

std::uint32_t file_transfers::take() noexcept {
  if (free_ == none) {
    try {
      all_.push_back(std::make_unique<file_transfer>());
    } catch (const std::bad_alloc&) {
      return none;
    }
    free_ = static_cast<std::uint32_t>(all_.size() - 1);
    all_.back()->next = none;
  }
  const std::uint32_t index = free_;
  file_transfer& taken = *all_[index];
  free_ = taken.next;
  if (++taken.turn == 0) taken.turn = 1;
  return index;
}

void file_transfers::give_back(std::uint32_t index) noexcept {
  file_transfer& given = *all_[index];
  memory_given_up(&given);
  given.operation = nullptr;
  given.next = free_;
  free_ = index;
}

std::int32_t file_transfers::begin(detail::operation& operation) noexcept {
  const std::uint32_t index = take();
  if (index == none) return -ENOMEM;
  file_transfer& call = *all_[index];
  wanted_transfer wanted(operation);
  constexpr std::size_t most = 0x7ffff000;
  call.status.Status = transfer_pending;
  call.file = platform::handle_of(operation.descriptor());
  const NTSTATUS status = (reads(operation) ? read_ : write_)(
      call.file, nullptr, nullptr, name_of(index, call.turn), &call.status, wanted.data,
      static_cast<ULONG>(std::min(wanted.bytes, most)), &wanted.at, nullptr);
  if (is_error(status)) {
    give_back(index);
    return outcome_of(reads(operation), status, 0);
  }
  memory_lent(&call);
  call.operation = &operation;
  entry_of(operation).transfer = index;
  ++under_way_;
  return platform::would_block;
}

void file_transfers::cancel(detail::operation& operation) noexcept {
  file_transfer& call = *all_[entry_of(operation).transfer];
  IO_STATUS_BLOCK answer{};
  // "Not found": its packet is on the way.
  (void)cancel_(call.file, &call.status, &answer);
}

void file_transfers::told(const OVERLAPPED_ENTRY& packet) noexcept {
  const auto name = reinterpret_cast<std::uint64_t>(packet.lpOverlapped);  // NOLINT: name_of()
  const auto index = static_cast<std::uint32_t>(name);
  if (index >= all_.size()) return;
  file_transfer& call = *all_[index];
  if (call.operation == nullptr || call.turn != name >> 32U) return;
  memory_returned(&call);
  detail::operation& operation = *call.operation;
  operation.complete(outcome_of(reads(operation), call.status.Status, call.status.Information));
  --under_way_;
  give_back(index);
  ended.push_back(operation);
}

}  // namespace tandem::inline v0::io
