// accepting_captures.cpp: g++ 12 gets no temporary lambda whose captures it would destroy twice.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/serve.hpp>
#include <tandem/io/tls/accepting.hpp>
#include <utility>

tandem::task<void> run(tandem::io::tcp_listener listener, tandem::io::tls::server_context context,
                       std::string name) {
  namespace io = tandem::io;
#ifdef TANDEM_CONTROL
  const auto handler = [name](io::tls_stream) -> tandem::task<void> { co_return; };
  co_await io::serve(std::move(listener), io::tls::accepting(context, handler));
#else
  co_await io::serve(
      std::move(listener),
      io::tls::accepting(context, [name](io::tls_stream) -> tandem::task<void> { co_return; }));
#endif
}
