// fake_server.hpp: what answers at the port of a server, and is none.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "plain_sockets.hpp"

namespace tandem::test {

/// One client of it: blocks, on a thread of its own.
class fake_client {
 public:
  explicit fake_client(plain_socket of) noexcept : of_(of) {}

  void send(std::string_view bytes) const { (void)send_plain(of_, bytes.data(), bytes.size()); }
  /// Something, at least a byte. @returns whether the client is still there
  bool receive() const {
    std::array<char, 4096> room;
    return receive_plain(of_, room.data(), room.size()) > 0;
  }
  /// Lets it in, as a server that asks for no password.
  void let_in() const {
    using namespace std::string_view_literals;
    (void)receive();
    send("R\0\0\0\x08\0\0\0\0"sv);              // AuthenticationOk
    send("K\0\0\0\x0C\0\0\0\x01\0\0\0\x02"sv);  // BackendKeyData
    send("Z\0\0\0\x05I"sv);                     // ReadyForQuery
  }

 private:
  plain_socket of_;
};

class fake_server {
 public:
  /// @param serves  called for each client, one after the other
  explicit fake_server(std::function<void(const fake_client&)> serves)
      : listener_(listening_plain(port_)), thread_([this, f = std::move(serves)] {
          while (true) {
            const plain_socket client = accept_plain(listener_);
            if (client == io::no_descriptor) return;
            f(fake_client(client));
            close_plain(client);
          }
        }) {}
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;
  ~fake_server() {
    end_reading(listener_);  // accept() fails
    thread_.join();
    close_plain(listener_);
  }

  std::string conninfo() const {
    return "host=127.0.0.1 user=x dbname=x sslmode=disable gssencmode=disable port=" +
           std::to_string(port_);
  }

 private:
  std::uint16_t port_ = 0;
  plain_socket listener_;
  std::thread thread_;
};

}  // namespace tandem::test
