// asio_tls.cpp: the servers of suite tls over asio::ssl.
// SPDX-License-Identifier: MIT
//
//   tls_asio PORT THREADS echo|source|sink FOLDER callback|coroutine
//
// As in Asio's own examples: sessions that keep themselves alive (cpp11/ssl/server), an awaitable
// each (cpp20/coroutines/echo_server). One io_context that all
// threads run; a connection is one chain of operations, so it needs no strand. When a client has
// said its farewell (close_notify) the connection is dropped, as nginx does it.
#include <array>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../io/command_line.hpp"

namespace {

using asio::ip::tcp;
using encrypted = asio::ssl::stream<tcp::socket>;

constexpr std::size_t bulk_bytes = 64 * 1024;

class session : public std::enable_shared_from_this<session> {
 public:
  session(tcp::socket socket, asio::ssl::context& context, const std::string& mode)
      : stream_(std::move(socket), context),
        mode_(mode),
        data_(mode == "echo" ? 4096 : bulk_bytes, 'x') {}

  void start() {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](const std::error_code& error) {
                              if (!error) self->read();
                            });
  }

 private:
  void read() {
    stream_.async_read_some(
        asio::buffer(data_),
        [self = shared_from_this()](const std::error_code& error, std::size_t length) {
          if (!error) self->have(length);
        });
  }

  void have(std::size_t length) {
    if (mode_ == "echo") write(length);
    if (mode_ == "source") write(bulk_bytes);
    if (mode_ == "sink") read();
  }

  void write(std::size_t length) {
    asio::async_write(
        stream_, asio::buffer(data_, length),
        [self = shared_from_this(), length](const std::error_code& error, std::size_t) {
          if (error) return;
          if (self->mode_ == "source") {
            self->write(length);
          } else {
            self->read();
          }
        });
  }

  encrypted stream_;
  const std::string& mode_;
  std::vector<char> data_;
};

void accept_next(tcp::acceptor& acceptor, asio::ssl::context& context, const std::string& mode) {
  acceptor.async_accept([&](const std::error_code& error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<session>(std::move(socket), context, mode)->start();
    }
    accept_next(acceptor, context, mode);
  });
}

asio::awaitable<void> echo(encrypted& stream) {
  std::array<char, 4096> data;
  while (true) {
    const std::size_t n = co_await stream.async_read_some(asio::buffer(data), asio::use_awaitable);
    co_await asio::async_write(stream, asio::buffer(data, n), asio::use_awaitable);
  }
}

asio::awaitable<void> source(encrypted& stream) {
  std::vector<char> data(bulk_bytes, 'x');
  co_await stream.async_read_some(asio::buffer(data), asio::use_awaitable);
  while (true) co_await asio::async_write(stream, asio::buffer(data), asio::use_awaitable);
}

asio::awaitable<void> sink(encrypted& stream) {
  std::vector<char> data(bulk_bytes);
  while (true) co_await stream.async_read_some(asio::buffer(data), asio::use_awaitable);
}

asio::awaitable<void> serve_one(tcp::socket socket, asio::ssl::context& context,
                                const std::string& mode) {
  encrypted stream(std::move(socket), context);
  try {
    co_await stream.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
    if (mode == "echo") co_await echo(stream);
    if (mode == "source") co_await source(stream);
    if (mode == "sink") co_await sink(stream);
  } catch (const std::system_error&) {
    // The client left.
  }
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, asio::ssl::context& context,
                                 const std::string& mode) {
  while (true) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), serve_one(std::move(socket), context, mode),
                   asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s PORT THREADS echo|source|sink FOLDER callback|coroutine\n",
                 argv[0]);
    return 2;
  }
  const std::string folder = argv[4];
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.use_certificate_chain_file(folder + "/cert.pem");
  tls.use_private_key_file(folder + "/key.pem", asio::ssl::context::pem);
  asio::io_context context(command.threads);
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), command.port});
  acceptor.listen(1024);
  if (std::string(argv[5]) == "coroutine") {
    asio::co_spawn(context, accept_all(acceptor, tls, command.mode), asio::detached);
  } else {
    accept_next(acceptor, tls, command.mode);
  }
  std::vector<std::jthread> others;
  for (int i = 1; i < command.threads; ++i) others.emplace_back([&context] { context.run(); });
  context.run();
  return 0;
}
