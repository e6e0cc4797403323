// examples_of_asio.cpp: clients and a server among Beast's and Asio's examples, as they are. NAME ARGUMENTS...
// SPDX-License-Identifier: MIT
//
// All headers come first: each example is in a namespace.
#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/config.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "asio.hpp"
#include "asio/ssl.hpp"

// NOLINTBEGIN: not ours
namespace websocket_client_async {
#include <websocket/client/async/websocket_client_async.cpp>
}
namespace http_client_async {
#include <http/client/async/http_client_async.cpp>
}
namespace http_server_async {
#include <http/server/async/http_server_async.cpp>
}
namespace tls_client {
#include <cpp11/ssl/client.cpp>
}
// NOLINTEND

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "websocket_client_async") return websocket_client_async::main(argc - 1, argv + 1);
  if (name == "http_client_async") return http_client_async::main(argc - 1, argv + 1);
  if (name == "http_server_async") return http_server_async::main(argc - 1, argv + 1);
  if (name == "tls_client") return tls_client::main(argc - 1, argv + 1);
  std::cerr << "no such example: " << name << "\n";
  return 2;
}
