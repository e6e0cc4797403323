// leased_buffer.hpp: received bytes in a buffer of the completion thread, which goes back by itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/export.hpp>
#include <utility>

namespace tandem::inline v0::io {

namespace detail {
class receive_buffers;
}

/// What tcp_stream::receive() yields: some bytes, or nothing at end of stream.
///
///     tandem::io::leased_buffer got = co_await stream.receive();
///     if (got.empty()) co_return;  // the peer has ended its direction
///     co_await stream.write_all(got.bytes());
///
/// The memory belongs to the completion thread and goes back when the lease ends. Keep it for as
/// long as you look at the bytes, not longer: the buffers of a thread are shared by all its
/// connections, and while none is left nothing is received. A lease may outlive stream and runtime.
///
/// @thread_safety  move-only; may end on any thread
class TANDEM_IO_API leased_buffer {
 public:
  leased_buffer() noexcept = default;
  leased_buffer(leased_buffer&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        index_(other.index_) {}
  leased_buffer& operator=(leased_buffer&& other) noexcept {
    leased_buffer moved(std::move(other));
    std::swap(owner_, moved.owner_);
    std::swap(data_, moved.data_);
    std::swap(size_, moved.size_);
    std::swap(index_, moved.index_);
    return *this;
  }
  ~leased_buffer() {
    if (owner_ != nullptr) give_back();
  }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::byte* data() const noexcept { return data_; }
  /// The bytes are yours to change.
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

  // Implementation
  leased_buffer(detail::receive_buffers& owner, std::uint32_t index, std::byte* data,
                std::uint32_t size) noexcept
      : owner_(&owner), data_(data), size_(size), index_(index) {}

 private:
  void give_back() noexcept;

  detail::receive_buffers* owner_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace tandem::inline v0::io
