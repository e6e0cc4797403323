// tls_stream.hpp: an encrypted connection, over any stream of bytes.
// SPDX-License-Identifier: MIT
//
// Protocol tls_sending: io/src/tls/README.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/certificate_summary.hpp>
#include <tandem/io/tls/export.hpp>
#include <tandem/io/tls/options.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io {

namespace detail {
class tls_session;
}

namespace tls {

/// What the two sides have agreed on.
class session_details {
 public:
  session_details() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  tls::version version = tls::version::tls1_3;
  std::string cipher;       ///< "TLS_AES_256_GCM_SHA384"
  std::string protocol;     ///< of ALPN; empty: none
  std::string server_name;  ///< what the client asked for (SNI); empty: nothing
  bool resumed = false;     ///< by a session of an earlier connection: no certificate was sent
  /// The peer's, as PEM; empty: it has shown none. It was checked, unless the options say otherwise.
  std::string peer_certificate;
  certificate_summary peer;  ///< what stands in it; empty fields where it has shown none
};

}  // namespace tls

/// A byte_stream that encrypts what it writes and decrypts what it reads. Comes from tls::connect(),
/// tls::accept() or tls::accepting().
///
///     tls_stream stream = co_await tls::connect(std::move(tcp), "example.org");
///     co_await stream.write_all(bytes_of(request));
///     while (const std::size_t n = co_await stream.read(buffer)) { ... }
///     co_await stream.finish(1s);
///
/// Three ends of reading: 0 is the peer's own word that this was all (close_notify); errc::truncated
/// the end of the connection without it; operation_cancelled a stop of yours, after which the stream
/// goes on as before.
///
/// Destroyed or closed without finish() or shutdown() it sends no farewell: the peer will see a
/// truncation.
///
/// @thread_safety  one read and one write at a time, from two tasks on any homes; finish() when
///                 neither is under way; everything else by its owner
class TANDEM_IO_TLS_API tls_stream {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  tls_stream() noexcept;
  tls_stream(tls_stream&& other) noexcept;
  tls_stream& operator=(tls_stream&& other) noexcept;
  ~tls_stream();

  /// Reads up to `buffer.size()` bytes. Never waits for a write, not even for an answer that TLS
  /// itself owes the peer.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 when the peer has ended with close_notify, or for an empty
  ///                      buffer
  /// @throws              tls::error: truncated, broken_record, refused_by_peer; std::system_error of
  ///                      the stream below: connection_reset, ...; operation_cancelled. After a failure
  ///                      that is no stop all further reads fail with the same
  /// @cancellation        may lose the race and return data; no byte is ever lost
  /// @thread_safety       one read at a time, beside a write
  /// @resumes_on          the caller's home, where it decrypts
  /// @cost                one frame; no other allocation but OpenSSL's
  task<std::size_t> read(std::span<std::byte> buffer);

  /// Writes up to `bytes.size()` bytes: at most 64 KiB, in records that go out together.
  ///
  /// @param bytes         alive until the await returns (also after a stop)
  /// @returns             bytes that were encrypted
  /// @throws              tls::error; std::system_error of the stream below: broken_pipe, ...;
  ///                      operation_cancelled if nothing was encrypted yet
  /// @cancellation        what was encrypted when a stop comes is returned as written; what of it the
  ///                      stream below has not taken yet goes out by itself, before what is written
  ///                      next
  /// @thread_safety       one write at a time, beside a read
  /// @resumes_on          the caller's home, where it encrypts
  task<std::size_t> write(std::span<const std::byte> bytes);

  /// Writes all of `bytes`.
  ///
  /// @throws         as write(); how much was written before is then unknown
  /// @cancellation   a part may have been written: then only close() is right. write() says how much
  task<void> write_all(std::span<const std::byte> bytes);
  /// As above, of any number of buffers, one after the other; small ones share records.
  ///
  /// @param buffers  the list and the buffers stay the caller's, alive until the await returns
  template <buffer_list<const std::byte> B>
  task<void> write_all(const B& buffers) {
    return write_list(std::span<const std::span<const std::byte>>(buffers));
  }

  /// Ends what is written, by close_notify: the peer's reads yield 0 after what came before, and it
  /// may go on writing. Sends it without making the caller wait; nothing if done before. If the stream
  /// is dropped then, or the runtime ends, what is on its way has a second more. Outside any task it
  /// goes out with the next operation.
  ///
  /// @throws         std::system_error: bad_file_descriptor; std::bad_alloc
  /// @thread_safety  beside a read; not beside a write
  void shutdown();

  /// Ends both directions in order: sends what is left and close_notify, waits for the peer's, and
  /// drops what comes before that. Then close() or the destructor.
  ///
  /// @param most          how long all of that may take
  /// @returns             whether the peer has said its own close_notify in time; no: it was silent,
  ///                      or the connection ended
  /// @throws              operation_cancelled; std::system_error: bad_file_descriptor
  /// @cancellation        ends the wait at once
  /// @thread_safety       no read and no write may be under way
  /// @resumes_on          the caller's home
  /// @source              RFC 8446, section 6.1
  task<bool> finish(std::chrono::steady_clock::duration most);

  /// New keys for what is written from now on, and if `of_peer_too`, the peer is asked to do likewise;
  /// no reads and writes wait for that. TLS 1.3 only. OpenSSL does so by itself as often as a cipher needs it.
  ///
  /// @throws         tls::error (failed) with TLS 1.2, or after shutdown()
  /// @thread_safety  beside a read; not beside a write
  /// @source         RFC 8446, section 4.6.3
  void update_keys(bool of_peer_too = false);

  /// Gives everything back, with the stream below; harmless if done before. No operation may be in
  /// flight.
  void close() noexcept;
  bool is_open() const noexcept { return session_ != nullptr; }

  /// pre: it is open
  tls::session_details details() const;
  /// The stream below, for what is not offered here (its addresses, its options). Whoever reads from
  /// it or writes to it breaks the connection. pre: it is open
  any_stream& next() noexcept;

  /// As that of the stream below.
  bool has_thread_executor();
  tandem::executor& thread_executor();

  // Implementation
  explicit tls_stream(std::shared_ptr<detail::tls_session> session) noexcept;

 private:
  task<void> write_list(std::span<const std::span<const std::byte>> buffers);

  std::shared_ptr<detail::tls_session> session_;
};

namespace tls {
using io::tls_stream;
}

}  // namespace tandem::inline v0::io
