// conversation.hpp: an encrypted connection between tandem and a foreign program, step by step.
// SPDX-License-Identifier: MIT
//
// The test's own thread leads: each step is a task that it waits for, or a wait for what the
// program prints. Between both is a wire, which can keep back and reset.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

#include "io/support/io_support.hpp"
#include "io/tls/foreign_peer.hpp"
#include "io/tls/peer_wire.hpp"
#include "io/tls/tls_support.hpp"

namespace tandem::test {

/// So many bytes of numbers, each of which says where it stands, in lines of 512 bytes. No letters:
/// programs may take those at the beginning of a line for a command.
std::string numbered(std::size_t first_byte, std::size_t count);

/// Reads until `text` has come. @returns all that came; also if the stream ended before
task<std::string> read_until(io::tls_stream& stream, std::string text);
task<result<std::size_t>> read_some(io::tls_stream& stream);
task<result<std::size_t>> write_some(io::tls_stream& stream, std::string_view text);

/// What our side is told, besides the version.
class our_side {
 public:
  our_side() = default;

  std::vector<std::string> protocols;
  bool shows_certificate = false;  ///< as a client
  tls::client_certificates from_clients = tls::client_certificates::ignored;
};
tls::client_options client_of(tls::version version, const our_side& ours = {});
tls::server_options server_of(tls::version version, const our_side& ours = {});

class conversation {
 public:
  explicit conversation(const peer_request& request, const our_side& ours = {});
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;

  /// Once more, with the same context: to the same server, or with a client that is told also this.
  void open_again(std::vector<std::string> more = {});

  /// Connects, and leaves the handshake to the caller.
  io::any_stream connect();
  /// Of whichever side we are.
  task<io::tls_stream> handshake(io::any_stream below);
  /// Both.
  void start() { stream_ = run(handshake(connect())); }
  /// Both, and a word each way if the peer talks: so all that belongs to the handshake has come.
  void open();

  /// Waits for it.
  template <class T>
  T run(task<T> step) {
    return rt_.run(std::move(step));
  }
  test_runtime& runtime() noexcept { return rt_; }

  void we_say(std::string_view text);
  /// Until the peer has printed it.
  void we_say_and_it_hears(std::string_view text);
  /// Until it has come. @returns  all that came until then
  std::string it_says(std::string_view text);
  /// Each side something; both hear it.
  void talk(std::string_view text);

  io::tls_stream& stream() noexcept { return stream_; }
  foreign_peer& peer() noexcept { return *peer_; }
  peer_wire& wire() noexcept { return *wire_; }
  const peer_request& request() const noexcept { return request_; }

 private:
  void start_peer();

  peer_request request_;
  test_runtime rt_;
  io::completion_pool& pool_;
  std::optional<tls::client_context> client_;
  std::optional<tls::server_context> server_;
  io::tcp_listener listener_;
  std::optional<foreign_peer> peer_;
  std::optional<peer_wire> wire_;
  io::tls_stream stream_;
};

}  // namespace tandem::test
