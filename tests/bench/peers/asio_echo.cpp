// asio_echo.cpp: the echo servers of suite io over Asio. io_asio PORT THREADS callback|coroutine, or unix PATH
// SPDX-License-Identifier: MIT
//
// As in Asio's own examples: sessions that keep themselves alive (cpp11/echo), an awaitable each
// (cpp20/coroutines/echo_server). One io_context that all threads run; a connection is one chain of
// operations, so it needs no strand.
#include <array>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../io/command_line.hpp"

namespace {

using asio::ip::tcp;
using local = asio::local::stream_protocol;

template <class Socket>
class session : public std::enable_shared_from_this<session<Socket>> {
 public:
  explicit session(Socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(asio::buffer(data_), [self = this->shared_from_this()](
                                                     const std::error_code& error, std::size_t n) {
      if (!error) self->write(n);
    });
  }

 private:
  void write(std::size_t length) {
    asio::async_write(socket_, asio::buffer(data_, length),
                      [self = this->shared_from_this()](const std::error_code& error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  Socket socket_;
  std::array<char, 4096> data_;
};

void accept_next(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const std::error_code& error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<session<tcp::socket>>(std::move(socket))->read();
    }
    accept_next(acceptor);
  });
}

void accept_next(local::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const std::error_code& error, local::socket socket) {
    if (!error) std::make_shared<session<local::socket>>(std::move(socket))->read();
    accept_next(acceptor);
  });
}

asio::awaitable<void> echo(tcp::socket socket) {
  try {
    std::array<char, 4096> data;
    while (true) {
      const std::size_t n =
          co_await socket.async_read_some(asio::buffer(data), asio::use_awaitable);
      co_await asio::async_write(socket, asio::buffer(data, n), asio::use_awaitable);
    }
  } catch (const std::exception&) {
    // The client left.
  }
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor) {
  while (true) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), echo(std::move(socket)), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  asio::io_context context(command.threads);
  if (command.mode == "unix" && argc > 4) {
    local::acceptor acceptor(context, argv[4]);
    accept_next(acceptor);
    context.run();
    return 0;
  }
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), command.port});
  acceptor.listen(1024);
  if (command.mode == "coroutine") {
    asio::co_spawn(context, accept_all(acceptor), asio::detached);
  } else {
    accept_next(acceptor);
  }
  std::vector<std::jthread> others;
  for (int i = 1; i < command.threads; ++i) others.emplace_back([&context] { context.run(); });
  context.run();
  return 0;
}
