// asio_udp.cpp: the echo of datagrams in suite udp by Asio. udp_asio PORT THREADS callback|coroutine
// SPDX-License-Identifier: MIT
//
// As Asio's example of an asynchronous UDP server: one receive, then one send, of each datagram. It
// has no calls for several datagrams, nor for trains.
#include <array>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>
#include <asio/use_awaitable.hpp>
#include <system_error>

#include "../io/command_line.hpp"

namespace {

using asio::ip::udp;

class echoer {
 public:
  explicit echoer(udp::socket& socket) : socket_(&socket) { receive(); }

 private:
  void receive() {
    socket_->async_receive_from(asio::buffer(data_), peer_,
                                [this](std::error_code error, std::size_t bytes) {
                                  if (error) return receive();
                                  send(bytes);
                                });
  }
  void send(std::size_t bytes) {
    socket_->async_send_to(asio::buffer(data_, bytes), peer_,
                           [this](std::error_code, std::size_t) { receive(); });
  }

  udp::socket* socket_;
  udp::endpoint peer_;
  std::array<char, 65536> data_{};
};

asio::awaitable<void> echo(udp::socket& socket) {
  std::array<char, 65536> data;
  udp::endpoint peer;
  while (true) {
    const std::size_t bytes =
        co_await socket.async_receive_from(asio::buffer(data), peer, asio::use_awaitable);
    co_await socket.async_send_to(asio::buffer(data, bytes), peer, asio::use_awaitable);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  asio::io_context context(1);
  udp::socket socket(context, {asio::ip::address_v4::loopback(), command.port});
  socket.set_option(asio::socket_base::receive_buffer_size(4 << 20));
  socket.set_option(asio::socket_base::send_buffer_size(4 << 20));
  if (command.mode == "coroutine") {
    asio::co_spawn(context, echo(socket), asio::detached);
    context.run();
  } else {
    echoer by_callback(socket);
    context.run();
  }
  return 0;
}
