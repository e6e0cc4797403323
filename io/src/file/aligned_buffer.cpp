// aligned_buffer.cpp: getting and giving back aligned memory.
// SPDX-License-Identifier: MIT
#include <bit>
#include <new>
#include <stdexcept>
#include <string>
#include <tandem/io/aligned_buffer.hpp>
#include <utility>

namespace tandem::inline v0::io {

aligned_buffer::aligned_buffer(std::size_t size, std::size_t alignment)
    : size_(size), alignment_(alignment) {
  if (!std::has_single_bit(alignment)) {
    throw std::invalid_argument("aligned_buffer: " + std::to_string(alignment) +
                                " is no power of two");
  }
  data_ = static_cast<std::byte*>(::operator new(size, std::align_val_t(alignment)));
}

aligned_buffer::aligned_buffer(aligned_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      alignment_(other.alignment_) {}

aligned_buffer& aligned_buffer::operator=(aligned_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(alignment_, other.alignment_);
  return *this;
}

aligned_buffer::~aligned_buffer() {
  if (data_ != nullptr) ::operator delete(data_, std::align_val_t(alignment_));
}

}  // namespace tandem::inline v0::io
