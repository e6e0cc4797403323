// use_await.hpp: the completion token that makes an operation of Asio an await of tandem.
// SPDX-License-Identifier: MIT
//
// Users include <tandem/asio.hpp> or <tandem/boost_asio.hpp>: alone this is a token that no operation
// knows. Protocols foreign_waits and turns:
// runtime/src/foreign/README.md.
#pragma once

#include <type_traits>

namespace tandem::inline v0 {

/// The type of use_await.
struct use_await_t {
  constexpr use_await_t() = default;
};

/// Awaits an operation of Asio in a task of tandem: a completion token, as asio::use_awaitable is
/// one for Asio's own coroutines.
///
///     const std::size_t got = co_await socket.async_read_some(buffer, tandem::use_await);
///     auto written = co_await tandem::as_result(asio::async_write(socket, data, use_await));
///     auto [code, n] = co_await socket.async_read_some(buffer, as_tuple(tandem::use_await));
///
/// (`as_tuple` is asio::experimental::as_tuple in Asio 1.22 and in Boost 1.81:
/// <asio/experimental/as_tuple.hpp>.)
///
/// The operation belongs to the await: its memory is in the task's frame, and its steps and the
/// stop take turns, whatever threads they come from. Where the object's executor is one thread at a
/// time by itself (a strand, an io_context that was made with the hint 1), or one is bound
/// (`bind_executor(strand, use_await)`), everything runs there, the start too. Of two operations on
/// one object that have several steps (async_read, a WebSocket, TLS) both need that, as Asio says.
///
/// @returns        what the handler gets behind its error_code or exception_ptr: one value, several
///                 as a tuple, or nothing
/// @throws         the error_code as std::system_error, the exception; operation_cancelled if the
///                 operation was aborted after a stop; std::system_error with
///                 errc::callback_dropped if Asio destroyed the handler (its context has ended);
///                 std::logic_error if the io_context is stopped: nothing would ever come
///                 (one that stops later is no error: what is awaited, and a stop of it, wait until
///                 it runs again, or is destroyed)
///
/// An operation that is aborted without a stop of its task (by the object's cancel() or close()) is
/// no cancellation: it throws std::system_error with the code that Asio has given, and no
/// operation_cancelled. Compare the code for that:
/// `error.code() == asio::error::operation_aborted`; with Boost
/// `error.code() == std::error_code(boost::system::error_code(boost::asio::error::operation_aborted))`.
/// result::is_cancelled() does not tell: Boost's code compares equal to operation_canceled, and
/// standalone Asio's does not. result::reason() does: it names the stop's reason, if there was one.
///
/// @cancellation   terminal, partial and total are emitted together, and the operation takes what
///                 it knows; it is waited for. A stop stays: a composed operation that goes on hears
///                 of it after each step (but for one with an executor that was bound, whose steps
///                 are not seen here). What it had moved by then is in the handler's arguments only:
///                 as_tuple(use_await)
///                 A virtual clock stands still meanwhile (virtual_time.hpp)
/// @thread_safety  the awaiting task may live anywhere; the object is as safe as Asio makes it
/// @resumes_on     the caller's home; a task that lives in the io_context (spawn_into) goes on
///                 inside the handler
/// @cost           no allocation of ours; what an operation of Asio allocates lies in the frame
inline constexpr use_await_t use_await{};

}  // namespace tandem::inline v0

namespace tandem::inline v0::detail {

/// use_await, or that bound to an executor. Each of Asio's namespaces adds its own.
template <class Token>
inline constexpr bool is_await_token = std::is_same_v<Token, use_await_t>;

}  // namespace tandem::inline v0::detail
