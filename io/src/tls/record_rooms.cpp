// record_rooms.cpp: what each thread keeps of them.
// SPDX-License-Identifier: MIT
#include "tls/record_rooms.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <tandem/config.hpp>

#include "operation/thread_shelf.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// One or two records of a question or an answer; four full records with what TLS adds.
constexpr std::array<std::size_t, 2> sizes{2048, std::size_t{66} * 1024 + 512};
constexpr std::uint32_t kept_each = 4;

/// What a thread keeps of each size.
using shelf = thread_shelf<kept_each>;

constinit thread_local std::array<shelf, sizes.size()> shelves;

void close_shelves() noexcept {
  for (shelf& each : shelves) each.close();
}

TANDEM_NOINLINE shelf* shelf_of(std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == bytes) return &shelves[i];
  }
  return nullptr;
}

std::size_t rounded(std::size_t bytes) noexcept {
  for (const std::size_t size : sizes) {
    if (bytes <= size) return size;
  }
  return bytes;
}

}  // namespace

void record_room::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  const std::size_t wanted = rounded((std::max)(bytes, capacity_ * 2));
  shelf* const from = shelf_of(wanted);
  void* made = from != nullptr ? from->take() : nullptr;
  if (made == nullptr) made = ::operator new(wanted);
  if (size_ != 0) std::memcpy(made, data_, size_);
  const std::size_t kept = size_;
  give_back();
  data_ = static_cast<std::byte*>(made);
  capacity_ = wanted;
  size_ = kept;
}

void record_room::append(const void* bytes, std::size_t count) {
  if (count == 0) return;  // of nothing there may be no address
  reserve(size_ + count);
  std::memcpy(data_ + size_, bytes, count);
  size_ += count;
}

void record_room::give_back() noexcept {
  if (data_ == nullptr) return;
  shelf* const to = shelf_of(capacity_);
  if (to == nullptr || !to->put(data_, tandem::detail::exit_step::record_rooms, &close_shelves))
    ::operator delete(data_);
  data_ = nullptr;
  capacity_ = 0;
  size_ = 0;
}

}  // namespace tandem::inline v0::io::detail
