// server_context.cpp: a server's options, as contexts of OpenSSL's: one for each certificate.
// SPDX-License-Identifier: MIT
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <tandem/io/tls/context.hpp>
#include <tandem/io/tls/errors.hpp>

#include "tls/context_build.hpp"
#include "tls/engine.hpp"
#include "tls/failure.hpp"
#include "tls/state.hpp"

namespace tandem::inline v0::io {

namespace detail {

namespace {

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& each : lower) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return lower;
}

/// The client has named its server: the connection goes on with that one's certificate.
int choose_face(SSL* connection, int* /*alert*/, void* /*unused*/) {
  const char* const name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
  SSL_CTX* chosen = nullptr;
  try {
    chosen = tls_engine::of(connection).options().context_for(name);
  } catch (const std::bad_alloc&) {  // OpenSSL's own frames are below
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  if (chosen == nullptr) return SSL_TLSEXT_ERR_NOACK;  // the first certificate
  SSL_set_SSL_CTX(connection, chosen);
  return SSL_TLSEXT_ERR_OK;
}

/// Of the server's protocols the first that the client has, too.
int choose_protocol(SSL* connection, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned bytes, void* /*unused*/) {
  const std::string& own = tls_engine::of(connection).options().protocols;
  unsigned char* found = nullptr;
  const int verdict = SSL_select_next_proto(
      &found, size, reinterpret_cast<const unsigned char*>(own.data()),  // NOLINT
      static_cast<unsigned>(own.size()), offered, bytes);
  if (verdict != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

/// Called for a handshake in full, before its signature. @returns -1: called again later
int before_signature(SSL* connection, void* /*unused*/) {
  return tls_engine::of(connection).takes_pause() ? -1 : 1;
}

int use_ticket_key(SSL* connection, unsigned char* name, unsigned char* vector,
                   EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int is_new) {
  tls_ticket_keys& keys = *tls_engine::of(connection).options().tickets;
  if (is_new != 0) return keys.seal(name, vector, cipher, mac);
  const int answer = keys.open(name, vector, cipher, mac);
  // In TLS 1.3 a ticket is for one connection: only 2 gives the client others.
  return answer == 1 && SSL_version(connection) == TLS1_3_VERSION ? 2 : answer;
}

void check_options(const tls::server_options& options) {
  using tls::client_certificates;
  if (options.certificates.empty()) {
    refuse_option("server_options::certificates is empty: a server shows at least one");
  }
  if (options.from_clients == client_certificates::ignored) {
    if (!options.trusted.empty() || !options.revocation_lists.empty()) {
      refuse_option(
          "`trusted` and `revocation_lists` of a server are about clients, which from_clients does "
          "not ask for a certificate");
    }
  } else if (options.trusted.empty()) {
    refuse_option("from_clients asks for certificates, and `trusted` is empty: none would do");
  }
  if (options.ticket_lifetime < std::chrono::seconds(1) ||
      options.ticket_lifetime > std::chrono::hours(7 * 24)) {
    refuse_option("ticket_lifetime has to be 1 s to 7 days (RFC 8446, 4.6.1)");
  }
  if (options.tickets > 100) refuse_option("tickets: more than 100 for a connection");
}

void apply_resumption(SSL_CTX* context, const tls::server_options& options) {
  // Certificates and listeners share sessions; those of other programs have other keys.
  constexpr std::string_view id = "tandem";
  SSL_CTX_set_session_id_context(context,
                                 reinterpret_cast<const unsigned char*>(id.data()),  // NOLINT
                                 id.size());
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // all is in tickets
  if (options.tickets == 0) {
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    return;
  }
  SSL_CTX_set_num_tickets(context, options.tickets);
  SSL_CTX_set_timeout(context, static_cast<long>(options.ticket_lifetime.count()));
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, &use_ticket_key);
  check_tickets(context);
}

void apply_clients(SSL_CTX* context, const tls::server_options& options) {
  using tls::client_certificates;
  if (options.from_clients == client_certificates::ignored) return;
  apply_trust(context, options);
  int mode = SSL_VERIFY_PEER;
  if (options.from_clients == client_certificates::required) {
    mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  SSL_CTX_set_verify(context, mode, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &check_chain, nullptr);
  for (const tls::pem& source : options.trusted) {  // so that clients know which one to show
    for (const certificate_handle& each : certificates_of(source)) {
      if (SSL_CTX_add_client_CA(context, each.get()) != 1) throw std::bad_alloc();
    }
  }
}

tls_generation::face build_face(const tls_generation& of, const tls::server_options& options,
                                const tls::identity& shown) {
  tls_generation::face face;
  face.context = make_context(TLS_server_method(), of);
  SSL_CTX* const context = face.context.get();
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // Whoever names ciphers of DHE gets their parameters from OpenSSL.
  if (!options.ciphers.empty()) SSL_CTX_set_dh_auto(context, 1);
  apply_language(context, options);
  apply_clients(context, options);
  face.certificate = apply_identity(context, shown);
  apply_resumption(context, options);
  SSL_CTX_set_tlsext_servername_callback(context, &choose_face);
  SSL_CTX_set_cert_cb(context, &before_signature, nullptr);
  if (!of.protocols.empty()) SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
  return face;
}

}  // namespace

SSL_CTX* tls_generation::context_for(std::string_view name) const {
  const std::string asked = in_lower_case(name);
  const std::size_t dot = asked.find('.');
  std::size_t first = faces.size();
  for (const std::string& each :
       {asked, dot == std::string::npos || dot == 0 ? std::string() : asked.substr(dot)}) {
    const auto found = by_name.find(each);
    if (found != by_name.end()) first = (std::min)(first, found->second);
  }
  return first == faces.size() ? nullptr : faces[first].context.get();
}

void tls_generation::add_face(face&& made) {
  faces.push_back(std::move(made));
  const face& added = faces.back();
  const openssl_handle<GENERAL_NAMES, &GENERAL_NAMES_free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(added.certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const each = sk_GENERAL_NAME_value(names.get(), i);
    if (each->type != GEN_DNS) continue;
    std::string name = in_lower_case(
        {reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName)),  // NOLINT
         static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName))});
    if (name.starts_with("*.")) name.erase(0, 1);
    by_name.emplace(std::move(name), faces.size() - 1);  // the first one keeps it
  }
}

std::shared_ptr<tls_generation> build_server(const tls::server_options& options,
                                             std::shared_ptr<tls_ticket_keys> tickets) {
  check_options(options);
  auto made = std::make_shared<tls_generation>();
  made->is_server = true;
  made->checks_peer = options.from_clients != tls::client_certificates::ignored;
  made->handshake_on = options.handshake_on;
  made->protocols = wire_form(options.protocols);
  made->requires_certificate = options.from_clients == tls::client_certificates::required;
  made->ticket_lifetime = options.ticket_lifetime;
  made->tickets = std::move(tickets);
  if (made->checks_peer) made->era = made->tickets->next_era();
  if (!options.key_log.empty()) made->log = std::make_unique<tls_key_log>(options.key_log);
  for (const tls::identity& each : options.certificates) {
    made->add_face(build_face(*made, options, each));
  }
  return made;
}

}  // namespace detail

namespace tls {

namespace {

void reload_server(detail::tls_server_state& state, const server_options* other) {
  state.kept.reload(state.newest, other, [&](const server_options& options) {
    auto made = detail::build_server(options, state.tickets);
    state.tickets->set_lifetime(options.ticket_lifetime);
    return made;
  });
}

}  // namespace

server_context::server_context(const server_options& options)
    : state_(std::make_shared<detail::tls_server_state>(options)) {}

void server_context::reload() const { reload_server(*state_, nullptr); }
void server_context::reload(const server_options& options) const {
  reload_server(*state_, &options);
}

}  // namespace tls
}  // namespace tandem::inline v0::io
