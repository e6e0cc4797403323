// asio_stream.hpp: a stream of tandem as an AsyncStream of Asio's.
// SPDX-License-Identifier: MIT
//
// Included by <tandem/asio.hpp> and <tandem/boost_asio.hpp>; one type serves both. Each direction
// has a task, which does what is asked of it, one after the other. Protocol stream_requests:
// io/src/interop/README.md.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/detail/asio_stream_state.hpp>
#include <tandem/asio/detail/stream_operation.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/detail/thread_executor_of.hpp>
#include <utility>

namespace boost::beast {
enum class role_type;  // NOLINT: for the overloads that Beast looks for
}

namespace tandem::inline v0 {

namespace detail {

/// @throws  std::logic_error if there is none
template <class Stream>
executor& home_of_stream(Stream& stream) {
  executor* const found = io::detail::thread_executor_of(stream);
  if (found != nullptr) return *found;
  throw std::logic_error(
      "tandem::as_asio_stream: the stream has no thread_executor(), or is not open: name the "
      "executor at which it is to be used: as_asio_stream(stream, runtime.workers())");
}

}  // namespace detail

/// A byte stream of tandem, used through Asio: an AsyncReadStream and AsyncWriteStream, for Beast,
/// asio::ssl, asio::async_read and the like, and for the lowest layer of those.
///
///     beast::websocket::stream<tandem::asio_stream<io::tcp_stream>> ws(
///         tandem::as_asio_stream(std::move(connection)));
///     co_await ws.async_accept(tandem::use_await);
///
/// Its operations run as tasks of the runtime, also if they are started by a thread that no runtime
/// owns; so do handlers without an executor of their own. Destroying it, or close(), ends what is
/// under way as aborted, and then closes the stream.
///
/// @thread_safety  one read and one write at a time, from any thread; everything else by its owner
template <class Stream>
class asio_stream {
  using state = detail::asio_stream_state<Stream>;

 public:
  using executor_type = asio_executor;
  using lowest_layer_type = asio_stream;

  /// @param home  where its operations run; of the runtime of the stream
  /// @throws      std::logic_error if the two are of different runtimes
  asio_stream(Stream stream, executor& home)
      : asio_stream(std::move(stream), asio_executor(home)) {}
  /// As above; the strand is kept as long as it is used.
  asio_stream(Stream stream, const strand& home)
      : asio_stream(std::move(stream), asio_executor(home)) {}
  asio_stream(asio_stream&&) noexcept = default;
  asio_stream& operator=(asio_stream&& other) noexcept {
    if (state_ != nullptr) state_->close();
    state_ = std::move(other.state_);
    return *this;
  }
  ~asio_stream() {
    if (state_ != nullptr) state_->close();
  }

  /// Signature `void(error_code, std::size_t)`, as Asio's; the buffers live until the handler is
  /// called.
  ///
  /// @cancellation  by the token's slot, any type: no byte is lost
  /// @cost          one post if the stream's task waits; no allocation but the handler's, and, with
  ///                a slot, a stop source
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return initiate(detail::stream_request::kind::read, buffers, std::forward<Token>(token));
  }
  /// As above. One buffer is written as far as the stream takes it; several are written all, or, with
  /// a slot, the first of them.
  ///
  /// @cancellation  by the token's slot, any type; the count tells what was written
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return initiate(detail::stream_request::kind::write, buffers, std::forward<Token>(token));
  }

  executor_type get_executor() const noexcept { return state_->home(); }
  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// The stream itself, for what is not offered here. While nothing is under way.
  Stream& stream() noexcept { return state_->stream(); }
  bool is_open() const noexcept { return state_ != nullptr && !state_->is_closed(); }
  /// Ends what is written; reads go on.
  ///
  /// @throws  what the stream's shutdown() throws; std::system_error with bad_file_descriptor if it
  ///          is closed
  void shutdown() {
    if (!is_open()) {
      throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor),
                              "tandem::asio_stream::shutdown: the stream is closed");
    }
    state_->stream().shutdown();
  }
  /// Ends what is under way, and then closes the stream. Later operations fail as bad_descriptor.
  ///
  /// @thread_safety  any thread
  void close() noexcept { state_->close(); }

  // For Beast, which finds them by their arguments
  friend void beast_close_socket(asio_stream& socket) noexcept { socket.close(); }
  template <class Code>
  friend void teardown(boost::beast::role_type /*role*/, asio_stream& socket, Code& code) noexcept {
    socket.close();
    code = {};
  }
  template <class Done>
  friend void async_teardown(boost::beast::role_type role, asio_stream& socket, Done&& done) {
    socket.tear_down(role, std::forward<Done>(done));
  }

  // Implementation
 private:
  asio_stream(Stream&& stream, asio_executor home) {
    executor* const own = io::detail::thread_executor_of(stream);
    if (own != nullptr && own->owner() != home.target().owner()) {
      throw std::logic_error(
          "tandem::as_asio_stream: the stream belongs to another runtime than the executor: give "
          "an executor of the runtime that has opened the stream");
    }
    state_ = std::make_shared<state>(std::move(stream), home);
  }
  template <class Buffers, class Token>
  auto initiate(detail::stream_request::kind what, const Buffers& buffers, Token&& token) {
    using flavour = typename detail::buffers_flavour<Buffers>::type;
    return flavour::template initiate<Token, void(typename flavour::error_code, std::size_t)>(
        detail::initiate_on_stream<flavour, Stream>(state_), token, what, buffers);
  }
  template <class Role, class Done>
  void tear_down(Role role, Done&& done) {
    using flavour = typename detail::role_flavour<Role>::type;
    using handler = detail::end_of_teardown<flavour, Stream, std::decay_t<Done>>;
    if (role == Role::server) state_->end_writing();
    detail::initiate_on_stream<flavour, Stream> start(state_);
    start(handler(state_, std::forward<Done>(done)), detail::stream_request::kind::drain,
          typename flavour::mutable_buffer());
  }

  std::shared_ptr<state> state_;
};

/// Makes an asio_stream of any byte stream that has a thread of its own (a connection of tandem's).
///
/// @throws  std::logic_error if the stream has no executor of its own; std::bad_alloc
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream) {
  executor& home = detail::home_of_stream(stream);
  return asio_stream<Stream>(std::move(stream), home);
}
/// As above, at an executor of the same runtime.
///
/// @throws  std::logic_error if it is of another runtime; std::bad_alloc
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream, executor& home) {
  return asio_stream<Stream>(std::move(stream), home);
}
/// As above; the strand is kept as long as it is used: timers of a WebSocket call it when the
/// stream is gone.
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream, const strand& home) {
  return asio_stream<Stream>(std::move(stream), home);
}

}  // namespace tandem::inline v0
