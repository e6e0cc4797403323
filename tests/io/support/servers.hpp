// servers.hpp: real servers beside a test: PostgreSQL, Redis, nginx, mosquitto.
// SPDX-License-Identifier: MIT
//
// On loopback, in a private folder, as an unprivileged user, by tests/support/servers.py; each ends with its object, or when
// this process dies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/support/peer_process.hpp"

namespace tandem::test {

class test_server {
 public:
  /// Whether it can be started: what servers.py needs is installed. If not, and every test is required, the test has failed.
  static bool is_installed(std::string_view name);

  /// Starts it, and waits until it answers.
  /// @param name  postgres, redis, nginx, mosquitto; with "+tls" it shows a certificate of its own
  explicit test_server(std::string name);
  test_server(const test_server&) = delete;
  test_server& operator=(const test_server&) = delete;
  /// Ends it in order.
  ~test_server();

  std::uint16_t port() const noexcept { return port_; }
  /// Private to it; a socket of PostgreSQL's lies there, too.
  const std::string& folder() const noexcept { return folder_; }
  /// Of a server with TLS: the file of its certificate.
  const std::string& certificate() const noexcept { return certificate_; }

  void kill();   ///< at once, as a crash would
  void stop();   ///< as an administrator would
  void start();  ///< again, at the same port, with what it has stored
  void pause();  ///< all of its processes stand still
  void resume();

 private:
  void order(std::string_view verb);

  const std::string name_;
  peer_process process_;
  std::size_t orders_ = 0;
  std::uint16_t port_ = 0;
  std::string folder_;
  std::string certificate_;
};

/// One for all tests of this process. First to be called on a thread that stays: the server ends with the thread that started it.
test_server& shared_server(std::string_view name);

}  // namespace tandem::test
