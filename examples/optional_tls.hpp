// optional_tls.hpp: TLS for servers that are built with it and without: port_forwarder, puzzle_service.
// SPDX-License-Identifier: MIT
//
// Nothing here names tandem::io_tls. Where that is not there, without_tls.cpp takes the place of
// optional_tls.cpp, and whoever asks for TLS is told so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <tandem/io/any_stream.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io::tls {
class client_context;
class server_context;
}  // namespace tandem::inline v0::io::tls

/// What serve() calls for each connection.
using connection_handler =
    std::function<tandem::task<void>(tandem::io::any_stream, std::stop_token)>;

/// The side of a server. By default connections stay as they are.
class optional_tls_server {
 public:
  optional_tls_server() = default;
  /// @throws  std::system_error naming the file and what is wrong with it; std::runtime_error: this
  ///          program was built without TLS
  optional_tls_server(const std::string& certificate_file, const std::string& key_file);

  bool encrypts() const noexcept { return context_ != nullptr; }
  /// Calls `handler` with what the client says when its handshake is over.
  connection_handler before(connection_handler handler) const;
  /// One connection's handshake. This object stays where it is until it is over.
  tandem::task<tandem::io::any_stream> accept(tandem::io::any_stream plain) const;

 private:
  std::shared_ptr<const tandem::io::tls::server_context> context_;
};

/// The side of a client, likewise.
class optional_tls_client {
 public:
  optional_tls_client() = default;
  /// @param name        whose certificate the server has to show
  /// @param trust_file  authorities beside the system's; empty: none
  /// @throws            as optional_tls_server
  optional_tls_client(std::string name, const std::string& trust_file);

  tandem::task<tandem::io::any_stream> connect(tandem::io::any_stream plain) const;

 private:
  std::string name_;
  std::shared_ptr<const tandem::io::tls::client_context> context_;
};

/// The farewell of TLS, when both sides have sent what they had; of any other stream nothing.
tandem::task<void> say_goodbye(tandem::io::any_stream& stream,
                               std::chrono::steady_clock::duration most);
