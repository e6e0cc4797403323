// socket.hpp: a descriptor bound to a completion thread for life.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/operation_kind.hpp>
#include <tandem/io/detail/socket_record.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

class multishot;

/// Owns one descriptor. Closing it with an operation in flight is a broken precondition: the kernel
/// would go on writing into a buffer that nobody keeps.
class TANDEM_IO_API socket {
 public:
  socket() noexcept = default;
  socket(native_descriptor descriptor, completion_thread& thread,
         socket_family family = socket_family::internet) noexcept
      : descriptor_(descriptor), thread_(&thread), record_(thread, family) {}
  socket(socket&& other) noexcept;
  socket& operator=(socket&& other) noexcept;
  ~socket() { close(); }

  native_descriptor descriptor() const noexcept { return descriptor_; }
  completion_thread* thread() const noexcept { return thread_; }
  bool is_open() const noexcept { return is_descriptor(descriptor_); }
  void close() noexcept;
  /// Gives it up without closing it. @returns no_descriptor if there is none
  native_descriptor release() noexcept;

  /// Null before the first receive() or incoming().
  multishot* source() const noexcept { return source_; }
  void set_source(multishot& made) noexcept { source_ = &made; }
  socket_record& record() noexcept { return record_; }
  /// Of a listener: a connection that a select has got, and did not take. One at most: the next
  /// accept has it. As the outcome of an operation; negative: none. By the task of the side that
  /// takes.
  void keep(std::int32_t connection) noexcept { kept_ = connection; }
  /// Writes only if there is one: a close() beside an accept() is told, before that is a race.
  std::int32_t take_kept() noexcept { return kept_ < 0 ? kept_ : std::exchange(kept_, -1); }
  /// direct/leave_side. By the task of that side.
  void leave_side(socket_side side) noexcept;
  /// It listens, and nobody else has it: close() ends that at once, whoever holds the descriptor.
  void set_listens() noexcept { listens_ = true; }
  bool listens() const noexcept { return listens_; }

  /// Who is under way on one side, from the beginning of the await to its end; null: nobody.
  /// Written by the task that awaits. A check only: it orders nothing and needs no exchange, since
  /// by contract the tasks of one side come one after the other. Tasks that break it at the same
  /// moment, on two threads, may go unnoticed.
  using side_user = std::atomic<const tandem::detail::leaf*>;
  ///
  /// pre: `side` is not none
  side_user& user(socket_side side) noexcept { return users_[static_cast<std::size_t>(side)]; }
  /// Of an operation that came second: a build with assertions ends here, with both tasks' names.
  ///
  /// @param user  then no side's, so that the end of the second one is none of the first
  /// @returns     an error number, negative
  TANDEM_COLD std::int32_t refuse_second(side_user*& user, const char* name,
                                         const tandem::detail::promise_base& waiting) noexcept;

 private:
  void drop_kept() noexcept;
  /// direct/forget. It is closed, or given away.
  void forget() noexcept;
  bool is_idle() const noexcept {
    return users_[0].load(std::memory_order_relaxed) == nullptr &&
           users_[1].load(std::memory_order_relaxed) == nullptr;
  }

  native_descriptor descriptor_ = no_descriptor;
  std::int32_t kept_ = -1;
  std::array<side_user, 2> users_{};
  completion_thread* thread_ = nullptr;
  bool listens_ = false;
  socket_record record_;
  multishot* source_ = nullptr;  // once there is one, it closes the descriptor
};

}  // namespace tandem::inline v0::io::detail
