// errors.cpp: the texts of curl_category().
// SPDX-License-Identifier: MIT
#include <tandem/io/curl/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::curl {

namespace {

const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::could_not_resolve: return "the name has no address";
    case errc::could_not_connect: return "no connection could be made";
    case errc::timed_out: return "a limit of time is over (transfer_limits)";
    case errc::tls_failed: return "TLS failed";
    case errc::bad_certificate: return "the server's certificate is not accepted";
    case errc::too_large: return "the answer is larger than transfer_limits allows";
    case errc::too_many_redirects: return "more redirects than transfer_limits allows";
    case errc::bad_url: return "the URL cannot be used";
    case errc::bad_option: return "an option cannot be used";
    case errc::connection_closed: return "the connection ended before the answer did";
    case errc::send_failed: return "the request could not be sent";
    case errc::receive_failed: return "the answer could not be received";
    case errc::protocol_error: return "what the server says is no HTTP";
    case errc::bad_encoding: return "the body's encoding cannot be undone";
    case errc::refused_by_status: return "the server has refused";
    case errc::session_ended: return "the session has ended, and this transfer with it";
    case errc::failed: return "the transfer failed";
  }
  return "unknown error of curl";
}

class error_texts final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tandem.curl"; }
  std::string message(int code) const override { return text_of(static_cast<errc>(code)); }
};

std::string said_about(const std::string& words, const std::string& url) {
  if (url.empty()) return words;
  return words.empty() ? url : url + ": " + words;
}

}  // namespace

const std::error_category& curl_category() noexcept {
  static const error_texts only;
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), curl_category()};
}

error::error(errc code, std::string words, std::string url, int library_code, int status)
    : std::system_error(make_error_code(code), said_about(words, url)),
      words_(std::move(words)),
      url_(std::move(url)),
      library_code_(library_code),
      status_(status) {}
error::~error() = default;

}  // namespace tandem::inline v0::io::curl
