// serve_needs_a_stream.cpp: a handler of serve() that does not keep its stream is refused in words.
// SPDX-License-Identifier: MIT
#include <tandem/io/serve.hpp>

tandem::task<void> run(tandem::io::tcp_listener listener) {
#ifdef TANDEM_CONTROL
  const auto handler = [](tandem::io::tcp_stream) -> tandem::task<void> { co_return; };
#else
  const auto handler = [](tandem::io::tcp_stream&) -> tandem::task<void> { co_return; };
#endif
  return tandem::io::serve(std::move(listener), handler);
}
