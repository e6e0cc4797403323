// tcp_stream.hpp: a TCP connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/happy_eyeballs.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/socket_stream.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/io/tcp_statistics.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

class tcp_stream;

/// Awaiter of tcp_stream::connect().
class [[nodiscard]] TANDEM_IO_API connect_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = detail::lossy<detail::operation_kind::connect>;

  connect_awaiter(const endpoint& peer, const tcp_options& options) noexcept;
  connect_awaiter(connect_awaiter&& other) noexcept = default;
  ~connect_awaiter();

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return start(self.promise());
  }
  tcp_stream await_resume();
  result<tcp_stream> await_resume_result();
  /// As socket_awaiter.
  bool was_stopped() const noexcept { return operation_.was_stopped(); }

 private:
  bool start(tandem::detail::promise_base& waiting);
  endpoint peer_;
  tcp_options options_;
  detail::socket socket_;
  std::error_code open_error_;
  const char* refused_ = nullptr;  // with open_error_: the option
  detail::operation operation_;
};

/// A connected TCP socket, bound to one completion thread for life.
///
///     auto stream = co_await tandem::io::tcp_stream::connect(endpoint);
///     co_await stream.write_all(tandem::io::bytes_of(request));
///     std::size_t n = co_await stream.read(buffer);
///
/// Reading, writing, shutdown() and close() are those of socket_stream.
///
/// @thread_safety  as socket_stream
class TANDEM_IO_API tcp_stream : public socket_stream {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  tcp_stream() noexcept = default;
  tcp_stream(tcp_stream&&) noexcept = default;
  tcp_stream& operator=(tcp_stream&&) noexcept = default;

  /// A task that lives on a completion thread has its connection there; of any other, it goes to
  /// the thread with the fewest.
  ///
  /// @throws         std::system_error: connection_refused, network_unreachable, ...;
  ///                 operation_cancelled; std::logic_error outside any task
  /// @cancellation   may lose the race and return the connection
  /// @resumes_on     the caller's home
  static connect_awaiter connect(const endpoint& peer, const tcp_options& options = {}) noexcept {
    return connect_awaiter(peer, options);
  }

  /// Connects to whichever of several addresses answers first: the families in turn, a further
  /// attempt each time that the last one has failed or has had `attempt_delay`; the others are
  /// given up then.
  ///
  ///     auto stream = co_await tcp_stream::connect(co_await resolve("example.org", 443));
  ///
  /// @param candidates  in the order of preference, as resolve() gives them
  /// @throws            std::system_error with the code of the first candidate's failure, and the
  ///                    failure of each in its text; operation_cancelled; std::invalid_argument if
  ///                    there is none
  /// @cancellation      ends all attempts; may lose the race and return the connection
  /// @resumes_on        the caller's home, after all attempts have ended
  /// @cost              a scope, and a task for each attempt
  /// @source            RFC 8305, "Happy Eyeballs", section 5
  static task<tcp_stream> connect(std::vector<endpoint> candidates,
                                  happy_eyeballs_options options = {});
  /// resolve(), then as above.
  static task<tcp_stream> connect(std::string host, std::uint16_t port,
                                  happy_eyeballs_options options = {});

  /// Takes over a connected TCP socket, with the options that it has.
  ///
  /// @param descriptor  belongs to the stream from now on; becomes close-on-exec and blocking
  /// @throws            std::system_error that says what it is instead of a connected TCP socket:
  ///                    then it is still the caller's; std::logic_error outside any task
  static tcp_stream from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static tcp_stream from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static tcp_stream from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<tcp_stream>(std::move(descriptor));
  }
  static tcp_stream from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<tcp_stream>(pool, std::move(descriptor));
  }

  /// Closes it with a reset: what was not sent yet is dropped, and the peer's next call fails with
  /// errc::connection_reset.
  void abort() noexcept;
  /// Sets what `options` has, on a connection that lives.
  ///
  /// @throws  std::system_error naming the option
  void set_options(const tcp_options& options);
  /// As the system has them: all are set but those that are off. Linux counts its own bookkeeping
  /// in the buffers, so it names twice what was asked for. @throws std::system_error
  tcp_options options() const;
  /// One of them, as in tcp_options. @throws std::system_error
  void set_no_delay(bool on);
  void set_keep_alive(const std::optional<keep_alive>& alive);
  void set_linger(const std::optional<std::chrono::seconds>& span);
  void set_receive_buffer_bytes(std::size_t bytes);
  void set_send_buffer_bytes(std::size_t bytes);
  void set_user_timeout(std::chrono::milliseconds span);
  void set_quick_ack(bool on);
  void set_traffic_class(std::uint8_t value);
  void set_mark(std::uint32_t mark);
  void set_congestion_control(const system_name& name);
  /// How the connection is doing.
  ///
  /// @throws         std::system_error: bad_file_descriptor; not_supported where the system is not
  ///                 Linux
  /// @thread_safety  beside a read and a write
  /// @cost           one system call
  tcp_statistics statistics() const;

  /// @throws  std::system_error
  endpoint local_endpoint() const;
  endpoint remote_endpoint() const;

  // Implementation
  explicit tcp_stream(detail::socket&& socket) noexcept : socket_stream(std::move(socket)) {}
};

}  // namespace tandem::inline v0::io
