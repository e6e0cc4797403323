// iocp_backend.cpp: the backend of Windows: readiness by polls of the socket driver, on a completion port.
// SPDX-License-Identifier: MIT
//
// One port a thread. Sockets join no port: only handles of the driver do. Protocols iocp and
// readiness: io/src/iocp/README.md, io/src/readiness/README.md.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "backend/backend.hpp"
#include "iocp/afd_device.hpp"
#include "iocp/afd_watch.hpp"
#include "iocp/file_transfers.hpp"
#include "iocp/port_timer.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/watch_calls.hpp"
#include "readiness/readiness_backend.hpp"

namespace tandem::inline v0::io {

namespace {

using clock = std::chrono::steady_clock;

constexpr ULONG_PTR poll_key = 1;
constexpr ULONG_PTR wake_key = 2;
constexpr ULONG_PTR timer_key = 3;
constexpr ULONG_PTR file_key = 4;
constexpr ULONG_PTR watch_key = 5;

HANDLE make_port() {
  const int failure = platform::start_sockets();
  if (failure != 0) throw std::system_error(platform::error_of(failure), "WSAStartup");
  const HANDLE made = ::CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
  if (made == nullptr) throw std::system_error(platform::last_error(), "CreateIoCompletionPort");
  return made;
}

class completion_port {
 public:
  completion_port() : handle_(make_port()) {}
  completion_port(const completion_port&) = delete;
  completion_port& operator=(const completion_port&) = delete;
  ~completion_port() { ::CloseHandle(handle_); }
  HANDLE get() const noexcept { return handle_; }

 private:
  const HANDLE handle_;
};

/// For the wait itself, rounded up: never early.
DWORD milliseconds_until(clock::time_point deadline) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
  constexpr std::int64_t an_hour = 3'600'000;
  return static_cast<DWORD>(std::clamp<std::int64_t>(left, 0, an_hour));
}

class iocp_poller {
 public:
  static constexpr std::string_view name = "iocp";

  explicit iocp_poller(registration_table& told)
      : told_(told),
        device_(port_.get(), poll_key),
        timer_(port_.get(), timer_key),
        watches_(port_.get(), watch_key),
        files_(port_.get(), file_key, watches_) {
    if (const int error = device_.probe(); error != 0) {
      throw std::system_error(platform::error_of(error), "\\Device\\Afd");
    }
  }
  iocp_poller(const iocp_poller&) = delete;
  iocp_poller& operator=(const iocp_poller&) = delete;
  /// iocp/end
  ~iocp_poller() {
    watches_.cancel_all();
    while (!has_ended() && take(INFINITE) != 0) {}
  }

  std::unique_ptr<registration> make_registration() {
    return std::make_unique<afd_watch>(device_, orphans_, told_, port_.get(), poll_key);
  }

  file_transfers& files() noexcept { return files_; }
  const file_transfers& files() const noexcept { return files_; }

  void look(bool may_wait, clock::time_point deadline) noexcept {
    DWORD limit = 0;
    if (may_wait) {
      const bool needs_none = deadline == clock::time_point::max() || timer_.set(deadline);
      limit = needs_none ? INFINITE : milliseconds_until(deadline);
    }
    // What else is there belongs to this batch.
    while (take(limit) == packets_.size()) limit = 0;
  }

  /// iocp/wake
  void wake() noexcept {
    if (is_woken_.exchange(true, std::memory_order_seq_cst)) return;
    // Only for want of the kernel's memory can it fail; whoever sleeps has to be woken all the same.
    while (::PostQueuedCompletionStatus(port_.get(), 0, wake_key, nullptr) == 0) ::Sleep(1);
  }

 private:
  /// @returns  how many packets were dequeued
  std::size_t take(DWORD limit) noexcept {
    ULONG count = 0;
    if (::GetQueuedCompletionStatusEx(port_.get(), packets_.data(),
                                      static_cast<ULONG>(packets_.size()), &count, limit,
                                      FALSE) == 0) {
      return 0;
    }
    for (ULONG i = 0; i < count; ++i) tell(packets_[i]);
    return count;
  }

  bool has_ended() noexcept {
    return orphans_.all_told() && files_.is_idle() && watches_.is_idle();
  }

  void tell(const OVERLAPPED_ENTRY& packet) noexcept {
    switch (packet.lpCompletionKey) {
      case wake_key: is_woken_.store(false, std::memory_order_seq_cst); return;  // iocp/wake
      case timer_key: timer_.told(); return;
      case file_key: files_.told(packet); return;
      case watch_key: watches_.told(packet); return;
      default: break;
    }
    // iocp/packet
    auto& poll = *reinterpret_cast<afd_poll*>(packet.lpOverlapped);  // NOLINT: afd_device::begin
    memory_returned(&poll);
    poll.is_pending = false;
    if (poll.watch == nullptr) {
      orphans_.told();
      return;
    }
    poll.watch->told(poll, error_of(poll));
  }
  static int error_of(const afd_poll& poll) noexcept {
    constexpr auto cancelled = static_cast<NTSTATUS>(0xC0000120);
    const NTSTATUS status = poll.status.Status;
    if (status >= 0 || status == cancelled) return 0;
    return platform::number_of(::RtlNtStatusToDosError(status));
  }

  registration_table& told_;
  completion_port port_;
  afd_orphans orphans_;
  afd_device device_;  // after the orphans: their polls end with its handles
  port_timer timer_;
  platform::watch_calls watches_;
  file_transfers files_;
  std::array<OVERLAPPED_ENTRY, 64> packets_;
  std::atomic<bool> is_woken_{false};  // a packet of wake() is in the port
};

}  // namespace

std::unique_ptr<backend> make_iocp_backend(const completion_options&) {
  try {
    return std::make_unique<readiness_backend<iocp_poller>>();
  } catch (const std::system_error& refused) {
    throw std::system_error(refused.code(),
                            "tandem::io: the iocp backend could not be set up (" +
                                std::string(refused.what()) +
                                "). It needs Windows 10 or later, and two handles a completion "
                                "thread");
  }
}

}  // namespace tandem::inline v0::io
