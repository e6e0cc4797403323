// without_tls.cpp: what optional_tls.hpp promises, where tandem::io_tls is not there.
// SPDX-License-Identifier: MIT
#include <stdexcept>
#include <utility>

#include "optional_tls.hpp"

namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("this program was built without TLS (TANDEM_IO_TLS, OpenSSL)");
}

}  // namespace

optional_tls_server::optional_tls_server(const std::string& /*certificate_file*/,
                                         const std::string& /*key_file*/) {
  refuse();
}

connection_handler optional_tls_server::before(connection_handler handler) const { return handler; }

tandem::task<tandem::io::any_stream> optional_tls_server::accept(
    tandem::io::any_stream plain) const {
  co_return plain;
}

optional_tls_client::optional_tls_client(std::string /*name*/, const std::string& /*trust_file*/) {
  refuse();
}

tandem::task<tandem::io::any_stream> optional_tls_client::connect(
    tandem::io::any_stream plain) const {
  co_return plain;
}

tandem::task<void> say_goodbye(tandem::io::any_stream& /*stream*/,
                               std::chrono::steady_clock::duration /*most*/) {
  co_return;
}
