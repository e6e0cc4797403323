// certificates.cpp: authorities of a test's own, by OpenSSL.
// SPDX-License-Identifier: MIT
#include "io/tls/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <stdexcept>

namespace tandem::test {

namespace {

template <auto Free>
class freed_by {
 public:
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};
using owned_bio = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using owned_key = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using owned_certificate = std::unique_ptr<X509, freed_by<X509_free>>;
using owned_list = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;
using owned_extension = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;
using owned_time = std::unique_ptr<ASN1_TIME, freed_by<ASN1_STRING_free>>;

void must(bool worked, const char* what) {
  if (worked) return;
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  throw std::runtime_error(std::string(what) + ": " + reason.data());
}

owned_key make_key(key_kind kind) {
  owned_key made;
  switch (kind) {
    case key_kind::p256: made.reset(EVP_EC_gen("P-256")); break;
    case key_kind::rsa: made.reset(EVP_RSA_gen(2048)); break;
    case key_kind::slow_rsa: made.reset(EVP_RSA_gen(4096)); break;
  }
  must(made != nullptr, "a key");
  return made;
}

std::string text_of(BIO* memory) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(memory, &begin);  // NOLINT: the macro's cast
  return {begin, static_cast<std::size_t>(size)};
}

/// What `write` puts into a BIO.
template <class Write>
std::string pem_of(Write write) {
  const owned_bio memory(BIO_new(BIO_s_mem()));
  must(memory != nullptr && write(memory.get()) == 1, "PEM");
  return text_of(memory.get());
}

std::string text_of(X509* certificate) {
  return pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

std::string text_of(EVP_PKEY* key, const std::string& password) {
  return pem_of([&](BIO* to) {
    if (password.empty()) {
      return PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
    }
    return PEM_write_bio_PKCS8PrivateKey(to, key, EVP_aes_256_cbc(), password.data(),
                                         static_cast<int>(password.size()), nullptr, nullptr);
  });
}

owned_certificate first_certificate(const std::string& text) {
  const owned_bio memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  owned_certificate found(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
  must(found != nullptr, "a certificate's text");
  return found;
}

owned_time time_from_now(std::chrono::seconds offset) {
  owned_time made(ASN1_TIME_set(nullptr, std::time(nullptr) + offset.count()));
  must(made != nullptr, "a time");
  return made;
}

void set_validity(X509* certificate, validity valid) {
  must(X509_set1_notBefore(certificate, time_from_now(valid.starts).get()) == 1 &&
           X509_set1_notAfter(certificate, time_from_now(valid.ends).get()) == 1,
       "a certificate's validity");
}

void set_subject(X509* certificate, const std::string& name) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(name.data());  // NOLINT
  must(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, bytes,
                                  static_cast<int>(name.size()), -1, 0) == 1,
       "a certificate's subject");
}

void set_serial(X509* certificate) {
  std::uint64_t number = 0;
  must(RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) == 1,  // NOLINT
       "a serial number");
  must(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (number >> 1) + 1) == 1,
       "a serial number");
}

/// As in OpenSSL's configuration files.
void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const owned_extension made(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  must(made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1, "an extension");
}

owned_certificate begin_certificate(const std::string& name, validity valid, EVP_PKEY* key) {
  owned_certificate made(X509_new());
  must(made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1, "a certificate");
  set_serial(made.get());
  set_validity(made.get(), valid);
  set_subject(made.get(), name);
  must(X509_set_pubkey(made.get(), key) == 1, "a certificate's key");
  return made;
}

void sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  must(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1, "an issuer");
  must(X509_sign(certificate, key, EVP_sha256()) > 0, "a signature");
}

owned_certificate make_authority(const std::string& name, validity valid, EVP_PKEY* key,
                                 X509* issuer, EVP_PKEY* issuer_key) {
  owned_certificate made = begin_certificate(name, valid, key);
  X509* const above = issuer != nullptr ? issuer : made.get();
  extend(made.get(), above, NID_basic_constraints, "critical,CA:TRUE");
  extend(made.get(), above, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(made.get(), above, NID_subject_key_identifier, "hash");
  sign(made.get(), above, issuer_key);
  return made;
}

std::string other_names(const issue_request& request) {
  std::string list;
  for (const std::string& each : request.names) list += ",DNS:" + each;
  for (const std::string& each : request.addresses) list += ",IP:" + each;
  return list.empty() ? list : list.substr(1);
}

/// @param issuer  none: it signs itself
made_identity make_leaf(const issue_request& request, X509* issuer, EVP_PKEY* issuer_key) {
  const owned_key key = make_key(request.key);
  const owned_certificate made = begin_certificate(request.common_name, request.valid, key.get());
  X509* const above = issuer != nullptr ? issuer : made.get();
  extend(made.get(), above, NID_basic_constraints, "critical,CA:FALSE");
  extend(made.get(), above, NID_key_usage, "critical,digitalSignature");
  extend(made.get(), above, NID_ext_key_usage, request.is_client ? "clientAuth" : "serverAuth");
  const std::string names = other_names(request);
  if (!names.empty()) extend(made.get(), above, NID_subject_alt_name, names);
  sign(made.get(), above, issuer_key != nullptr ? issuer_key : key.get());
  return {text_of(made.get()), text_of(key.get(), request.password)};
}

}  // namespace

class test_authority::parts {
 public:
  parts(const std::string& name, validity valid, const parts* above)
      : key(make_key(key_kind::p256)),
        certificate(make_authority(name, valid, key.get(),
                                   above != nullptr ? above->certificate.get() : nullptr,
                                   above != nullptr ? above->key.get() : key.get())),
        text(text_of(certificate.get())),
        below_root(above != nullptr ? text + above->below_root : std::string()) {}

  owned_key key;
  owned_certificate certificate;
  std::string text;
  std::string below_root;  // its certificate and those above, but for the root's
};

test_authority::test_authority(std::string name, validity valid)
    : parts_(std::make_shared<parts>(name, valid, nullptr)) {}

test_authority::test_authority(std::shared_ptr<const parts> made) noexcept
    : parts_(std::move(made)) {}

const std::string& test_authority::certificate() const noexcept { return parts_->text; }

made_identity test_authority::issue(const issue_request& request) const {
  made_identity made = make_leaf(request, parts_->certificate.get(), parts_->key.get());
  made.certificates += parts_->below_root;
  return made;
}

test_authority test_authority::intermediate(std::string name, validity valid) const {
  return test_authority(std::make_shared<parts>(name, valid, parts_.get()));
}

std::string test_authority::revocation_list(const std::vector<std::string>& certificates,
                                            validity valid) const {
  const owned_list list(X509_CRL_new());
  must(list != nullptr && X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1, "a list");
  must(X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(parts_->certificate.get())) == 1,
       "a list's issuer");
  must(X509_CRL_set1_lastUpdate(list.get(), time_from_now(valid.starts).get()) == 1 &&
           X509_CRL_set1_nextUpdate(list.get(), time_from_now(valid.ends).get()) == 1,
       "a list's validity");
  for (const std::string& each : certificates) {
    const owned_certificate revoked = first_certificate(each);
    X509_REVOKED* const entry = X509_REVOKED_new();
    must(entry != nullptr &&
             X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked.get())) == 1 &&
             X509_REVOKED_set_revocationDate(entry, time_from_now(valid.starts).get()) == 1 &&
             X509_CRL_add0_revoked(list.get(), entry) == 1,
         "an entry of a list");
  }
  must(X509_CRL_sort(list.get()) == 1 &&
           X509_CRL_sign(list.get(), parts_->key.get(), EVP_sha256()) > 0,
       "a list's signature");
  return pem_of([&](BIO* to) { return PEM_write_bio_X509_CRL(to, list.get()); });
}

std::string made_identity::certificate() const {
  constexpr std::string_view end = "-----END CERTIFICATE-----\n";
  const std::size_t at = certificates.find(end);
  return at == std::string::npos ? certificates : certificates.substr(0, at + end.size());
}

std::string made_identity::fingerprint() const {
  const std::string pem = certificate();
  std::string text = pem.substr(pem.find('\n'), pem.find("-----END") - pem.find('\n'));
  std::erase(text, '\n');
  std::vector<unsigned char> bytes(text.size());
  const int padded = EVP_DecodeBlock(bytes.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),  // NOLINT
                                     static_cast<int>(text.size()));
  bytes.resize(static_cast<std::size_t>(padded) -
               static_cast<std::size_t>(std::count(text.begin(), text.end(), '=')));
  std::array<unsigned char, 32> digest{};
  std::size_t size = 0;
  EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &size);
  std::string shown;
  for (const unsigned char byte : digest) {
    shown += "0123456789abcdef"[byte / 16];
    shown += "0123456789abcdef"[byte % 16];
  }
  return shown;
}

made_identity self_signed(const issue_request& request) {
  return make_leaf(request, nullptr, nullptr);
}

}  // namespace tandem::test
