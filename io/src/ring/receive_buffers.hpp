// receive_buffers.hpp: the buffers into which a completion thread's connections receive.
// SPDX-License-Identifier: MIT
//
// A buffer is with the kernel (or in the backend's own stock), queued at a receiver, leased to a
// user, or on its way back. The owner is the thread of an engine, whose stock this is. Protocol leases:
// README.md beside this.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/io/leased_buffer.hpp>

namespace tandem::inline v0::io {

class buffer_stock;

namespace detail {

class receive_buffers {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// @param at_once  how many the backend gets at most, and how many there are at first: a power of
  ///                 two, at most 32768
  /// @param most     how many there may be
  /// @throws         std::bad_alloc
  receive_buffers(buffer_stock& owner, std::uint32_t at_once, std::uint32_t most,
                  std::uint32_t bytes_each);
  receive_buffers(const receive_buffers&) = delete;
  receive_buffers& operator=(const receive_buffers&) = delete;

  /// Owner. As many again, numbered on from count(). pre: not at the limit. @returns false without
  /// memory
  bool grow() noexcept;
  bool is_at_limit() const noexcept { return count_ + at_once_ > most_; }

  std::uint32_t at_once() const noexcept { return at_once_; }
  /// Owner.
  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t bytes_each() const noexcept { return bytes_each_; }
  std::byte* data(std::uint32_t index) const noexcept {
    return chunk_of(index).memory.get() + std::size_t{index & (at_once_ - 1)} * stride();
  }
  /// Of a buffer that holds bytes; whoever has the buffer reads and writes both.
  std::uint32_t& length(std::uint32_t index) noexcept { return note_of(index).length; }
  std::uint32_t& next(std::uint32_t index) noexcept { return note_of(index).next; }

  /// Any thread. leases/give_back: the lease has ended, or a queued buffer was not wanted.
  void give_back(std::uint32_t index) noexcept;

  /// Owner. leases/starve: what has come back from other threads, newest first, as a chain; none if
  /// nothing has.
  std::uint32_t take_returned() noexcept;
  bool any_returned() const noexcept {
    // ring_sleep/announce: read before the owner sleeps
    return returned_.load(std::memory_order_seq_cst) != none;
  }
  /// Owner: as long as it is set, whoever gives a buffer back wakes the owner.
  void set_starving(bool now) noexcept { starving_.store(now, std::memory_order_seq_cst); }

  /// Owner, at its end: `out` buffers are with neither the kernel nor a receiver. leases/end: the
  /// last of them to come back deletes the block.
  void abandon(std::uint32_t out) noexcept;

 private:
  static constexpr std::uint32_t closed = UINT32_MAX - 1;
  /// From one buffer to the next: a line more than it holds. Short messages fill the first lines
  /// only, and with a page from one to the next these would all want the same set of a cache.
  std::size_t stride() const noexcept { return std::size_t{bytes_each_} + 64; }
  struct note {
    std::uint32_t length;
    std::uint32_t next;
  };
  struct free_memory {
    void operator()(std::byte* memory) const noexcept;
  };
  ~receive_buffers() = default;
  void one_came_back(std::uint32_t how_many) noexcept;

  struct chunk {
    std::unique_ptr<std::byte, free_memory> memory;
    std::unique_ptr<note[]> notes;
  };
  chunk& chunk_of(std::uint32_t index) const noexcept { return chunks_[index >> chunk_shift_]; }
  note& note_of(std::uint32_t index) const noexcept {
    return chunk_of(index).notes[index & (at_once_ - 1)];
  }

  buffer_stock& owner_;
  const void* const
      owner_slot_;  // leases/give_back: known without asking the owner, who may be gone
  const std::uint32_t at_once_;
  const std::uint32_t most_;
  const std::uint32_t bytes_each_;
  const unsigned chunk_shift_;
  std::uint32_t count_ = 0;  // owner
  // Of fixed size. A chunk is there before the number of one of its buffers is told to anybody.
  std::unique_ptr<chunk[]> chunks_;
  std::atomic<bool> starving_{false};
  std::atomic<std::uint32_t> returned_{none};  // pushed by anybody, taken whole by the owner
  std::atomic<std::uint32_t> giving_{0};       // threads inside give_back(); abandon() waits for 0
  std::atomic<std::uint32_t> missing_{0};      // after abandon(): how many are still out
};

}  // namespace detail

}  // namespace tandem::inline v0::io
