// operation_kind.hpp: what each kind of operation is: one row of one table.
// SPDX-License-Identifier: MIT
//
// Whoever handles operations asks the table. Only what calls the system has a switch over kinds:
// one a backend. How an operation is added: io/src/operation/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tandem/io/detail/kind_set.hpp>
#include <tandem/io/detail/socket_side.hpp>
#include <type_traits>

namespace tandem::inline v0::io::detail {

enum class operation_kind : std::uint8_t {
  accept,
  connect,
  receive,
  receive_vector,
  send,
  send_all,
  send_all_vector,
  receive_from,
  send_to,
  receive_batch,
  send_train,
  send_datagrams,
  receive_message,
  send_message,
  read_shared,
  write_shared,
  write_all_shared,
  read_pipe,
  write_pipe,
  write_all_pipe,
  send_zero_copy,
  send_file,
  fill_pipe,
  drain_pipe,
  wait_readable,
  wait_writable,
  wait_process,
  read_own,  ///< of what the library made for itself: signals, changes of files
  file,
};

/// What an operation's buffer() is.
enum class buffer_form : std::uint8_t {
  none,
  bytes,     ///< as many as bytes() says
  window,    ///< a segment_window
  datagram,  ///< a datagram
  batch,     ///< a datagram_batch
  train,     ///< a datagram_train
  list,      ///< a datagram_list
  message,   ///< a local_message
  other,     ///< an other_end
  peer,      ///< an endpoint
  file,      ///< a file_request
};

/// What its descriptor is ready for when it can be done.
enum class direction : std::uint8_t {
  read,
  write,
  none,  ///< no matter of readiness: where there are no rings, a thread of blocking() does it
};

/// What may be left when the system has done a part: the operation is submitted again for it.
enum class rest_form : std::uint8_t {
  nothing,  ///< a part is the end
  bytes,    ///< of the buffer
  window,   ///< of the list that the window stands on
  file,     ///< the file_request knows, also after an error
};

struct operation_row {
  operation_kind kind;
  /// For people: the call that they made.
  const char* name;
  /// Likewise, of a Unix socket, where it is not the same.
  const char* local_name = nullptr;
  buffer_form buffer = buffer_form::none;
  direction waits_for = direction::none;
  /// Of its socket: what it keeps others from while it is under way.
  socket_side side = socket_side::none;
  rest_form rest = rest_form::nothing;
  /// Without a byte of buffer it has ended before it begins.
  bool is_done_if_empty = false;
  /// One call does it without blocking, so any thread may try it before it is submitted.
  bool is_tried_first = false;
  /// The descriptor is ours, and nobody else relies on its mode.
  bool is_ours = false;
  /// What it took or gave is lost if nobody asks for its outcome: race() refuses it.
  bool is_lossy = false;
  /// A stop ends it while it waits. Else what has begun goes on to its end.
  bool ends_by_stop = true;
  /// A peer that left while it waited is none of the user's: it begins again, as all do that were
  /// interrupted.
  bool survives_abort = false;
  /// What the system answers is not its outcome yet: the backend has to look at it.
  bool is_finished_by_backend = false;
  /// Rings have no entry for it: they wait until its descriptor is ready, and then try, as the
  /// others.
  bool is_polled = false;
};

inline constexpr std::array operation_rows = {
    operation_row{.kind = operation_kind::accept,
                  .name = "tcp_listener::accept",
                  .local_name = "unix_listener::accept",
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_ours = true,
                  .is_lossy = true,
                  .survives_abort = true},
    operation_row{.kind = operation_kind::connect,
                  .name = "tcp_stream::connect",
                  .buffer = buffer_form::peer,
                  .waits_for = direction::write,
                  .is_ours = true,
                  .is_finished_by_backend = true},
    operation_row{.kind = operation_kind::receive,
                  .name = "tcp_stream::read",
                  .local_name = "unix_stream::read",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    operation_row{.kind = operation_kind::receive_vector,
                  .name = "tcp_stream::read of a list",
                  .local_name = "unix_stream::read of a list",
                  .buffer = buffer_form::window,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    operation_row{.kind = operation_kind::send,
                  .name = "tcp_stream::write",
                  .local_name = "unix_stream::write",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    operation_row{.kind = operation_kind::send_all,
                  .name = "tcp_stream::write_all",
                  .local_name = "unix_stream::write_all",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .rest = rest_form::bytes,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    operation_row{.kind = operation_kind::send_all_vector,
                  .name = "tcp_stream::write_all of a list",
                  .local_name = "unix_stream::write_all of a list",
                  .buffer = buffer_form::window,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .rest = rest_form::window,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    // An empty datagram is one, too.
    operation_row{.kind = operation_kind::receive_from,
                  .name = "udp_socket::receive_into",
                  .buffer = buffer_form::datagram,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true},
    operation_row{.kind = operation_kind::send_to,
                  .name = "udp_socket::send",
                  .buffer = buffer_form::datagram,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true},
    // Of which one call does several.
    operation_row{.kind = operation_kind::receive_batch,
                  .name = "udp_socket::receive",
                  .buffer = buffer_form::batch,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::send_train,
                  .name = "udp_socket::send_train",
                  .buffer = buffer_form::train,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::send_datagrams,
                  .name = "udp_socket::send_many",
                  .buffer = buffer_form::list,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    // With what no entry of a ring can take apart: descriptors, credentials.
    operation_row{.kind = operation_kind::receive_message,
                  .name = "receive of a Unix socket",
                  .buffer = buffer_form::message,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::send_message,
                  .name = "send of a Unix socket",
                  .buffer = buffer_form::message,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    // Of descriptors that others use too, whose mode stays as it is: standard input and output.
    operation_row{.kind = operation_kind::read_shared,
                  .name = "shared_input::read",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::write_shared,
                  .name = "shared_output::write",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::write_all_shared,
                  .name = "shared_output::write_all",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .rest = rest_form::bytes,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    // A pipe's ends are not to block, so rings would give up at once where kernels are old.
    operation_row{.kind = operation_kind::read_pipe,
                  .name = "pipe_reader::read",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::write_pipe,
                  .name = "pipe_writer::write",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::write_all_pipe,
                  .name = "pipe_writer::write_all",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .rest = rest_form::bytes,
                  .is_done_if_empty = true,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    // Not tried first: that would copy. It ends when the system has given the buffer back.
    operation_row{.kind = operation_kind::send_zero_copy,
                  .name = "tcp_stream::write_all_zero_copy",
                  .local_name = "unix_stream::write_all_zero_copy",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .rest = rest_form::bytes,
                  .is_done_if_empty = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true},
    // Between a socket and another descriptor, which nobody waits for.
    operation_row{.kind = operation_kind::send_file,
                  .name = "tcp_stream::send_file",
                  .local_name = "unix_stream::send_file",
                  .buffer = buffer_form::other,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::fill_pipe,
                  .name = "splice_pipe::fill_from a connection",
                  .buffer = buffer_form::other,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    operation_row{.kind = operation_kind::drain_pipe,
                  .name = "splice_pipe::drain_to a connection",
                  .buffer = buffer_form::other,
                  .waits_for = direction::write,
                  .side = socket_side::giving,
                  .is_tried_first = true,
                  .is_ours = true,
                  .is_lossy = true,
                  .is_finished_by_backend = true,
                  .is_polled = true},
    // These end with what their descriptor is ready for (platform::events_of).
    operation_row{.kind = operation_kind::wait_readable,
                  .name = "tandem::io::readable",
                  .waits_for = direction::read,
                  .is_tried_first = true},
    operation_row{.kind = operation_kind::wait_writable,
                  .name = "tandem::io::writable",
                  .waits_for = direction::write,
                  .is_tried_first = true},
    // Of a descriptor that is ready when the process has ended. It takes nothing: its side is a
    // place in the workers' port.
    operation_row{.kind = operation_kind::wait_process,
                  .name = "process::wait",
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_tried_first = true,
                  .is_ours = true},
    operation_row{.kind = operation_kind::read_own,
                  .name = "signal_set::wait",
                  .buffer = buffer_form::bytes,
                  .waits_for = direction::read,
                  .side = socket_side::taking,
                  .is_ours = true,
                  .is_lossy = true},
    operation_row{.kind = operation_kind::file,
                  .name = "an operation on a file",
                  .buffer = buffer_form::file,
                  .rest = rest_form::file,
                  .ends_by_stop = false},
};
static_assert(is_in_order(operation_rows, &operation_row::kind));
static_assert(operation_rows.back().kind == operation_kind::file, "a row for each kind");

constexpr const operation_row& row_of(operation_kind kind) noexcept {
  return operation_rows[static_cast<std::size_t>(kind)];
}

using operation_set = kind_set<operation_kind>;
inline constexpr operation_set are_done_if_empty{operation_rows, &operation_row::is_done_if_empty};
inline constexpr operation_set are_tried_first{operation_rows, &operation_row::is_tried_first};
inline constexpr operation_set are_on_our_descriptors{operation_rows, &operation_row::is_ours};
inline constexpr operation_set are_finished_by_backend{operation_rows,
                                                       &operation_row::is_finished_by_backend};
inline constexpr operation_set are_polled{operation_rows, &operation_row::is_polled};
inline constexpr operation_set are_taking{
    operation_rows, [](const operation_row& row) { return row.side == socket_side::taking; }};
/// What has a side of a socket of ours and can be tried by any thread: its task serves a
/// connection, and workers may wait for it themselves. (They hear of each change once. Of what
/// others use, too, a call may find nothing though something is there, since one of theirs is under
/// way: shared/wait.)
inline constexpr operation_set are_of_connections{operation_rows, [](const operation_row& row) {
                                                    return row.is_tried_first && row.is_ours &&
                                                           row.side != socket_side::none;
                                                  }};
/// Where less than was asked for says that nothing is left: a stream of bytes.
inline constexpr operation_set are_drained_by_less{
    operation_rows, [](const operation_row& row) {
      return row.side == socket_side::taking &&
             (row.buffer == buffer_form::bytes || row.buffer == buffer_form::window);
    }};
inline constexpr operation_set leave_a_rest{
    operation_rows, [](const operation_row& row) { return row.rest != rest_form::nothing; }};
inline constexpr operation_set leave_bytes{
    operation_rows, [](const operation_row& row) { return row.rest == rest_form::bytes; }};

/// What an awaiter of these kinds says to race(): `using lossy_when_dropped = lossy<...>`.
template <operation_kind First, operation_kind... Others>
  requires((row_of(First).is_lossy == row_of(Others).is_lossy) && ...)
using lossy = std::bool_constant<row_of(First).is_lossy>;

}  // namespace tandem::inline v0::io::detail
