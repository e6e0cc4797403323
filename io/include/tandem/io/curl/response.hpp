// response.hpp: what a server has answered, and how it went.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tandem/io/curl/export.hpp>
#include <tandem/io/curl/header_list.hpp>
#include <tandem/io/curl/options.hpp>

namespace tandem::inline v0::io::curl {

/// When what had been done, since curl has begun with the last of the redirects.
class transfer_times {
 public:
  transfer_times() noexcept {}  // NOLINT: no aggregate

  std::chrono::microseconds connected{0};   ///< TCP; 0: the connection was there
  std::chrono::microseconds encrypted{0};   ///< TLS; 0: none, or it was there
  std::chrono::microseconds first_byte{0};  ///< of the answer
  std::chrono::microseconds redirects{0};   ///< all before the last one
  std::chrono::microseconds total{0};
};

/// An answer.
///
///     const auto page = co_await session.get("https://example.org/");
///     if (page.is_ok()) std::puts(page.body.c_str());
class response {
 public:
  response() {}  // NOLINT: no aggregate

  /// 200 to 299.
  bool is_ok() const noexcept { return status / 100 == 2; }

  int status = 0;
  http_version version = http_version::http1_1;
  header_list headers;  ///< of the last of the redirects, with trailers
  std::string body;     ///< empty if it went to a sink, or is read by a transfer
  std::string url;      ///< where the answer came from, after redirects; without a password
  std::string remote_address;
  unsigned redirects = 0;
  unsigned new_connections = 0;        ///< 0: one that was there was used again
  std::uint64_t downloaded_bytes = 0;  ///< of the body, as they came (compressed)
  std::uint64_t uploaded_bytes = 0;
  transfer_times times;
};

/// How far a transfer is.
class transfer_progress {
 public:
  transfer_progress() noexcept {}  // NOLINT: no aggregate

  std::uint64_t downloaded_bytes = 0;
  std::uint64_t to_download_bytes = 0;  ///< 0: not known
  std::uint64_t uploaded_bytes = 0;
  std::uint64_t to_upload_bytes = 0;  ///< 0: not known
};

}  // namespace tandem::inline v0::io::curl
