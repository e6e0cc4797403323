// memory_claim.hpp: memory that one part of a search holds, told to the search's limit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tandem/search/search_control.hpp>

namespace tandem::inline v0::detail {

/// Counts towards search_options::memory_limit for as long as it lives. One owner at a time.
class memory_claim {
 public:
  explicit memory_claim(search_control& control) noexcept : control_(&control) {}
  memory_claim(memory_claim&& other) noexcept
      : control_(other.control_), bytes_(std::exchange(other.bytes_, 0)) {}
  memory_claim& operator=(memory_claim&&) = delete;
  ~memory_claim() { control_->give_memory_back(bytes_); }

  std::size_t bytes() const noexcept { return bytes_; }

  /// Claims `bytes` in all, more or less than before.
  ///
  /// @throws              std::bad_alloc: see search_control::take_memory
  void set(std::size_t bytes) {
    if (bytes > bytes_) control_->take_memory(bytes - bytes_);
    if (bytes < bytes_) control_->give_memory_back(bytes_ - bytes);
    bytes_ = bytes;
  }

  /// The memory of a vector's elements; costs a comparison where the capacity is as before.
  template <class Vector>
  void cover(const Vector& elements) {
    const std::size_t bytes = elements.capacity() * sizeof(typename Vector::value_type);
    if (bytes != bytes_) set(bytes);
  }

 private:
  search_control* control_;
  std::size_t bytes_ = 0;
};

}  // namespace tandem::inline v0::detail
