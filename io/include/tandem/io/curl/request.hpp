// request.hpp: what is asked of a server, and where bodies come from and go to.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/curl/export.hpp>
#include <tandem/io/curl/header_list.hpp>
#include <tandem/io/curl/options.hpp>
#include <tandem/io/curl/response.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::inline v0::io::curl {

/// How a user proves who he is.
enum class authentication : std::uint8_t {
  none,
  basic,   ///< user and password, readable by whoever reads along: over TLS only
  digest,  ///< user and password; one answer more
  any,     ///< the best of those that the server offers; one answer more
  bearer,  ///< the token alone
};

/// One request, by default a GET.
///
///     tandem::io::curl::request put("PUT", "https://example.org/notes.txt");
///     put.headers.add("Content-Type", "text/plain");
///     put.body = "remember the milk";
///     put.raise_for_status = true;
///     const auto answer = co_await session.send(std::move(put));
///
/// @thread_safety  as a value
class TANDEM_IO_CURL_API request {
 public:
  /// Fills the span; returns how many bytes it has put there, 0 at the end.
  using source_function = std::function<task<std::size_t>(std::span<std::byte>)>;
  using sink_function = std::function<task<void>(std::span<const std::byte>)>;
  using header_function = std::function<void(std::string_view name, std::string_view value)>;
  using body_function = std::function<void(std::span<const std::byte> bytes)>;
  using progress_function = std::function<void(const transfer_progress&)>;
  using raw_value = std::variant<long, std::string>;

  explicit request(std::string to_url) : url(std::move(to_url)) {}
  request(std::string with_method, std::string to_url)
      : method(std::move(with_method)), url(std::move(to_url)) {}

  std::string method = "GET";
  std::string url;
  /// curl adds Host, Accept, User-Agent, Content-Length and the like unless they are here. One with
  /// an empty value is sent without one.
  header_list headers;
  /// Sent if it is not empty, or the method is POST, PUT or PATCH.
  std::string body;

  // The texts that follow hold no line break and no zero (errc::bad_option).
  std::optional<transfer_limits> limits;  ///< none: the session's
  authentication auth = authentication::none;
  std::string user;
  std::string password;
  std::string token;              ///< of authentication::bearer
  std::string range;              ///< "0-99": some of the bytes only
  std::string cookies;            ///< "name=value; other=value", beside those of the session
  bool compressed = false;        ///< asks for a compressed body, and hands it out as it was before
  bool raise_for_status = false;  ///< a status of 400 or more is thrown as refused_by_status

  /// Called for each field of an answer's head as it comes, on the session's thread; also for those
  /// of redirects. What it throws ends the transfer, and is thrown there.
  header_function on_header;
  /// Likewise, for each piece of the body, which is then kept nowhere: the cheapest way, for what is
  /// counted, hashed or parsed. Not beside body_to().
  body_function on_body;
  /// Likewise, as bytes come and go, and about once a second.
  progress_function on_progress;

  /// The body comes from `source`, piece by piece, when curl can send more; so it is never all in
  /// memory. It is awaited at the home of whoever sends the request.
  ///
  ///     upload.body_from(file_reader, size);   // anything with read(span)
  ///     upload.body_from([&](std::span<std::byte> room) -> tandem::task<std::size_t> { ... });
  ///
  /// @param source      copied in if it is a callable, else the caller's: a readable stream, alive
  ///                    until the request has ended. What it throws ends the transfer, and is thrown
  /// @param size_bytes  of all of it; none: sent in chunks, for which the server has to speak
  ///                    HTTP/1.1 or newer. It cannot be sent twice: no redirect of it is followed
  ///                    that keeps the body, no authentication that asks first
  template <class Source>
  void body_from(Source&& source, std::optional<std::uint64_t> size_bytes = std::nullopt) {
    if constexpr (std::is_invocable_r_v<task<std::size_t>, std::decay_t<Source>&,
                                        std::span<std::byte>>) {
      source_ = std::forward<Source>(source);
    } else {
      static_assert(std::is_lvalue_reference_v<Source&&>,
                    "body_from: a stream stays the caller's; a temporary would be gone");
      source_ = [stream = &source](std::span<std::byte> room) -> task<std::size_t> {
        co_return co_await stream->read(room);
      };
    }
    source_bytes_ = size_bytes;
  }

  /// The answer's body goes to `sink`, piece by piece, as it comes; while `sink` is awaited the
  /// server is held up. Also that of an answer that is an error. It is awaited at the home of
  /// whoever sends the request.
  ///
  /// @param sink  copied in if it is a callable, else the caller's: a writable stream, alive until
  ///              the request has ended. What it throws ends the transfer, and is thrown
  template <class Sink>
  void body_to(Sink&& sink) {
    if constexpr (std::is_invocable_r_v<task<void>, std::decay_t<Sink>&,
                                        std::span<const std::byte>>) {
      sink_ = std::forward<Sink>(sink);
    } else {
      static_assert(std::is_lvalue_reference_v<Sink&&>,
                    "body_to: a stream stays the caller's; a temporary would be gone");
      sink_ = [stream = &sink](std::span<const std::byte> bytes) -> task<void> {
        co_await stream->write_all(bytes);
      };
    }
  }

  /// Sets an option of curl's by its number, as <curl/curl.h> has it, behind all others: for what
  /// has no name here. Callbacks, and what they are given, are not to be touched.
  void set_option(long number, long value) { raw_.emplace_back(number, raw_value(value)); }
  void set_option(long number, std::string value) {
    raw_.emplace_back(number, raw_value(std::move(value)));
  }

  // Implementation
  const source_function& source() const noexcept { return source_; }
  const sink_function& sink() const noexcept { return sink_; }
  std::optional<std::uint64_t> source_bytes() const noexcept { return source_bytes_; }
  const std::vector<std::pair<long, raw_value>>& raw_options() const noexcept { return raw_; }

 private:
  source_function source_;
  sink_function sink_;
  std::optional<std::uint64_t> source_bytes_;
  std::vector<std::pair<long, raw_value>> raw_;
};

}  // namespace tandem::inline v0::io::curl
