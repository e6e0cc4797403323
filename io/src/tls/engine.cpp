// engine.cpp: OpenSSL's answers, turned into steps.
// SPDX-License-Identifier: MIT
#include "tls/engine.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <new>
#include <system_error>
#include <tandem/io/tls/errors.hpp>
#include <utility>

#include "tls/failure.hpp"
#include "tls/generation.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// OpenSSL's buffer for what comes: large where much is coming. It has none while nothing is there.
constexpr std::size_t large_read_bytes = std::size_t{64} * 1024;

/// A write leaves less than this before it is sent; what reading adds are alerts of a few bytes.
constexpr std::size_t most_unsent = std::size_t{256} * 1024;

bool is_address(const std::string& name) noexcept {
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name.c_str());
  if (address == nullptr) ERR_clear_error();
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

}  // namespace

tls_engine::tls_engine(any_stream& below, std::shared_ptr<tls_generation> options,
                       const std::string& name, std::string what)
    : options_(std::move(options)), transport_(below), what_(std::move(what)) {
  ERR_clear_error();
  connection_.reset(SSL_new(options_->context()));
  if (connection_ == nullptr) throw_tls(tls::errc::failed, what_);
  SSL* const made = connection_.get();
  SSL_set_app_data(made, this);
  BIO* const bio = transport_.make_bio();
  SSL_set_bio(made, bio, bio);
  if (options_->is_server) {
    SSL_set_accept_state(made);
  } else {
    begin_client(name);
  }
}

tls_engine::~tls_engine() {
  // Without that OpenSSL would take the session for one that must not be resumed, as it was up to
  // TLS 1.0 when a connection had ended without close_notify.
  if (has_met_ && failure_ == nullptr) {
    SSL_set_shutdown(connection_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
}

void tls_engine::begin_client(const std::string& name) {
  SSL* const made = connection_.get();
  // "example.org." is the same host; certificates and SNI have it without the dot.
  name_ = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
  if (name_.empty() || name_.size() > 253 || name_.find('\0') != std::string::npos) {
    throw tls::error(tls::errc::bad_option,
                     what_ + ": the name has to be a host's, or an IP address", "");
  }
  SSL_set_connect_state(made);
  X509_VERIFY_PARAM* const checks = SSL_get0_param(made);
  bool is_set = true;
  if (is_address(name_)) {
    is_set = X509_VERIFY_PARAM_set1_ip_asc(checks, name_.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(checks, name_flags);
    is_set = X509_VERIFY_PARAM_set1_host(checks, name_.c_str(), name_.size()) == 1 &&
             SSL_set_tlsext_host_name(made, name_.c_str()) == 1;
  }
  if (!is_set) throw_tls(tls::errc::bad_option, what_ + ": the name cannot be used");
  if (options_->sessions != nullptr) {
    if (const session_handle known = options_->sessions->take(name_)) {
      SSL_set_session(made, known.get());
    }
  }
}

tls_engine& tls_engine::of(const SSL* connection) noexcept {
  return *static_cast<tls_engine*>(SSL_get_app_data(connection));
}

bool tls_engine::waits_for_first_message() const noexcept {
  const OSSL_HANDSHAKE_STATE state = SSL_get_state(connection_.get());
  return state == TLS_ST_BEFORE || state == TLS_ST_CW_CLNT_HELLO;
}

tls_step tls_engine::step_after(int answer, std::exception_ptr& failure) {
  if (transport_.has_lost_output()) {
    ERR_clear_error();
    failure = std::make_exception_ptr(std::bad_alloc());
    return tls_step::failed;
  }
  switch (SSL_get_error(connection_.get(), answer)) {
    case SSL_ERROR_WANT_READ: return wait_or_fail(failure);
    case SSL_ERROR_WANT_X509_LOOKUP:
    case SSL_ERROR_WANT_RETRY_VERIFY: return tls_step::computes;
    case SSL_ERROR_ZERO_RETURN: return tls_step::ended;
    default:
      failure = failure_of(connection_.get(), what_, !has_met_ && waits_for_first_message());
      return tls_step::failed;
  }
}

tls::error tls_engine::ended_early() const {
  if (has_met_) return {tls::errc::truncated, what_, ""};
  if (options_->is_server && !transport_.has_come()) return {tls::errc::nothing_said, what_, ""};
  return {tls::errc::truncated, what_, "the peer has closed the connection during the handshake"};
}

/// It wants to read: that is no failure, unless nothing can come any more.
tls_step tls_engine::wait_or_fail(std::exception_ptr& failure) const {
  if (transport_.failure()) {
    failure = std::make_exception_ptr(std::system_error(transport_.failure(), what_));
  } else if (transport_.has_ended()) {
    failure = std::make_exception_ptr(ended_early());
  } else {
    return tls_step::reads;
  }
  return tls_step::failed;
}

tls_step tls_engine::handshake() {
  ERR_clear_error();
  const int answer = SSL_do_handshake(connection_.get());
  if (answer == 1) {
    has_met_ = true;
    what_ = "tls_stream";
    return tls_step::done;
  }
  const tls_step step = step_after(answer, failure_);
  if (step != tls_step::ended) return step;
  failure_ = std::make_exception_ptr(
      tls::error(tls::errc::refused_by_peer, what_, "it has ended the handshake by close_notify"));
  return tls_step::failed;
}

tls_step tls_engine::decrypt(std::span<std::byte> buffer, std::size_t& count) {
  if (failure_ != nullptr) return tls_step::failed;
  if (transport_.is_busy() != reads_ahead_) {
    // Heard of when OpenSSL next makes its buffer.
    reads_ahead_ = !reads_ahead_;
    SSL_set_default_read_buffer_len(connection_.get(), reads_ahead_ ? large_read_bytes : 0);
  }
  ERR_clear_error();
  const int answer = SSL_read_ex(connection_.get(), buffer.data(), buffer.size(), &count);
  if (transport_.output().size() > most_unsent) {
    failure_ = std::make_exception_ptr(
        tls::error(tls::errc::failed, what_, "the peer asks for answers and does not read them"));
    return tls_step::failed;
  }
  return answer == 1 ? tls_step::done : step_after(answer, failure_);
}

std::exception_ptr tls_engine::encrypt(std::span<const std::byte> bytes) {
  if (has_said_goodbye_) {
    return std::make_exception_ptr(std::system_error(std::make_error_code(std::errc::broken_pipe),
                                                     "a write after shutdown()"));
  }
  ERR_clear_error();
  std::size_t taken = 0;
  const int answer = SSL_write_ex(connection_.get(), bytes.data(), bytes.size(), &taken);
  if (answer == 1) return nullptr;
  std::exception_ptr failure;
  if (step_after(answer, failure) == tls_step::failed) return failure;
  return std::make_exception_ptr(
      tls::error(tls::errc::failed, what_, "a write would have had to wait for the peer"));
}

void tls_engine::say_goodbye() noexcept {
  if (has_said_goodbye_) return;
  has_said_goodbye_ = true;
  ERR_clear_error();
  (void)SSL_shutdown(
      connection_.get());  // it cannot after a fatal alert: then there is nothing to say
  ERR_clear_error();
}

void tls_engine::update_keys(bool of_peer_too) {
  ERR_clear_error();
  const int kind = of_peer_too ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  if (has_said_goodbye_) {
    throw tls::error(tls::errc::failed, "tls_stream::update_keys after shutdown()", "");
  }
  // The handshake's second call makes the message, so that nothing is half done afterwards.
  if (SSL_key_update(connection_.get(), kind) != 1 || SSL_do_handshake(connection_.get()) != 1) {
    throw_tls(tls::errc::failed, "tls_stream::update_keys");
  }
}

}  // namespace tandem::inline v0::io::detail
