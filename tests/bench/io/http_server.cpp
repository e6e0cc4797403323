// http_server.cpp: tandem's HTTP server of suite io. io_tandem_http PORT THREADS beast|scan
// SPDX-License-Identifier: MIT
//
// beast: requests are parsed by Boost.Beast's parser, in the leased buffer that they came in;
// fields are kept, as a server needs them. scan: only the end of the header is looked for: what no
// parser can beat. A request that comes in pieces is put together in memory of the connection's
// own.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "server.hpp"

namespace {

namespace io = tandem::io;
namespace http = boost::beast::http;

constexpr std::string_view answer =
    "HTTP/1.1 200 OK\r\nServer: tandem\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n"
    "Hello, World!";

enum class parsed : unsigned char { complete, incomplete, failed };

/// Keeps the message of the last request.
class beast_parser {
 public:
  /// @param text  from the beginning of a request; what was used is taken off
  parsed take(std::string_view& text) {
    parser_.emplace();
    parser_->eager(true);
    boost::beast::error_code error;
    const std::size_t used =
        parser_->put(boost::asio::const_buffer(text.data(), text.size()), error);
    if (error == http::error::need_more) return parsed::incomplete;
    if (error) return parsed::failed;
    text.remove_prefix(used);
    return parser_->is_done() ? parsed::complete : parsed::failed;  // no bodies here
  }
  bool keep_alive() const { return parser_->get().keep_alive(); }

 private:
  std::optional<http::request_parser<http::empty_body>> parser_;
};

class scanner {
 public:
  parsed take(std::string_view& text) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) return parsed::incomplete;
    text.remove_prefix(end + 4);
    return parsed::complete;
  }
  bool keep_alive() const { return true; }
};

template <class Parser>
tandem::task<void> hello(io::tcp_stream client) {
  Parser parser;
  std::string held;  // of a request whose end has not come yet
  std::string answers;
  bool keep_alive = true;
  while (keep_alive) {
    auto got = co_await tandem::as_result(client.receive());
    if (!got || got.value().empty()) co_return;
    const auto bytes = got.value().bytes();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!held.empty()) text = held.append(text);
    unsigned count = 0;
    while (!text.empty() && keep_alive) {
      const parsed state = parser.take(text);
      if (state == parsed::failed) co_return;
      if (state == parsed::incomplete) break;
      ++count;
      keep_alive = parser.keep_alive();
    }
    if (text.size() > 8192) co_return;
    held = std::string(text);
    if (count == 0) continue;
    if (count > 1) {
      answers.clear();
      for (unsigned i = 0; i < count; ++i) answers += answer;
    }
    const std::string_view reply = count == 1 ? answer : std::string_view(answers);
    auto sent = co_await tandem::as_result(client.write_all(std::as_bytes(std::span(reply))));
    if (!sent) co_return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  const auto home = io::handler_home::connection_thread;
  if (command.mode == "scan") return tandem::bench::serve_for_ever(command, home, hello<scanner>);
  return tandem::bench::serve_for_ever(command, home, hello<beast_parser>);
}
