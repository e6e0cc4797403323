// context.hpp: options that were checked and read, shared by the connections of a client or server.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <tandem/io/tls/export.hpp>
#include <tandem/io/tls/options.hpp>

namespace tandem::inline v0::io {

namespace detail {
class tls_client_state;
class tls_server_state;
}  // namespace detail

namespace tls {

/// What connections of a client share: whom it trusts, and the sessions that it can resume. Reading
/// the system's authorities takes some 20 ms: keep it.
///
///     const tls::client_context context(options);
///     auto stream = co_await tls::connect(std::move(tcp), "example.org", context);
///
/// @thread_safety  a handle: copies are the same context. All members from any thread
class TANDEM_IO_TLS_API client_context {
 public:
  /// The defaults, made at the first use and then shared by the whole process.
  client_context();
  /// @throws  tls::error: bad_option, key_mismatch; the text names the option or the file
  client_context(const client_options& options);  // NOLINT: tls::connect(stream, name, options)

  /// Reads the files again. Connections from now on have what is in them; those that are there go on
  /// as they are. Sessions are forgotten. Of the defaults that the process shares: for all of them.
  ///
  /// @throws  as the constructor: then everything is as before
  void reload() const;
  /// As above, with other options.
  void reload(const client_options& options) const;

  // Implementation
  const std::shared_ptr<detail::tls_client_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::tls_client_state> state_;
};

/// What connections of a server share: its certificates, and the keys of its tickets.
///
/// @thread_safety  a handle: copies are the same context. All members from any thread
class TANDEM_IO_TLS_API server_context {
 public:
  /// @throws  tls::error: bad_option, key_mismatch; the text names the option or the file
  explicit server_context(const server_options& options);

  /// Reads the files again: certificates that were renewed, newer revocation lists. Handshakes from
  /// now on have them; connections that are there go on as they are. Sessions from before are
  /// resumed, but where clients are asked for certificates: these do the handshake in full. Reads
  /// files where it is called.
  ///
  /// @throws  as the constructor: then everything is as before
  void reload() const;
  /// As above, with other options.
  void reload(const server_options& options) const;

  // Implementation
  const std::shared_ptr<detail::tls_server_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::tls_server_state> state_;
};

}  // namespace tls
}  // namespace tandem::inline v0::io
