// exchange.hpp: one transfer: what is asked, what has come, and what curl calls for it.
// SPDX-License-Identifier: MIT
//
// All of it on the session's thread. curl's callbacks only move bytes, note and set events; they
// throw nothing through curl. Protocol curl_session: io/src/curl/README.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tandem/event.hpp>
#include <tandem/io/curl/errors.hpp>
#include <tandem/io/curl/request.hpp>
#include <tandem/io/curl/response.hpp>

#include "curl/library.hpp"

namespace tandem::inline v0::io::curl {

class exchange {
 public:
  /// Whether the body is kept as a whole, or taken piece by piece.
  enum class way : std::uint8_t { collect, stream };

  exchange(request asked_for, const transfer_limits& defaults, way how);
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Of a handle that is set up: the callbacks.
  void attach(CURL* easy);

  // What has become of it.
  bool is_over() const noexcept { return is_over_; }
  bool has_head() const noexcept { return has_head_ || is_over_; }
  /// curl has ended it.
  void ended(CURLcode outcome) noexcept;
  /// We have; curl does not know.
  void fail(std::exception_ptr why) noexcept;
  void fail(errc code, const char* words) noexcept;
  /// pre: is_over(), or the head has come. @throws what it has failed with; refused_by_status
  void throw_failure();
  /// Status and headers; of times and counts what is known so far.
  response head() const;
  /// As head(), when nothing more comes.
  response take_head();
  std::string take_body() noexcept { return std::move(body_); }
  /// @throws  refused_by_status, if that is asked for
  void check_status() const;

  // The body, piece by piece.
  /// @returns  how many bytes it has put there
  std::size_t take(std::span<std::byte> room) noexcept;
  bool is_receiving_paused() const noexcept { return is_receiving_paused_; }
  // What is sent, piece by piece.
  /// @param is_last  no more comes. @returns false: it is not what was announced, and it has failed
  bool give(std::span<const std::byte> bytes, bool is_last) noexcept;
  /// The bytes that were given are going.
  void take_back() noexcept { given_ = {}; }
  bool wants_bytes() const noexcept { return given_.empty() && is_sending_paused_; }
  bool is_sending_paused() const noexcept { return is_sending_paused_; }
  /// Lets curl go on in these directions. It may call back inside.
  void go_on(bool receiving, bool sending) noexcept;

  request asked;
  transfer_limits limits;
  easy_handle easy;
  text_list header_lines;
  text_list address_lines;
  bool is_added = false;  // curl's multi handle has it
  event changed;          // something has come, or it is over
  event wants_more;       // curl could send more, or it is over
  // The session's lists: of all that have a handle, and of those that nobody holds any more.
  bool is_listed = false;
  exchange* previous = nullptr;
  exchange* next = nullptr;
  std::shared_ptr<exchange> next_dropped;

 private:
  static constexpr std::size_t window_bytes = std::size_t{64} << 10;

  static std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  static std::size_t on_head(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  static std::size_t on_wanted(char* room, std::size_t one, std::size_t count, void* self) noexcept;
  static int on_rewind(void* self, curl_off_t offset, int origin) noexcept;
  static int on_progress(void* self, curl_off_t to_download, curl_off_t downloaded,
                         curl_off_t to_upload, curl_off_t uploaded) noexcept;

  response counts() const;
  [[noreturn]] void throw_head_too_large() const;
  [[noreturn]] void throw_body_too_large() const;
  void note(errc code, const char* words) noexcept;
  void note(std::exception_ptr why) noexcept;
  std::size_t keep_body(std::string_view bytes);
  void head_line(std::string_view line);
  void status_line(std::string_view line);
  bool is_final_head() const noexcept;
  bool is_in_head() const noexcept;
  void set_has_head() noexcept;

  const way way_;
  bool has_own_limit_ = true;  // of the body's size
  bool is_over_ = false;
  bool has_head_ = false;          // no further one follows
  bool is_head_complete_ = false;  // of the last one
  bool is_receiving_paused_ = false;
  bool is_sending_paused_ = false;
  bool is_last_given_ = false;
  CURLcode outcome_ = CURLE_OK;
  // What ended it if it was not curl: the first.
  std::optional<errc> own_failure_;
  const char* own_words_ = "";
  std::exception_ptr thrown_;

  int status_ = 0;
  header_list fields_;
  std::size_t head_bytes_ = 0;
  std::string body_;
  std::size_t taken_ = 0;         // of body_, by take()
  std::uint64_t body_bytes_ = 0;  // that have come
  std::uint64_t sent_bytes_ = 0;  // of request::body, or of the source
  std::span<const std::byte> given_;
  std::array<char, CURL_ERROR_SIZE> curl_says_{};
};

}  // namespace tandem::inline v0::io::curl
