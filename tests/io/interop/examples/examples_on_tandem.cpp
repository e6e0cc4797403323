// examples_on_tandem.cpp: servers and a client among Beast's and Asio's examples, on streams of tandem. NAME ARGUMENTS...
// SPDX-License-Identifier: MIT
//
// derive_example.py writes what is included here. All headers come first: each example is in a namespace.
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/config.hpp>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "asio.hpp"
#include "asio/ssl.hpp"
#include "on_tandem.hpp"

// NOLINTBEGIN: not ours
namespace websocket_server_async {
#include "websocket_server_async.cpp"
}
namespace http_server_async {
#include "http_server_async.cpp"
}
namespace http_client_awaitable {
#include "http_client_awaitable.cpp"
}
namespace tls_server {
#include "tls_server.cpp"
}
// NOLINTEND

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "websocket_server_async") return websocket_server_async::main(argc - 1, argv + 1);
  if (name == "http_server_async") return http_server_async::main(argc - 1, argv + 1);
  if (name == "http_client_awaitable") return http_client_awaitable::main(argc - 1, argv + 1);
  if (name == "tls_server") return tls_server::main(argc - 1, argv + 1);
  std::cerr << "no such example: " << name << "\n";
  return 2;
}
