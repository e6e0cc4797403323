// engine_ring.hpp: what an engine has with the system: its backend, and the receive buffers there.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tandem/detail/own_counter.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tuple>

#include "backend/backend.hpp"
#include "ring/buffer_stock.hpp"
#include "ring/ring_sleep.hpp"

namespace tandem::inline v0::io {

/// All of it is the engine's thread's, unless said otherwise.
class engine_ring {
 public:
  /// @param owner  what current_thread_slot() is on the engine's thread
  engine_ring(const completion_options& options, ring_sleep& sleep, const void* owner)
      : options_(options), stock_(sleep, owner) {}

  /// Before open().
  void choose_backend(io_backend kind) noexcept { options_.backend = kind; }
  /// On the thread that uses it. @throws what the backend's set-up threw
  void open(ring_sleep& sleep);
  /// Everything that was submitted has come back.
  void close() noexcept;

  /// Any thread; stays when it was closed. pre: was opened
  std::string_view backend_name() const noexcept { return backend_name_; }
  /// Any thread.
  detail::file_action_set file_actions() const noexcept {
    return file_actions_.load(
        std::memory_order_relaxed);  // published by the start; all have the same
  }
  /// Any thread, likewise.
  bool lends_memory() const noexcept { return lends_memory_.load(std::memory_order_relaxed); }
  /// Any thread; lives as long as the ring is open.
  const platform::file_port* port_of_files() const noexcept {
    return port_of_files_.load(std::memory_order_relaxed);  // likewise
  }

  /// @returns  whether the operation is pending
  bool submit(detail::operation& operation) noexcept;
  void cancel(detail::operation& operation) noexcept { backend_->cancel(operation); }
  void look_again(native_descriptor socket) noexcept { backend_->look_again(socket); }
  bool arm(multishot_source& target) noexcept { return backend_->arm(target); }
  void disarm(multishot_source& target) noexcept { backend_->disarm(target); }
  /// moving/cancel. Everything that was submitted may come back as cancelled.
  void sweep() noexcept;
  /// moving/cancel. After a sweep everything may be cancelled that nobody wanted to stop.
  bool has_swept() const noexcept { return has_swept_; }

  void wait(std::chrono::steady_clock::time_point deadline) noexcept { backend_->wait(deadline); }
  /// @returns  how many have ended
  unsigned reap(backend::completion_function ended, void* context) noexcept;
  /// How many were ever submitted.
  std::uint64_t submitted() const noexcept { return submitted_.read(); }
  /// The owner.
  bool has_in_flight() const noexcept { return submitted_.read() != completed_.read(); }
  buffer_stock& stock() noexcept { return stock_; }

  /// Any thread.
  void add_stats(completion_pool_stats& out) const noexcept;

 private:
  using own_counter = tandem::detail::own_counter;

  completion_options options_;
  std::unique_ptr<backend> backend_;
  std::string_view backend_name_;  // a literal
  std::atomic<detail::file_action_set> file_actions_{};
  std::atomic<bool> lends_memory_{false};
  std::atomic<const platform::file_port*> port_of_files_{nullptr};
  bool has_swept_ = false;
  buffer_stock stock_;

  own_counter submitted_;
  own_counter completed_;
  own_counter batches_;
  own_counter reaped_;
  std::array<own_counter, std::tuple_size_v<decltype(completion_pool_stats::batch_sizes)>>
      batch_sizes_;
};

}  // namespace tandem::inline v0::io
