// accepting_needs_a_stream.cpp: a handler of tls::accepting() that does not keep its stream is refused in words.
// SPDX-License-Identifier: MIT
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/accepting.hpp>

auto run(tandem::io::tls::server_context context) {
#if defined(TANDEM_CONTROL)
  const auto handler = [](tandem::io::tls_stream) -> tandem::task<void> { co_return; };
#elif defined(TANDEM_CASE_any)
  const auto handler = [](const tandem::io::any_stream&) -> tandem::task<void> { co_return; };
#elif defined(TANDEM_CASE_constant)
  const auto handler = [](const tandem::io::tls_stream&) -> tandem::task<void> { co_return; };
#else
  const auto handler = [](tandem::io::tls_stream&) -> tandem::task<void> { co_return; };
#endif
  return tandem::io::tls::accepting(context, handler);
}
