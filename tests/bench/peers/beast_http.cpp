// beast_http.cpp: the HTTP server of suite io by Boost.Beast on Boost.Asio. io_beast PORT THREADS
// SPDX-License-Identifier: MIT
//
// As Beast's example http/server/async, without its time limits: a session of callbacks, a buffer
// and a parsed message each, a response serialised for each request.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "../io/command_line.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
 public:
  explicit session(tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       self->on_read(error);
                     });
  }

 private:
  void on_read(beast::error_code error) {
    if (error) return;
    response_ = http::response<http::string_body>(http::status::ok, request_.version());
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello, World!";
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](beast::error_code failed, std::size_t) {
                        if (!failed && !self->response_.need_eof()) self->read();
                      });
  }

  tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept_next(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](beast::error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<session>(std::move(socket))->read();
    }
    accept_next(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  asio::io_context context(command.threads);
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), command.port});
  acceptor.listen(1024);
  accept_next(acceptor);
  std::vector<std::jthread> others;
  for (int i = 1; i < command.threads; ++i) others.emplace_back([&context] { context.run(); });
  context.run();
  return 0;
}
