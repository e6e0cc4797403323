// tcp_listener.hpp: accepts TCP connections.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <coroutine>
#include <optional>
#include <tandem/io/detail/accept_base.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/incoming_awaiter.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

/// How a listener is set up.
class listen_options {
 public:
  listen_options() noexcept = default;

  int backlog = 1024;  ///< connections that wait to be accepted; the kernel limits it further
  bool reuse_address = true;  ///< a port whose old connections linger may be bound again
  bool reuse_port = false;    ///< several listeners share the port
  bool only_v6 = false;       ///< an IPv6 listener refuses IPv4 peers
  tcp_options connections;    ///< what accepted connections have from the start
  /// So many peers at once may send bytes with their handshake (tcp_options::fast_open). None:
  /// nobody. errc::not_supported on Windows, and where the system has no such thing.
  std::optional<unsigned> fast_open_queue;
  /// A connection is offered with its first bytes, or after so long without any. Linux; elsewhere
  /// errc::not_supported.
  std::optional<std::chrono::seconds> defer_accept;
};

/// Awaiter of tcp_listener::accept().
class [[nodiscard]] TANDEM_IO_API accept_awaiter : public detail::accept_base {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::accept>;

  /// @param connections_on  the thread of each connection; null: where the fewest are
  accept_awaiter(detail::socket& socket, completion_pool* pool,
                 completion_thread* connections_on) noexcept
      : accept_base(socket), pool_(pool), connections_on_(connections_on) {}

  tcp_stream await_resume();
  result<tcp_stream> await_resume_result();

 private:
  completion_pool* pool_;
  completion_thread* connections_on_;
};

/// A listening TCP socket.
///
///     auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
///     while (true) scope.spawn(serve(co_await listener.accept()));
///
/// @thread_safety  accept() by one task at a time; everything else by its owner
class TANDEM_IO_API tcp_listener {
 public:
  tcp_listener() noexcept = default;

  /// @throws  std::system_error naming the address: address_in_use, permission_denied, ...;
  ///          std::logic_error outside any task
  static tcp_listener bind(const endpoint& address, const listen_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static tcp_listener bind(completion_pool& pool, const endpoint& address,
                           const listen_options& options = {});

  /// A listener for each completion thread, all on one port, among which the kernel spreads the
  /// peers (SO_REUSEPORT). What a shard accepts is served by the shard's own thread: so a
  /// connection never crosses threads.
  ///
  ///     co_await serve(tandem::io::tcp_listener::bind_sharded(address), handler);
  ///
  /// @throws  as bind()
  static std::vector<tcp_listener> bind_sharded(const endpoint& address,
                                                const listen_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static std::vector<tcp_listener> bind_sharded(completion_pool& pool, const endpoint& address,
                                                const listen_options& options = {});

  /// Takes over a listening TCP socket.
  ///
  /// @param descriptor   belongs to the listener from now on; becomes close-on-exec and blocking
  /// @param connections  what accepted connections have from the start; what is not set, as the
  ///                     socket has it
  /// @throws            std::system_error that says what it is instead of a listening TCP socket:
  ///                    then it is still the caller's; std::logic_error outside any task
  static tcp_listener from_native(native_descriptor descriptor,
                                  const tcp_options& connections = {});
  /// As above, anywhere: for a pool that exists.
  static tcp_listener from_native(completion_pool& pool, native_descriptor descriptor,
                                  const tcp_options& connections = {});
  /// As above, of one who owns it: closed with the owner if it is refused.
  static tcp_listener from_native(owned_descriptor&& descriptor,
                                  const tcp_options& connections = {}) {
    return detail::from_owned<tcp_listener>(std::move(descriptor), connections);
  }
  static tcp_listener from_native(completion_pool& pool, owned_descriptor&& descriptor,
                                  const tcp_options& connections = {}) {
    return detail::from_owned<tcp_listener>(pool, std::move(descriptor), connections);
  }

  /// Not after incoming(): see there.
  ///
  /// @returns        the next connection; it is bound to the completion thread with the fewest
  /// @throws         std::system_error: too_many_files_open, ...; operation_cancelled
  /// @cancellation   may lose the race and return a connection; none is ever lost
  /// @resumes_on     the caller's home
  accept_awaiter accept() noexcept { return accept_awaiter(socket_, pool_, connections_on_); }

  /// Accepts without being asked each time: connections come in batches, and wait here until they
  /// are taken (about 8, or what the kernel had when it was asked). For listeners that accept a
  /// lot; where a limit decides when a peer is accepted, use accept(); not after this, nor serve()
  /// or release(): they abort with a message, since connections that are here already would not be
  /// found.
  ///
  /// @returns        the next connection; it is bound to the completion thread with the fewest
  /// @throws         std::system_error: too_many_files_open, ... (nothing is asked for until the
  ///                 next call); operation_cancelled; std::bad_alloc
  /// @cancellation   ends the wait at once; none is ever lost: the next call has what came. Those
  ///                 that nobody has taken are closed with the listener
  /// @thread_safety  one incoming() at a time
  /// @resumes_on     the caller's home
  /// @cost           no entry, no system call; one small allocation a connection
  incoming_awaiter incoming() noexcept { return incoming_awaiter(socket_, pool_, connections_on_); }

  /// The executor of the completion thread that serves this socket. pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a listener that was never opened");
    return socket_.thread()->executor();
  }

  endpoint local_endpoint() const;
  /// Stops listening. No accept may be in flight. After incoming() a listener from from_native(),
  /// which others may have too, goes on until its completion thread has closed it; on Windows every
  /// listener does.
  void close() noexcept { socket_.close(); }
  /// Gives the descriptor up without closing it: it is the caller's now, and it is blocking. No
  /// accept may be in flight, nor any incoming() have been awaited: either aborts with a message.
  ///
  /// @returns  no_descriptor if the listener is not open
  [[nodiscard]] native_descriptor release() noexcept { return socket_.release(); }
  bool is_open() const noexcept { return socket_.is_open(); }
  /// The descriptor, for calls that are not offered here, or to be sent to a process that shall
  /// listen, too (unix_stream::write_with): it stays ours. With accept() and serve() that process
  /// listens on when this listener is closed.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return socket_.descriptor(); }

 private:
  tcp_listener(detail::socket&& socket, completion_pool& pool) noexcept
      : socket_(std::move(socket)), pool_(&pool) {}
  static tcp_listener bind_on(completion_thread& thread, completion_pool& pool,
                              const endpoint& address, const listen_options& options);

  detail::socket socket_;
  completion_pool* pool_ = nullptr;
  completion_thread* connections_on_ = nullptr;  // a shard's: its own thread
};

}  // namespace tandem::inline v0::io
