// failure.cpp: which of our codes one of curl's is.
// SPDX-License-Identifier: MIT
#include "curl/failure.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tandem::inline v0::io::curl {

namespace {

// CURLE_TOO_LARGE of curl 8.6 and newer.
constexpr int too_large_of_newer_ones = 100;

errc code_of(CURLcode code, std::string_view words) noexcept {
  if (static_cast<int>(code) == too_large_of_newer_ones) return errc::too_large;
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
      // Of a scheme: 'Protocol "x" not supported'. Also said of an answer in a version that is none of HTTP's.
      return words.starts_with("Protocol") || words.find("HTTP") == std::string_view::npos
                 ? errc::bad_url
                 : errc::protocol_error;
    case CURLE_URL_MALFORMAT: return errc::bad_url;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST: return errc::could_not_resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return errc::could_not_connect;
    case CURLE_OPERATION_TIMEDOUT: return errc::timed_out;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CLIENTCERT: return errc::tls_failed;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return errc::bad_certificate;
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_UNKNOWN_OPTION:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_NOT_BUILT_IN: return errc::bad_option;
    case CURLE_FILESIZE_EXCEEDED: return errc::too_large;
    case CURLE_TOO_MANY_REDIRECTS: return errc::too_many_redirects;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE: return errc::connection_closed;
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_UPLOAD_FAILED:
    case CURLE_READ_ERROR: return errc::send_failed;
    case CURLE_RECV_ERROR: return errc::receive_failed;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_HTTP3: return errc::protocol_error;
    case CURLE_BAD_CONTENT_ENCODING: return errc::bad_encoding;
    default: return errc::failed;
  }
}

bool has(std::string_view words, std::string_view part) noexcept {
  return words.find(part) != words.npos;
}

/// What the user can do about it, where curl's words are known (with OpenSSL; with GnuTLS).
std::string_view advice_for(errc code, std::string_view words) noexcept {
  if (code == errc::tls_failed) {
    return has(words, "wrong version number") || has(words, "unexpected TLS packet")
               ? "; does the server speak TLS on this port?"
               : "";
  }
  if (code != errc::bad_certificate) return "";
  if (has(words, "subject name") || has(words, "does not match")) {
    return "; ask for a name that the certificate has";
  }
  if (has(words, "expired") || has(words, "not yet valid")) return "";
  return "; if it is the right one, give its authority by session_options::ca_file";
}

}  // namespace

void throw_failure(CURLcode code, std::string words, std::string_view url) {
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (words.empty()) words = curl_easy_strerror(code);
  const errc ours = code_of(code, words);
  words += advice_for(ours, words);
  throw error(ours, std::move(words), without_password(url), static_cast<int>(code));
}

std::string without_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t begin = scheme == url.npos ? 0 : scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::string_view authority = url.substr(begin, end - begin);
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  std::string shown(url);
  if (at != authority.npos && colon < at) shown.erase(begin + colon, at - colon);
  return shown;
}

void check_option(CURLcode code, const char* option, std::string_view url) {
  if (code == CURLE_OK) return;
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  throw error(errc::bad_option, std::string(option) + ": " + curl_easy_strerror(code),
              without_password(url), static_cast<int>(code));
}

}  // namespace tandem::inline v0::io::curl
