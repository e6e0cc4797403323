// operation.hpp: one I/O operation, in the frame that awaits it.
// SPDX-License-Identifier: MIT
//
// Life (io/README.md, labels I1-I8): idle -> submitted -> completed, all by the completion thread that
// owns the descriptor. The awaiting strand fills in the request, publishes the leaf and hands the
// operation over, by the ring directly or by the thread's inbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::detail {

enum class operation_kind : std::uint8_t { accept, connect, receive, send, send_all, read_file };

class TANDEM_IO_API operation : public tandem::detail::leaf {
 public:
  /// Room for what a backend needs per operation (an address, an OVERLAPPED); D15.
  static constexpr std::size_t backend_bytes = 128;

  operation(operation_kind kind, completion_thread* thread, int descriptor, void* buffer,
            std::size_t bytes) noexcept;
  operation(operation&& other) noexcept;

  /// @returns  whether the task suspends
  bool start(tandem::detail::promise_base& waiting) noexcept;
  /// The socket as it is when the await begins: it may have been closed since the awaiter was made, and
  /// its number may be somebody else's.
  void aim(completion_thread* thread, int descriptor) noexcept {
    thread_ = thread;
    descriptor_ = descriptor;
  }
  /// For an operation whose socket is made when it starts.
  bool start_connect(completion_thread& thread, int descriptor, const endpoint& peer,
                     tandem::detail::promise_base& waiting) noexcept {
    thread_ = &thread;
    descriptor_ = descriptor;
    peer_ = peer;
    return start(waiting);
  }

  /// Bytes, a descriptor or 0; negative: an error number.
  std::int32_t outcome() const noexcept { return outcome_; }
  bool failed() const noexcept { return outcome_ < 0; }
  std::error_code error() const noexcept;
  /// @throws  operation_cancelled or std::system_error saying what was tried
  [[noreturn]] void throw_failure(const char* what) const;

  // For the completion thread and its backend.
  enum class phase : std::uint8_t { idle, submitted, completed };
  class request : public job {
   public:
    request(function f, operation& owner) noexcept : job(f), target(&owner) {}
    operation* target;
  };

  operation_kind kind() const noexcept { return kind_; }
  int descriptor() const noexcept { return descriptor_; }
  void* buffer() const noexcept { return buffer_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const endpoint& peer() const noexcept { return peer_; }
  std::byte* backend_room() noexcept { return room_; }

  phase state = phase::idle;  // completion thread
  bool cancel_seen = false;   // completion thread
  /// Takes note of what was sent (send_all), and says whether it has to be submitted again: something
  /// is left, or it ended for a reason that is none of the user's (an interruption, a peer that left
  /// while it waited to be accepted).
  bool wants_retry() noexcept;
  void complete(std::int32_t outcome) noexcept {
    outcome_ = outcome;
    state = phase::completed;
  }

 private:
  /// @returns  whether the operation has ended without waiting
  bool try_now() noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static void run_submit(job* self) noexcept;
  static void run_cancel(job* self) noexcept;

  operation_kind kind_;
  int descriptor_;
  std::int32_t outcome_ = 0;
  completion_thread* thread_;
  void* buffer_;
  std::size_t bytes_;
  endpoint peer_;
  request submit_;  // in the inbox of thread_ from start() until it has run
  request cancel_;  // likewise, from on_stop
  alignas(8) std::byte room_[backend_bytes];
};

}  // namespace tandem::inline v0::io::detail
