// self_signed.cpp: a certificate that a program makes for itself, by OpenSSL.
// SPDX-License-Identifier: MIT
#include "self_signed.hpp"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using owned = std::unique_ptr<T, freed_by<Free>>;

constexpr int serial_bits = 127;
constexpr long seconds_of_an_hour = 60L * 60;
constexpr long lifetime_seconds = 30 * 24 * seconds_of_an_hour;

/// What OpenSSL's functions return: neither 0 nor null if all went well.
template <class T>
T checked(T returned, std::string_view what) {
  if (returned != T()) return returned;
  char reason[256];
  ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
  throw std::runtime_error("a certificate of its own: " + std::string(what) + ": " + reason);
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const owned<X509_EXTENSION, X509_EXTENSION_free> extension(
      checked(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), value));
  checked(X509_add_ext(certificate, extension.get(), -1), value);
}

bool is_address(const std::string& name) {
  const owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free> parsed(a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return parsed != nullptr;
}

void set_random_serial(X509* certificate) {
  const owned<BIGNUM, BN_free> number(checked(BN_new(), "number"));
  checked(BN_rand(number.get(), serial_bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY), "number");
  checked(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)), "number");
}

void name_it(X509* certificate, const std::vector<std::string>& names) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const auto* const text = reinterpret_cast<const unsigned char*>(names.at(0).c_str());
  checked(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0), "name");
  checked(X509_set_issuer_name(certificate, subject), "name");
  std::string all;
  for (const std::string& each : names) {
    all += std::string(all.empty() ? "" : ",") + (is_address(each) ? "IP:" : "DNS:") + each;
  }
  add_extension(certificate, NID_subject_alt_name, all);
}

template <class Write>
std::string as_pem(Write&& write) {
  const owned<BIO, BIO_free> memory(checked(BIO_new(BIO_s_mem()), "memory"));
  checked(write(memory.get()), "PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(std::max(size, 0L))};
}

}  // namespace

self_signed::self_signed(const std::vector<std::string>& names) {
  const owned<EVP_PKEY, EVP_PKEY_free> pair(checked(EVP_EC_gen("P-256"), "key"));
  const owned<X509, X509_free> made(checked(X509_new(), "certificate"));
  checked(X509_set_version(made.get(), X509_VERSION_3), "version");
  set_random_serial(made.get());
  // From an hour ago: clocks differ.
  checked(X509_gmtime_adj(X509_getm_notBefore(made.get()), -seconds_of_an_hour), "time");
  checked(X509_gmtime_adj(X509_getm_notAfter(made.get()), lifetime_seconds), "time");
  checked(X509_set_pubkey(made.get(), pair.get()), "key");
  name_it(made.get(), names);
  add_extension(made.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(made.get(), NID_subject_key_identifier, "hash");
  checked(X509_sign(made.get(), pair.get(), EVP_sha256()), "signature");
  certificate = as_pem([&](BIO* to) { return PEM_write_bio_X509(to, made.get()); });
  key = as_pem([&](BIO* to) {
    return PEM_write_bio_PrivateKey(to, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}
