// optional_tls.cpp: TLS for servers, where tandem::io_tls is there.
// SPDX-License-Identifier: MIT
#include "optional_tls.hpp"

#include <tandem/io/tls.hpp>
#include <utility>

namespace tls = tandem::io::tls;

optional_tls_server::optional_tls_server(const std::string& certificate_file,
                                         const std::string& key_file) {
  tls::server_options options;
  options.certificates.emplace_back(tls::pem::file(certificate_file), tls::pem::file(key_file));
  context_ = std::make_shared<const tls::server_context>(options);
}

connection_handler optional_tls_server::before(connection_handler handler) const {
  if (!encrypts()) return handler;
  return tls::accepting(*context_, handler);
}

tandem::task<tandem::io::any_stream> optional_tls_server::accept(
    tandem::io::any_stream plain) const {
  if (!encrypts()) co_return plain;
  co_return co_await tls::accept(std::move(plain), *context_);
}

optional_tls_client::optional_tls_client(std::string name, const std::string& trust_file)
    : name_(std::move(name)) {
  tls::client_options options;
  if (!trust_file.empty()) options.trusted.push_back(tls::pem::file(trust_file));
  context_ = std::make_shared<const tls::client_context>(options);
}

tandem::task<tandem::io::any_stream> optional_tls_client::connect(
    tandem::io::any_stream plain) const {
  if (context_ == nullptr) co_return plain;
  co_return co_await tls::connect(std::move(plain), name_, *context_);
}

tandem::task<void> say_goodbye(tandem::io::any_stream& stream,
                               std::chrono::steady_clock::duration most) {
  if (auto* const encrypted = stream.target<tandem::io::tls_stream>()) {
    co_await encrypted->finish(most);
  }
}
