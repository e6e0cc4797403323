// engine.cpp: OpenSSL's answers, turned into steps.
// SPDX-License-Identifier: MIT
#include "tls/engine.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <new>
#include <string_view>
#include <system_error>
#include <tandem/io/tls/errors.hpp>
#include <utility>

#include "tls/failure.hpp"
#include "tls/generation.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// OpenSSL's buffer for what comes: large where much is coming. It has none while nothing is there.
constexpr std::size_t large_read_bytes = std::size_t{64} * 1024;

/// New keys and tickets come with data between them, but two that write faster than they read answer
/// each other's new keys in a row. Each message costs some 10 us: beyond the first number they are
/// looked at a few at a time, so that others have their turn; beyond the second it is an attack.
constexpr unsigned usual_idle_messages = 32;
constexpr unsigned most_idle_messages = 2'000;

/// As hosts are written: labels of letters, digits, "-" and "_" (and other bytes, of names that were
/// not put into ASCII), none of them empty.
bool may_be_host(std::string_view name) noexcept {
  constexpr std::string_view never = " \t\r\n/:@[]?#%\\,;\"'<>*";
  return !name.starts_with('.') && name.find("..") == std::string_view::npos &&
         name.find_first_of(never) == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

bool is_address(const std::string& name) noexcept {
  if (name.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos) return false;
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name.c_str());
  if (address == nullptr) ERR_clear_error();
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

/// Of others, before a call whose answer is asked about. OpenSSL's own way of it walks through the whole
/// queue, which mostly is empty.
void forget_errors() noexcept {
  if (ERR_peek_error() != 0) ERR_clear_error();
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
  SSL_set_msg_callback(made, &tls_engine::count_message);
  SSL_set_msg_callback_arg(made, this);
  if (options_->is_server) {
    SSL_set_accept_state(made);
  } else {
    begin_client(name);
  }
}

tls_engine::~tls_engine() {
  // Without that OpenSSL would take the session for one that must not be resumed, as it was up to
  // TLS 1.0 when a connection had ended without close_notify.
  if (has_met_ && !is_broken_) {
    SSL_set_shutdown(connection_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
}

void tls_engine::begin_client(const std::string& name) {
  SSL* const made = connection_.get();
  // "example.org." is the same host; certificates and SNI have it without the dot.
  name_ = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
  if (name_.starts_with('[') && name_.ends_with(']')) name_ = name_.substr(1, name_.size() - 2);
  if (name_.empty() || name_.size() > 253 || (!is_address(name_) && !may_be_host(name_))) {
    throw tls::error(tls::errc::bad_option,
                     what_ +
                         ": the name has to be a host's alone (without a port, no URL), or an IP "
                         "address",
                     "");
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
      is_broken_ = true;
      failure =
          failure_of(connection_.get(), what_, refused_, !has_met_ && waits_for_first_message());
      return tls_step::failed;
  }
}

tls::error tls_engine::ended_early() const {
  if (has_met_) return {tls::errc::truncated, what_, ""};
  if (options_->is_server && !transport_.has_come()) return {tls::errc::nothing_said, what_, ""};
  return {tls::errc::closed_in_handshake, what_, ""};
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

/// Handshake messages that have come, and alerts that were sent: with no data between them these cost
/// only us anything.
void tls_engine::count_message(int is_sent, int /*version*/, int type, const void* /*bytes*/,
                               std::size_t /*size*/, SSL* connection, void* self) {
  auto& engine = *static_cast<tls_engine*>(self);
  if (!engine.has_met_ || type != (is_sent != 0 ? SSL3_RT_ALERT : SSL3_RT_HANDSHAKE)) return;
  if (++engine.idle_messages_ > most_idle_messages) {
    SSL_set_shutdown(connection, SSL_get_shutdown(connection) | SSL_RECEIVED_SHUTDOWN);
  }
}

void tls_engine::begin_step() noexcept {
  transport_.begin_step(idle_messages_ > usual_idle_messages);
  forget_errors();
}

tls_step tls_engine::decrypt(std::span<std::byte> buffer, std::size_t& count) {
  if (failure_ != nullptr) return tls_step::failed;
  if (transport_.is_busy() != reads_ahead_) {
    // Heard of when OpenSSL next makes its buffer.
    reads_ahead_ = !reads_ahead_;
    SSL_set_default_read_buffer_len(connection_.get(), reads_ahead_ ? large_read_bytes : 0);
  }
  // OpenSSL would get itself a buffer, find nothing, and give the buffer back.
  if (!transport_.may_have_input() && SSL_has_pending(connection_.get()) == 0) {
    return tls_step::reads;
  }
  begin_step();
  const int answer = SSL_read_ex(connection_.get(), buffer.data(), buffer.size(), &count);
  const bool is_flooded = idle_messages_ > most_idle_messages;
  if (answer == 1) idle_messages_ = 0;
  if (is_flooded) {
    is_broken_ = true;
    failure_ = std::make_exception_ptr(
        tls::error(tls::errc::failed, what_, "the peer sends messages of TLS and no data"));
    return tls_step::failed;
  }
  const tls_step step = answer == 1 ? tls_step::done : step_after(answer, failure_);
  say_what_is_owed();
  return step == tls_step::reads && transport_.holds_back() ? tls_step::yields : step;
}

tls_step tls_engine::encrypt(std::span<const std::byte> bytes, std::exception_ptr& failure) {
  if (has_said_goodbye_) {
    failure = std::make_exception_ptr(std::system_error(
        std::make_error_code(std::errc::broken_pipe), "a write after shutdown()"));
    return tls_step::failed;
  }
  begin_step();
  std::size_t taken = 0;
  const int answer = SSL_write_ex(connection_.get(), bytes.data(), bytes.size(), &taken);
  if (answer == 1) return tls_step::done;
  const tls_step step = step_after(answer, failure);
  if (step == tls_step::failed || step == tls_step::reads) return step;
  failure =
      std::make_exception_ptr(tls::error(tls::errc::failed, what_, "OpenSSL has refused a write"));
  return tls_step::failed;
}

void tls_engine::say_goodbye() noexcept {
  if (has_said_goodbye_ && !owes_goodbye_) return;
  has_said_goodbye_ = true;
  owes_goodbye_ = failure_ == nullptr && is_amid_message();
  if (owes_goodbye_) return;  // decrypt() says it when the peer's message is whole
  ERR_clear_error();
  (void)SSL_shutdown(
      connection_.get());  // it cannot after a fatal alert: then there is nothing to say
  ERR_clear_error();
}

void tls_engine::say_what_is_owed() noexcept {
  if ((!owes_update_ && !owes_goodbye_) || is_amid_message()) return;
  if (std::exchange(owes_update_, false)) {
    try {
      update_keys(owed_of_peer_too_);
    } catch (...) {  // the peer has ended meanwhile
    }
  }
  if (owes_goodbye_) say_goodbye();
}

void tls_engine::update_keys(bool of_peer_too) {
  ERR_clear_error();
  const int kind = of_peer_too ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  if (has_said_goodbye_) {
    throw tls::error(tls::errc::failed, "tls_stream::update_keys after shutdown()", "");
  }
  if (SSL_version(connection_.get()) == TLS1_3_VERSION && is_amid_message()) {
    owes_update_ = true;  // in the midst of a message of the peer's
    owed_of_peer_too_ = of_peer_too;
    return;
  }
  // The handshake's second call makes the message, so that nothing is half done afterwards.
  if (SSL_key_update(connection_.get(), kind) != 1 || SSL_do_handshake(connection_.get()) != 1) {
    throw_tls(tls::errc::failed, "tls_stream::update_keys");
  }
}

}  // namespace tandem::inline v0::io::detail
