// afd_watch.hpp: one socket that is watched by polls of the driver, or one process.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "iocp/afd_device.hpp"
#include "iocp/process_wait.hpp"
#include "readiness/registration_table.hpp"

namespace tandem::inline v0::io {

/// Polls whose watch has gone before their packets came.
class afd_orphans {
 public:
  void add(std::unique_ptr<afd_poll> poll) noexcept {
    poll->watch = nullptr;
    poll->next = first_;
    first_ = poll.release();
    ++count_;
  }
  /// iocp/end. The packet of one has been dequeued.
  void told() noexcept { --count_; }
  bool all_told() const noexcept { return count_ == 0; }
  /// pre: all_told(), or the port is closed
  ~afd_orphans() {
    while (first_ != nullptr) {
      const std::unique_ptr<afd_poll> gone(first_);
      first_ = gone->next;
    }
  }

 private:
  afd_poll* first_ = nullptr;
  unsigned count_ = 0;
};

class afd_watch final : public registration {
 public:
  /// @throws  std::bad_alloc
  afd_watch(afd_device& device, afd_orphans& orphans, registration_table& table, HANDLE port,
            ULONG_PTR key)
      : device_(device), orphans_(orphans), table_(table), process_(port, key) {
    for (auto& each : polls_) {
      each = std::make_unique<afd_poll>();
      each->watch = this;
    }
  }
  ~afd_watch() override {
    leave();
    for (auto& each : polls_) {
      if (each->is_pending) orphans_.add(std::move(each));
    }
  }

  /// iocp/packet. Of one of its polls.
  void told(const afd_poll& poll, int error) noexcept {
    process_.told();
    table_.waited(*this, poll.way, error);
  }

 private:
  int begin(native_descriptor descriptor, bool /*is_ours*/) override {
    // First: wine says of any handle that it is its own base.
    if (process_wait::is_process(descriptor)) {
      base_ = platform::handle_of(descriptor);
      return 0;
    }
    int error = afd_device::base_of(descriptor, base_);
    if (error != 0) return error;
    group_ = device_.take(error);
    return error;
  }
  void end() noexcept override {
    if (group_ == nullptr) {
      process_.cancel();
      return;
    }
    for (const auto& each : polls_) {
      if (each->is_pending) afd_device::cancel(*group_, *each);
    }
    afd_device::give_back(*group_);
    group_ = nullptr;
  }
  int begin_wait(direction way) noexcept override {
    if (group_ == nullptr) {
      const bool reads = way == direction::read;
      return reads ? process_.begin(base_, *polls_[0]) : platform::number_of(ERROR_NOT_SUPPORTED);
    }
    return afd_device::begin(*group_, *polls_[static_cast<std::size_t>(way)], base_, way);
  }

  afd_device& device_;
  afd_orphans& orphans_;
  registration_table& table_;
  std::array<std::unique_ptr<afd_poll>, 2> polls_;
  process_wait process_;
  afd_device::group* group_ = nullptr;  // null: it is a process
  HANDLE base_ = nullptr;
};

}  // namespace tandem::inline v0::io
