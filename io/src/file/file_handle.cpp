// file_handle.cpp: a descriptor with its path: moved, released, closed.
// SPDX-License-Identifier: MIT
#include <tandem/io/detail/file_handle.hpp>

#include <tandem/config.hpp>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/files.hpp"

namespace tandem::inline v0::io::detail {

file_handle::file_handle(native_descriptor descriptor, std::string path, bool is_direct) noexcept
    : descriptor_(descriptor),
      is_direct_(is_direct),
      is_in_memory_(platform::has_no_disk(descriptor)),
      path_(std::move(path)) {}

file_handle::file_handle(file_handle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, no_descriptor)),
      is_direct_(other.is_direct_),
      is_in_memory_(other.is_in_memory_),
      joined_port_(other.joined_port_.load(std::memory_order_relaxed)),
      path_(std::move(other.path_)) {
  other.check_idle("a file was moved while an operation was in flight on it");
}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  if (this != &other) {
    other.check_idle("a file was moved while an operation was in flight on it");
    close();
    descriptor_ = std::exchange(other.descriptor_, no_descriptor);
    is_direct_ = other.is_direct_;
    is_in_memory_ = other.is_in_memory_;
    joined_port_.store(other.joined_port_.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
    path_ = std::move(other.path_);
  }
  return *this;
}

void file_handle::check_idle(const char* message) const noexcept {
  TANDEM_ASSERT(in_flight_.load(std::memory_order_relaxed) == 0, message);
}

native_descriptor file_handle::release() noexcept {
  check_idle("a file was released while an operation was in flight on it");
  if (joined_port_.exchange(0, std::memory_order_relaxed) >= platform::file_port::first_id) {
    platform::leave_port(descriptor_);
  }
  return std::exchange(descriptor_, no_descriptor);
}

void file_handle::close() noexcept {
  if (!is_open()) return;
  check_idle("a file was closed while an operation was in flight on it: stop and await it first");
  platform::close(std::exchange(descriptor_, no_descriptor));
}

std::size_t file_handle::direct_io_alignment() const noexcept {
  return platform::direct_io_alignment_of(descriptor_);
}

}  // namespace tandem::inline v0::io::detail
