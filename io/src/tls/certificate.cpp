// certificate.cpp: what stands in a certificate of OpenSSL's.
// SPDX-License-Identifier: MIT
#include "tls/certificate.hpp"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <tandem/io/endpoint.hpp>

#include "tls/handles.hpp"

namespace tandem::inline v0::io::detail {

namespace {

std::string name_of(const X509_NAME* name) {
  const bio_handle memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr) return {};
  // As RFC 2253 has it, but for letters beyond ASCII, which stay readable.
  X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),  // NOLINT
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* octets) {
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(octets));
  std::array<std::uint8_t, 16> bytes{};
  if (size != 4 && size != bytes.size()) return {};
  std::copy_n(ASN1_STRING_get0_data(octets), size, bytes.begin());
  const std::string text =  // "127.0.0.1:0" or "[::1]:0"
      endpoint(size == 4 ? address_family::ipv4 : address_family::ipv6, bytes, 0).to_string();
  return size == 4 ? text.substr(0, text.size() - 2) : text.substr(1, text.size() - 4);
}

std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> hosts;
  std::vector<std::string> others;
  GENERAL_NAMES* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    int kind = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &kind);
    switch (kind) {
      case GEN_DNS: hosts.push_back(text_of(static_cast<const ASN1_STRING*>(value))); break;
      case GEN_IPADD:
        others.push_back(address_of(static_cast<const ASN1_OCTET_STRING*>(value)));
        break;
      case GEN_EMAIL:
      case GEN_URI: others.push_back(text_of(static_cast<const ASN1_STRING*>(value))); break;
      default: break;  // other forms have no text that people use
    }
  }
  GENERAL_NAMES_free(all);
  hosts.insert(hosts.end(), others.begin(), others.end());
  return hosts;
}

std::chrono::system_clock::time_point time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  using namespace std::chrono;
  const year_month_day day{year(parts.tm_year + 1900),
                           month(static_cast<unsigned>(parts.tm_mon) + 1),
                           std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
  return sys_days(day) + hours(parts.tm_hour) + minutes(parts.tm_min) + seconds(parts.tm_sec);
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : std::span(digest.data(), size)) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

std::string date_of(std::chrono::system_clock::time_point time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  const auto two = [](unsigned number) {
    return (number < 10 ? "-0" : "-") + std::to_string(number);
  };
  return std::to_string(static_cast<int>(day.year())) + two(static_cast<unsigned>(day.month())) +
         two(static_cast<unsigned>(day.day()));
}

}  // namespace

tls::certificate_summary summary_of(X509* certificate) {
  tls::certificate_summary told;
  if (certificate == nullptr) return told;
  told.subject = name_of(X509_get_subject_name(certificate));
  told.issuer = name_of(X509_get_issuer_name(certificate));
  told.names = names_of(certificate);
  told.valid_from = time_of(X509_get0_notBefore(certificate));
  told.valid_until = time_of(X509_get0_notAfter(certificate));
  told.fingerprint = fingerprint_of(certificate);
  return told;
}

std::string described(X509* certificate) {
  const tls::certificate_summary of = summary_of(certificate);
  std::string text = "it is that of " + (of.subject.empty() ? "nobody" : of.subject);
  constexpr std::size_t shown = 4;  // of a hundred names the first ones say enough
  for (std::size_t i = 0; i < of.names.size() && i <= shown; ++i) {
    text += i == 0 ? " for " : ", ";
    text += i < shown ? of.names[i] : "...";
  }
  return text + ", signed by " + of.issuer + ", valid from " + date_of(of.valid_from) + " to " +
         date_of(of.valid_until);
}

}  // namespace tandem::inline v0::io::detail
