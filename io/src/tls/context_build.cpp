// context_build.cpp: what both sides' contexts are made of.
// SPDX-License-Identifier: MIT
#include "tls/context_build.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <tandem/io/tls/errors.hpp>

#include "tls/certificate.hpp"
#include "tls/engine.hpp"
#include "tls/failure.hpp"

namespace tandem::inline v0::io::detail {

namespace {

using tls::errc;

/// Authenticated, with keys that are gone after the connection, and without CBC.
constexpr const char* usual_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AESCCM:!aNULL:!aPSK";

int openssl_version(tls::version of) noexcept {
  return of == tls::version::tls1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

bio_handle memory_of(const std::string& text) {
  bio_handle memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Whether the queue says only that the text has no further object.
bool is_end_of_text() noexcept {
  const unsigned long last = ERR_peek_last_error();
  return ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
}

/// What such a text may be instead.
std::string hint_about(const tls::pem& source, const std::string& text) {
  if (text.find("-----BEGIN") != std::string::npos) return ": it has something else in PEM form";
  if (source.path().empty()) return ": it is not in PEM form (was pem::file meant?)";
  return ": it is not in PEM form (of DER: openssl x509 -inform der)";
}

/// Each object of a PEM text. @param read  PEM_read_bio_X509 or the like
template <class Handle, class Read>
std::vector<Handle> objects_of(const tls::pem& source, const char* what, Read read) {
  const std::string text = source.read();
  const bio_handle memory = memory_of(text);
  std::vector<Handle> found;
  ERR_clear_error();
  while (auto* const one = read(memory.get(), nullptr, nullptr, nullptr)) found.emplace_back(one);
  if (!is_end_of_text()) {
    throw_tls(errc::bad_option, source.name() + " has a broken " + what);
  }
  ERR_clear_error();
  if (found.empty()) refuse_option(source.name() + " has no " + what + hint_about(source, text));
  return found;
}

void check_shared(const tls::shared_options& options) {
  if (options.revocation == tls::revocation_check::chain && options.revocation_lists.empty()) {
    refuse_option("revocation asks about all of the chain, and `revocation_lists` is empty");
  }
  if (options.minimum_version > options.maximum_version) {
    refuse_option("minimum_version is above maximum_version");
  }
  if (!options.ciphers.empty() && options.minimum_version > tls::version::tls1_2) {
    refuse_option("`ciphers` is of TLS 1.2, which minimum_version excludes; use `cipher_suites`");
  }
  if (!options.cipher_suites.empty() && options.maximum_version < tls::version::tls1_3) {
    refuse_option("`cipher_suites` is of TLS 1.3, which maximum_version excludes; use `ciphers`");
  }
}

/// OpenSSL passes over words that name none of its ciphers, as long as one word does.
void apply_ciphers(SSL_CTX* context, const std::string& ciphers) {
  std::string spaced = ciphers;
  std::ranges::replace_if(
      spaced,
      [](char each) { return std::string_view(":,;").find(each) != std::string_view::npos; }, ' ');
  std::string word;
  for (std::istringstream words(spaced); words >> word;) {
    // Those that take away, or put in order, may well find nothing.
    if (std::string_view("!-+@").find(word.front()) != std::string_view::npos) continue;
    if (SSL_CTX_set_cipher_list(context, word.c_str()) != 1) {
      throw_tls(errc::bad_option, "`ciphers` has a word that names no cipher of TLS 1.2: " + word);
    }
  }
  if (SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1) {
    throw_tls(errc::bad_option, "`ciphers` leaves no cipher of TLS 1.2: " + ciphers);
  }
}

bool has_suite(SSL_CTX* context, const std::string& name) {
  const STACK_OF(SSL_CIPHER)* const all = SSL_CTX_get_ciphers(context);
  for (int i = 0; i < sk_SSL_CIPHER_num(all); ++i) {
    const SSL_CIPHER* const each = sk_SSL_CIPHER_value(all, i);
    const bool is_it = name == SSL_CIPHER_get_name(each) || name == SSL_CIPHER_standard_name(each);
    if (is_it && std::string_view(SSL_CIPHER_get_version(each)) == "TLSv1.3") return true;
  }
  return false;
}

/// OpenSSL passes over names that it does not know.
void apply_suites(SSL_CTX* context, const std::string& suites) {
  if (SSL_CTX_set_ciphersuites(context, suites.c_str()) != 1) {
    throw_tls(errc::bad_option, "`cipher_suites` cannot be used: " + suites);
  }
  std::istringstream names(suites);
  for (std::string each; std::getline(names, each, ':');) {
    if (!has_suite(context, each)) {
      refuse_option("`cipher_suites` has one that OpenSSL does not: " + each);
    }
  }
}

/// What OpenSSL is given for a key that is encrypted.
class key_password {
 public:
  const std::string& text;
  bool was_asked_for = false;
};

int give_password(char* room, int size, int /*for_writing*/, void* password) {
  static_cast<key_password*>(password)->was_asked_for = true;
  const std::string& text = static_cast<key_password*>(password)->text;
  if (text.size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(room, text.data(), text.size());
  return static_cast<int>(text.size());
}

key_handle key_of(const tls::identity& shown) {
  const std::string text = shown.key.read();
  const bio_handle memory = memory_of(text);
  ERR_clear_error();
  key_password password{shown.password};
  key_handle key(PEM_read_bio_PrivateKey(memory.get(), nullptr, &give_password, &password));
  if (key == nullptr) {
    throw_tls(errc::bad_option,
              shown.key.name() + " has no private key that can be read" +
                  (text.find("ENCRYPTED") != std::string::npos
                       ? (shown.password.empty() ? " without a password" : " with this password")
                       : ""));
  }
  if (!password.was_asked_for && !shown.password.empty()) {
    refuse_option(shown.key.name() + " is not encrypted, and a password was given for it");
  }
  return key;
}

void log_key(const SSL* connection, const char* line) {
  if (tls_key_log* const log = tls_engine::of(connection).options().log.get()) log->add(line);
}

}  // namespace

void refuse_option(const std::string& text) { throw tls::error(errc::bad_option, text, ""); }

context_handle make_context(const SSL_METHOD* method, const tls_generation& of) {
  ERR_clear_error();
  context_handle made(SSL_CTX_new(method));
  if (made == nullptr) throw_tls(errc::failed, "SSL_CTX_new");
  SSL_CTX* const context = made.get();
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_read_ahead(context, 1);
  if (of.log != nullptr) SSL_CTX_set_keylog_callback(context, &log_key);
  return made;
}

void apply_language(SSL_CTX* context, const tls::shared_options& options) {
  check_shared(options);
  SSL_CTX_set_min_proto_version(context, openssl_version(options.minimum_version));
  SSL_CTX_set_max_proto_version(context, openssl_version(options.maximum_version));
  ERR_clear_error();
  apply_ciphers(context, options.ciphers.empty() ? usual_ciphers : options.ciphers);
  if (!options.cipher_suites.empty()) apply_suites(context, options.cipher_suites);
  if (!options.groups.empty() && SSL_CTX_set1_groups_list(context, options.groups.c_str()) != 1) {
    throw_tls(errc::bad_option, "`groups` has one that OpenSSL does not: " + options.groups);
  }
}

void apply_trust(SSL_CTX* context, const tls::shared_options& options) {
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const tls::pem& source : options.trusted) {
    for (const certificate_handle& each : certificates_of(source)) {
      if (X509_STORE_add_cert(store, each.get()) != 1) {
        throw_tls(errc::bad_option, "trusted: " + source.name() + " cannot be added");
      }
    }
  }
  for (const tls::pem& source : options.revocation_lists) {
    for (const auto& each :
         objects_of<revocation_handle>(source, "revocation list", &PEM_read_bio_X509_CRL)) {
      if (X509_STORE_add_crl(store, each.get()) != 1) {
        throw_tls(errc::bad_option, "revocation_lists: " + source.name() + " cannot be added");
      }
    }
  }
  if (!options.revocation_lists.empty()) {
    unsigned long flags = X509_V_FLAG_CRL_CHECK;
    if (options.revocation == tls::revocation_check::chain) flags |= X509_V_FLAG_CRL_CHECK_ALL;
    X509_STORE_set_flags(store, flags);
  }
}

std::vector<certificate_handle> certificates_of(const tls::pem& source) {
  return objects_of<certificate_handle>(source, "certificate", &PEM_read_bio_X509);
}

certificate_handle apply_identity(SSL_CTX* context, const tls::identity& shown) {
  std::vector<certificate_handle> chain = certificates_of(shown.certificates);
  const key_handle key = key_of(shown);
  ERR_clear_error();
  const std::string name = shown.certificates.name();
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    throw_tls(errc::bad_option, name + ": OpenSSL does not take the certificate");
  }
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    throw_tls(errc::key_mismatch, shown.key.name() + " and " + name);
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    throw_tls(errc::bad_option, shown.key.name() + ": OpenSSL does not take the key");
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      throw_tls(errc::bad_option, name + ": OpenSSL does not take the chain");
    }
  }
  return std::move(chain.front());
}

SSL* connection_of(X509_STORE_CTX* chain) noexcept {
  return static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
}

int check_chain(X509_STORE_CTX* chain, void* /*unused*/) noexcept {
  const int verdict = X509_verify_cert(chain);
  if (verdict == 1) return verdict;
  try {
    X509* const refused = X509_STORE_CTX_get_current_cert(chain);
    if (refused == nullptr) return verdict;
    X509* const shown = X509_STORE_CTX_get0_cert(chain);
    std::string text = described(refused);
    if (shown != refused) text += ", above " + summary_of(shown).subject;
    tls_engine::of(connection_of(chain)).refused(std::move(text));
  } catch (const std::bad_alloc&) {
    // Without a description the failure says less, and is one all the same.
  }
  return verdict;
}

std::string wire_form(const std::vector<std::string>& protocols) {
  std::string wire;
  for (const std::string& each : protocols) {
    if (each.empty() || each.size() > 255) {
      refuse_option("protocols: each has 1 to 255 bytes, one has " + std::to_string(each.size()));
    }
    wire += static_cast<char>(static_cast<unsigned char>(each.size()));
    wire += each;
  }
  if (wire.size() > 65'535) refuse_option("protocols: they are too many for one message");
  return wire;
}

}  // namespace tandem::inline v0::io::detail
