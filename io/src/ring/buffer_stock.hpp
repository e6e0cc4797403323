// buffer_stock.hpp: an engine's receive buffers: which the backend has, and who waits for one.
// SPDX-License-Identifier: MIT
//
// All of it is the owner's (the engine's thread), but wake(), which whoever gives a buffer back
// calls. Protocol leases: README.md beside this.
#pragma once

#include <cstdint>
#include <tandem/io/completion_options.hpp>

#include "backend/backend.hpp"
#include "ring/receive_buffers.hpp"
#include "ring/ring_sleep.hpp"

namespace tandem::inline v0::io {

/// Somebody who receives, and for whom there was no buffer.
class hungry_receiver {
 public:
  hungry_receiver() noexcept = default;
  hungry_receiver(const hungry_receiver&) = delete;
  hungry_receiver& operator=(const hungry_receiver&) = delete;

  /// A buffer has come back to a thread that had none.
  virtual void go_on() noexcept = 0;
  /// None has come back, and there is no memory for more.
  virtual void refuse() noexcept = 0;
  /// Whether it receives for this completion thread.
  virtual bool is_of(const tandem::executor& thread) const noexcept = 0;

  // The stock's.
  hungry_receiver* next_hungry = nullptr;
  hungry_receiver* previous_hungry = nullptr;

 protected:
  ~hungry_receiver() = default;
};

class buffer_stock {
 public:
  /// @param owner  what current_thread_slot() is on the engine's thread
  buffer_stock(ring_sleep& sleep, const void* owner) noexcept : sleep_(sleep), owner_(owner) {}

  /// At the start of its thread. @throws std::bad_alloc
  void open(backend& ring, const completion_options& options);
  /// leases/end. At its end; what is still leased keeps its memory.
  void close() noexcept;

  detail::receive_buffers& buffers() noexcept { return *buffers_; }
  /// leases/give_back. A buffer is free again.
  void provide(std::uint32_t index) noexcept;
  /// The backend has given one away.
  void taken() noexcept;

  /// receiving/hold_back. It is told to go on when there is a buffer.
  void starves(hungry_receiver& target) noexcept;
  /// It does not want to be told any more.
  void stops_starving(hungry_receiver& target) noexcept;
  /// moving/cancel. Those of a thread that moves are told to go on: they ask the new engine.
  void release_all_of(const tandem::executor& thread) noexcept;
  /// leases/starve. What has come back is provided, and whoever waits goes on.
  void feed() noexcept;
  /// Whether feed() would find a buffer for somebody.
  bool can_feed() const noexcept;

  /// What current_thread_slot() is on the owner's thread.
  const void* thread_slot() const noexcept { return owner_; }

  /// Any thread, as long as close() waits for it (leases/end).
  void wake() noexcept { sleep_.wake(); }

 private:
  /// leases/begin. So many that were never used, or as many as there are.
  void provide_fresh(std::uint32_t count) noexcept;

  ring_sleep& sleep_;
  const void* const owner_;
  backend* backend_ = nullptr;
  detail::receive_buffers* buffers_ = nullptr;  // set before anybody else sees the thread
  std::uint32_t free_ = 0;                      // with the backend
  std::uint32_t fresh_ = 0;                     // from here on none was ever provided
  std::uint32_t spare_ = UINT32_MAX;            // a chain of those it has no room for
  std::uint32_t spare_count_ = 0;
  hungry_receiver* hungry_ = nullptr;
};

}  // namespace tandem::inline v0::io
