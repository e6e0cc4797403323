// on_tandem.hpp: what the derived examples call: connections of Asio's become tandem's.
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <tandem/asio.hpp>
#include <tandem/boost_asio.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/runtime.hpp>
#include <utility>

namespace on_tandem {

using stream = tandem::asio_stream<tandem::io::tcp_stream>;

inline tandem::io::completion_pool& pool() {
  static tandem::runtime runtime;
  return tandem::io::install(runtime);
}

/// @param socket  of either of Asio's namespaces, connected
template <class Socket>
stream adopt(Socket socket) {
  return tandem::as_asio_stream(tandem::io::tcp_stream::from_native(pool(), socket.release()));
}

template <class Endpoints>
stream connect(const Endpoints& endpoints) {
  boost::asio::io_context none;
  boost::asio::ip::tcp::socket made(none);
  boost::asio::connect(made, endpoints);
  return adopt(std::move(made));
}

}  // namespace on_tandem
