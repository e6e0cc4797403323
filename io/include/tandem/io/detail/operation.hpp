// operation.hpp: one I/O operation, in the frame that awaits it.
// SPDX-License-Identifier: MIT
//
// Life (io/src/operation/README.md, protocols operations and ring_sleep): idle -> submitted ->
// completed. Until it is submitted it is the awaiting strand's, which fills in the request, and may
// try it and complete it at once; then the leaf is published, and by the ring directly or by the
// inbox it is handed to the completion thread that owns the descriptor: all of it, till its end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/operation_kind.hpp>
#include <tandem/io/detail/segment_window.hpp>
#include <tandem/io/detail/side_wait.hpp>
#include <tandem/io/detail/socket_record.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::detail {

class datagram;
class datagram_batch;
class datagram_list;
class datagram_train;
class file_request;
class local_message;
struct other_end;

class TANDEM_IO_API operation : public tandem::detail::leaf {
 public:
  /// Room for what a backend needs per operation (an address, an OVERLAPPED).
  static constexpr std::size_t backend_bytes = 128;

  // Both inline: every read and write passes through here twice, as it is wrapped for as_result().
  operation(operation_kind kind, void* buffer, std::size_t bytes) noexcept
      : leaf(waits_for_io), kind_(kind), buffer_(buffer), bytes_(bytes) {}
  /// For one that has not started.
  operation(operation&& other) noexcept : operation(other.kind_, other.buffer_, other.bytes_) {
    aim(other.thread_, other.descriptor_);
    outcome_ = other.outcome_;
    tries_at_home_ = other.tries_at_home_;
  }

  /// @returns  whether the task suspends
  bool start(tandem::detail::promise_base& waiting) noexcept;
  /// The socket as it is when the await begins: it may have been closed since the awaiter was made,
  /// and its number may be somebody else's.
  void aim(completion_thread* thread, native_descriptor descriptor) noexcept {
    thread_ = thread;
    descriptor_ = descriptor;
  }
  /// Likewise, of a socket of ours.
  void know(socket_record& record) noexcept { record_ = &record; }
  /// For a vectored one, as late as aim(): awaiters may be moved before.
  void aim_at(segment_window& window) noexcept {
    window.fill();
    buffer_ = &window;
    bytes_ = window.segments().size();
  }
  /// Likewise.
  void aim_at(datagram& what) noexcept { buffer_ = &what; }
  void aim_at(datagram_batch& what) noexcept { buffer_ = &what; }
  void aim_at(datagram_train& what) noexcept { buffer_ = &what; }
  void aim_at(datagram_list& what) noexcept { buffer_ = &what; }
  void aim_at(local_message& what) noexcept { buffer_ = &what; }
  void aim_at(other_end& what) noexcept { buffer_ = &what; }
  /// Also on its own thread it is tried before it is submitted: it mostly need not wait.
  void try_at_home(bool on = true) noexcept { tries_at_home_ = on; }
  /// selecting/arm. Of a kind that takes nothing, or whose awaiter keeps what it has taken all the
  /// same. pre: aimed
  void arm(tandem::detail::select_place& as) noexcept;
  /// selecting/end. Of a branch, on its thread, when it has completed. @returns as finish_unposted();
  /// no if another call comes: then `is_held` is set
  bool end_as_branch(bool& is_held) noexcept;
  /// Without anything to do, or to wait for. @returns whether it gives way to others first
  bool end_at_once(tandem::detail::promise_base& waiting, std::int32_t outcome) noexcept;
  /// For an operation whose socket is made when it starts.
  ///
  /// @param peer  the awaiter's: stays where it is until the operation has ended
  bool start_connect(completion_thread& thread, native_descriptor descriptor, endpoint& peer,
                     tandem::detail::promise_base& waiting) noexcept {
    aim(&thread, descriptor);
    buffer_ = &peer;
    return start(waiting);
  }

  /// Bytes, a descriptor or 0; negative: an error number.
  std::int32_t outcome() const noexcept { return outcome_; }
  bool failed() const noexcept { return outcome_ < 0; }
  /// It has failed because it was cancelled.
  bool was_stopped() const noexcept;
  std::error_code error() const noexcept;
  /// @throws  operation_cancelled or std::system_error saying what was tried
  [[noreturn]] void throw_failure(const char* what) const;

  // For the completion thread and its backend.
  enum class phase : std::uint8_t { idle, submitted, completed };
  class request : public job {
   public:
    request() noexcept : job(nullptr, set_later{}) {}
    /// Before it is posted: most operations need none.
    void set(function f, operation& owner) noexcept {
      *static_cast<job*>(this) = job(f);
      target = &owner;
    }
    operation* target;
  };
  /// As request, for its begin.
  class start_request : public side_wait {
   public:
    void set(function f, operation& owner) noexcept {
      *static_cast<job*>(this) = job(f);
      target = &owner;
    }
    operation* target;
  };

  operation_kind kind() const noexcept { return kind_; }
  const operation_row& row() const noexcept { return row_of(kind_); }
  /// Takes bytes or a connection from its socket.
  bool takes() const noexcept { return are_taking.has(kind_); }
  /// For people: "tcp_stream::read".
  const char* name() const noexcept {
    const bool is_local = record_ != nullptr && record_->family == socket_family::local;
    return is_local && row().local_name != nullptr ? row().local_name : row().name;
  }
  native_descriptor descriptor() const noexcept { return descriptor_; }
  void* buffer() const noexcept { return buffer_; }
  std::size_t bytes() const noexcept { return bytes_; }
  segment_window& window() const noexcept { return *static_cast<segment_window*>(buffer_); }
  file_request& of_file() const noexcept;
  datagram& of_datagram() const noexcept { return *static_cast<datagram*>(buffer_); }
  datagram_batch& of_batch() const noexcept { return *static_cast<datagram_batch*>(buffer_); }
  datagram_train& of_train() const noexcept { return *static_cast<datagram_train*>(buffer_); }
  datagram_list& of_datagrams() const noexcept { return *static_cast<datagram_list*>(buffer_); }
  local_message& of_message() const noexcept { return *static_cast<local_message*>(buffer_); }
  other_end& of_other_end() const noexcept { return *static_cast<other_end*>(buffer_); }
  const endpoint& peer() const noexcept { return *static_cast<endpoint*>(buffer_); }
  std::byte* backend_room() noexcept { return room_; }
  completion_thread* thread() const noexcept { return thread_; }
  /// Submits it, on its thread. pre: idle
  job& resubmission() noexcept {
    submit_.set(&operation::run_submit, *this);
    return submit_;
  }

  phase state = phase::idle;  // the strand's, then the completion thread's
  bool cancel_seen = false;   // completion thread
  /// lending: of send_zero_copy. Its rest is sent as send_all() sends; and the system has said that
  /// it has to copy on the way of this socket. Both: completion thread, then the strand.
  bool sends_a_copy = false;
  bool is_copied_anyway = false;
  /// Takes note of what was transferred, where a rest may be left, and says whether it has to be
  /// submitted again: something is left, or it ended for a reason that is none of the user's (an
  /// interruption, a peer that left while it waited to be accepted).
  bool wants_retry() noexcept {
    // The usual end, with everything done.
    if (outcome_ >= 0 && !leave_a_rest.has(kind_)) return false;
    if (leave_bytes.has(kind_) && static_cast<std::size_t>(outcome_) == bytes_) return false;
    return retries();
  }
  void complete(std::int32_t outcome) noexcept {
    outcome_ = outcome;
    state = phase::completed;
  }

 private:
  /// @returns  whether the operation has ended without waiting
  bool try_now() noexcept;
  bool retries() noexcept;
  /// The await has an outcome. @returns whether it gives way to others first
  bool end_ready(tandem::detail::promise_base& waiting) noexcept;
  /// As start(), where the completion thread waits for it.
  bool start_by_thread(tandem::detail::promise_base& waiting, completion_thread::impl& thread,
                       bool is_at_home) noexcept;

  // Protocol direct.
  bool is_for_workers() const noexcept;
  /// direct/leave_side. Somebody else than the workers waits for it.
  void leave_direct() const noexcept;
  /// As start().
  bool start_direct(tandem::detail::promise_base& waiting) noexcept;
  enum class direct_end : std::uint8_t { done, stopped, waits };
  /// direct/wait. @param is_ready it was told so
  direct_end go_on_direct(interest& known, bool is_ready) noexcept;
  /// direct/use. @returns whether it is done
  bool call_direct(interest& known) noexcept;
  static void run_direct(job* self) noexcept;
  bool stop_direct() noexcept;

  static bool on_stop(stop_waiter& self) noexcept;
  static const tandem::detail::wait_kind waits_for_io;
  static void run_submit(job* self) noexcept;
  static void run_cancel(job* self) noexcept;
  static bool let_go(leaf& self) noexcept;
  static void run_let_go(job* self) noexcept;
  /// selecting/let_go. Of a branch: the first of two says whether the other one comes.
  enum class branch_end : std::uint8_t { none, asked, ended };

  operation_kind kind_;
  native_descriptor descriptor_ = no_descriptor;
  std::int32_t outcome_ = 0;
  completion_thread* thread_ = nullptr;  // both: set when it starts
  void* buffer_;                         // see buffer_form
  std::size_t bytes_;
  bool is_direct_ = false;              // the workers wait for it; before it is published
  bool tries_at_home_ = false;          // set when it is made, or begins
  std::atomic<bool> stop_seen_{false};  // direct/stop
  std::atomic<branch_end> branch_end_{branch_end::none};
  socket_record* record_ = nullptr;  // of its socket
  start_request submit_;  // in the inbox of thread_, or waiting in the port, from start() on
  request cancel_;        // likewise, from on_stop
  alignas(8) std::byte room_[backend_bytes];
};

}  // namespace tandem::inline v0::io::detail
