// errors.hpp: what goes wrong with a transfer, as codes, with curl's own words.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/io/curl/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io::curl {

/// Of curl_category(). message() says what it means, error::words() what curl says about the case.
enum class errc {
  could_not_resolve = 1,  ///< the host's, or the proxy's, name has no address
  could_not_connect,      ///< nobody listens there, or the way is barred
  timed_out,              ///< a limit of transfer_limits is over: for connecting, in all, too slow
  tls_failed,             ///< the TLS handshake, or something later in TLS
  bad_certificate,        ///< the server's certificate is not trusted, or is for another name
  too_large,              ///< the body, or the head, is larger than transfer_limits allows
  too_many_redirects,     ///< transfer_limits::redirects
  bad_url,                ///< it cannot be read, or its scheme is neither http nor https
  bad_option,             ///< a request or a session asks for what curl refuses
  connection_closed,      ///< the connection ended before the answer did
  send_failed,            ///< while the request was sent
  receive_failed,         ///< while the answer came
  protocol_error,         ///< what came is no HTTP
  bad_encoding,           ///< the body's encoding cannot be undone
  refused_by_status,      ///< request::raise_for_status, and the status is 400 or more
  session_ended,          ///< with_session() has ended, and this with it
  failed,                 ///< anything else; words() says what
};

TANDEM_IO_CURL_API const std::error_category& curl_category() noexcept;
TANDEM_IO_CURL_API std::error_code make_error_code(errc code) noexcept;

/// A transfer that failed: its code is of curl_category(); what() has curl's own words and the URL,
/// without its password.
///
///     try {
///       page = co_await session.get(url);
///     } catch (const tandem::io::curl::error& failure) {
///       if (failure.code() != tandem::io::curl::errc::timed_out) throw;
///     }
class TANDEM_IO_CURL_API error : public std::system_error {
 public:
  /// @param library_code  curl's own (CURLcode); 0 if it is not curl that says it
  /// @param status        of the answer; 0 if there is none
  error(errc code, std::string words, std::string url, int library_code = 0, int status = 0);
  error(const error&) = default;
  error& operator=(const error&) = default;
  ~error() override;

  /// What curl says: "Failed to connect to localhost port 1 after 0 ms: Couldn't connect to server";
  /// behind it what can be done about it, where that is known.
  const std::string& words() const noexcept { return words_; }
  /// That of the request, without its password.
  const std::string& url() const noexcept { return url_; }
  /// curl's number (CURLcode), for what errc has no name for; 0 if it is not curl that says it.
  int library_code() const noexcept { return library_code_; }
  /// Of refused_by_status: which.
  int status() const noexcept { return status_; }

 private:
  std::string words_;
  std::string url_;
  int library_code_;
  int status_;
};

}  // namespace tandem::inline v0::io::curl

template <>
struct std::is_error_code_enum<tandem::io::curl::errc> : std::true_type {};
