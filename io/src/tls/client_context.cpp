// client_context.cpp: a client's options, as contexts of OpenSSL's.
// SPDX-License-Identifier: MIT
#include <openssl/err.h>

#include <tandem/io/tls/context.hpp>
#include <tandem/io/tls/errors.hpp>

#include "tls/context_build.hpp"
#include "tls/engine.hpp"
#include "tls/failure.hpp"
#include "tls/state.hpp"

namespace tandem::inline v0::io {

namespace detail {

namespace {

/// A session that the server has given us. @returns 1: it is ours now
int keep_session(SSL* connection, SSL_SESSION* session) {
  tls_engine& engine = tls_engine::of(connection);
  engine.options().sessions->keep(engine.server_name(), session_handle(session));
  return 1;
}

/// The server's chain, after a pause for those who want none of that on their thread.
int check_after_pause(X509_STORE_CTX* chain, void* /*unused*/) {
  SSL* const connection = connection_of(chain);
  if (tls_engine::of(connection).takes_pause()) return SSL_set_retry_verify(connection);
  return check_chain(chain, nullptr);
}

void check_options(const tls::client_options& options) {
  const bool trusts_somebody = options.trust_system || !options.trusted.empty();
  if (options.accept_any_certificate_from_anybody) {
    if (!options.trusted.empty() || !options.revocation_lists.empty()) {
      refuse_option(
          "accept_any_certificate_from_anybody checks nothing, so `trusted` and `revocation_lists` "
          "would mean nothing");
    }
  } else if (!trusts_somebody) {
    refuse_option("trust_system is off and `trusted` is empty: no server could be trusted");
  }
  if (options.certificate.size() > 1) refuse_option("certificate: a client shows one or none");
}

}  // namespace

std::shared_ptr<tls_generation> build_client(const tls::client_options& options) {
  check_options(options);
  auto made = std::make_shared<tls_generation>();
  made->checks_peer = !options.accept_any_certificate_from_anybody;
  made->handshake_on = options.handshake_on;
  made->protocols = wire_form(options.protocols);
  if (!options.key_log.empty()) made->log = std::make_unique<tls_key_log>(options.key_log);
  if (options.sessions != 0) {
    made->sessions = std::make_unique<tls_client_sessions>(options.sessions);
  }

  tls_generation::face face;
  face.context = make_context(TLS_client_method(), *made);
  SSL_CTX* const context = face.context.get();
  apply_language(context, options);
  apply_trust(context, options);
  if (options.trust_system && made->checks_peer && SSL_CTX_set_default_verify_paths(context) != 1) {
    throw_tls(tls::errc::bad_option, "trust_system: the system's authorities cannot be read");
  }
  ERR_clear_error();  // of files of the system that are not there
  SSL_CTX_set_verify(context, made->checks_peer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (made->checks_peer) SSL_CTX_set_cert_verify_callback(context, &check_after_pause, nullptr);
  if (!options.certificate.empty()) {
    face.certificate = apply_identity(context, options.certificate.front());
  }
  if (!made->protocols.empty() &&
      SSL_CTX_set_alpn_protos(
          context, reinterpret_cast<const unsigned char*>(made->protocols.data()),  // NOLINT
          static_cast<unsigned>(made->protocols.size())) != 0) {
    throw std::bad_alloc();
  }
  if (made->sessions != nullptr) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, &keep_session);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
  made->faces.push_back(std::move(face));
  return made;
}

}  // namespace detail

namespace tls {

client_context::client_context() {
  static const std::shared_ptr<detail::tls_client_state> shared =
      std::make_shared<detail::tls_client_state>(client_options());
  state_ = shared;
}

client_context::client_context(const client_options& options)
    : state_(std::make_shared<detail::tls_client_state>(options)) {}

void client_context::reload() const {
  state_->kept.reload(state_->newest, nullptr, &detail::build_client);
}
void client_context::reload(const client_options& options) const {
  state_->kept.reload(state_->newest, &options, &detail::build_client);
}

}  // namespace tls
}  // namespace tandem::inline v0::io
