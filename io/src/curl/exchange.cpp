// exchange.cpp: how a transfer ends, and its body as it is taken and given.
// SPDX-License-Identifier: MIT
#include "curl/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "curl/failure.hpp"

namespace tandem::inline v0::io::curl {

namespace {

http_version version_of(long version) noexcept {
  switch (version) {
    case CURL_HTTP_VERSION_1_0: return http_version::http1_0;
    case CURL_HTTP_VERSION_2_0: return http_version::http2;
    case CURL_HTTP_VERSION_3: return http_version::http3;
    default: return http_version::http1_1;
  }
}

template <class T>
T told_by(CURL* easy, CURLINFO what) noexcept {
  T value{};
  if (curl_easy_getinfo(easy, what, &value) != CURLE_OK) return T{};
  return value;
}

std::uint64_t count_of(curl_off_t bytes) noexcept {
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

std::chrono::microseconds time_of(CURL* easy, CURLINFO what) noexcept {
  return std::chrono::microseconds(told_by<curl_off_t>(easy, what));
}

}  // namespace

exchange::exchange(request asked_for, const transfer_limits& defaults, way how)
    : asked(std::move(asked_for)), limits(asked.limits.value_or(defaults)), way_(how) {
  if (way_ == way::collect && !asked.on_body && !limits.body_bytes) {
    limits.body_bytes = transfer_limits::collected_bytes;
    has_own_limit_ = false;
  }
}

void exchange::ended(CURLcode outcome) noexcept {
  if (is_over_) return;
  is_over_ = true;
  outcome_ = outcome;
  if (outcome == CURLE_OK && !is_head_complete_) {  // which curl does not mind
    note(errc::connection_closed, "the connection ended in the middle of the head");
    outcome_ = CURLE_GOT_NOTHING;
  }
  if (outcome == CURLE_OUT_OF_MEMORY && is_in_head()) {
    // What curl says of a line beyond its own limit. Where memory is short, too, it is not to be told from that.
    note(errc::too_large, "a line of the head is longer than curl takes (some 100 KB)");
  }
  changed.set();
  wants_more.set();
}

/// Something of an answer has come, and its head has not ended.
bool exchange::is_in_head() const noexcept {
  return easy != nullptr && !is_head_complete_ &&
         told_by<curl_off_t>(easy.get(), CURLINFO_STARTTRANSFER_TIME_T) > 0;
}

void exchange::fail(std::exception_ptr why) noexcept {
  if (is_over_) return;
  note(std::move(why));
  ended(CURLE_ABORTED_BY_CALLBACK);
}

void exchange::fail(errc code, const char* words) noexcept {
  if (is_over_) return;
  note(code, words);
  ended(CURLE_ABORTED_BY_CALLBACK);
}

void exchange::note(errc code, const char* words) noexcept {
  if (own_failure_ || thrown_ != nullptr) return;
  own_failure_ = code;
  own_words_ = words;
}

void exchange::note(std::exception_ptr why) noexcept {
  if (own_failure_ || thrown_ != nullptr) return;
  thrown_ = std::move(why);
}

void exchange::throw_failure() {
  if (!is_over_ || outcome_ == CURLE_OK) return;
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (own_failure_) throw error(*own_failure_, own_words_, without_password(asked.url));
  if (outcome_ == CURLE_FILESIZE_EXCEEDED) throw_body_too_large();  // by what its head announces
  curl::throw_failure(outcome_, curl_says_.data(), asked.url);
}

void exchange::throw_head_too_large() const {
  throw error(errc::too_large,
              "the head is larger than transfer_limits::head_bytes, " +
                  std::to_string(limits.head_bytes) + " bytes",
              without_password(asked.url));
}

void exchange::throw_body_too_large() const {
  std::string words = "the body is larger than transfer_limits::body_bytes, " +
                      std::to_string(limits.body_bytes.value_or(0)) + " bytes";
  if (!has_own_limit_) words += " where none is given; or take it piece by piece";
  throw error(errc::too_large, std::move(words), without_password(asked.url));
}

void exchange::check_status() const {
  if (!asked.raise_for_status || status_ < 400) return;
  throw error(errc::refused_by_status, "the server has answered " + std::to_string(status_),
              without_password(asked.url), 0, status_);
}

response exchange::head() const {
  response told = counts();
  told.headers = fields_;
  return told;
}

response exchange::take_head() {
  response told = counts();
  told.headers = std::move(fields_);
  return told;
}

response exchange::counts() const {
  CURL* const from = easy.get();
  response told;
  told.status = status_;
  if (from == nullptr) return told;
  told.version = version_of(told_by<long>(from, CURLINFO_HTTP_VERSION));
  told.url = without_password(text_of(told_by<char*>(from, CURLINFO_EFFECTIVE_URL)));
  told.remote_address = text_of(told_by<char*>(from, CURLINFO_PRIMARY_IP));
  told.redirects = static_cast<unsigned>(told_by<long>(from, CURLINFO_REDIRECT_COUNT));
  told.new_connections = static_cast<unsigned>(told_by<long>(from, CURLINFO_NUM_CONNECTS));
  told.downloaded_bytes = count_of(told_by<curl_off_t>(from, CURLINFO_SIZE_DOWNLOAD_T));
  told.uploaded_bytes = sent_bytes_ - given_.size();  // curl's own count has what is around chunks
  told.times.connected = time_of(from, CURLINFO_CONNECT_TIME_T);
  told.times.encrypted = time_of(from, CURLINFO_APPCONNECT_TIME_T);
  told.times.first_byte = time_of(from, CURLINFO_STARTTRANSFER_TIME_T);
  told.times.redirects = time_of(from, CURLINFO_REDIRECT_TIME_T);
  told.times.total = time_of(from, CURLINFO_TOTAL_TIME_T);
  return told;
}

std::size_t exchange::take(std::span<std::byte> room) noexcept {
  const std::size_t size = std::min(room.size(), body_.size() - taken_);
  if (size == 0) return 0;
  std::memcpy(room.data(), body_.data() + taken_, size);
  taken_ += size;
  if (taken_ == body_.size()) {
    body_.clear();
    taken_ = 0;
  }
  return size;
}

bool exchange::give(std::span<const std::byte> bytes, bool is_last) noexcept {
  const std::optional<std::uint64_t> announced = asked.source_bytes();
  if (announced && sent_bytes_ + bytes.size() > *announced) {
    fail(errc::send_failed, "the source has more than the size that was given to body_from()");
    return false;
  }
  if (announced && is_last && sent_bytes_ + bytes.size() < *announced) {
    fail(errc::send_failed, "the source has less than the size that was given to body_from()");
    return false;
  }
  sent_bytes_ += bytes.size();
  given_ = bytes;
  is_last_given_ = is_last;
  return true;
}

void exchange::go_on(bool receiving, bool sending) noexcept {
  if (receiving) is_receiving_paused_ = false;
  if (sending) is_sending_paused_ = false;
  int still = CURLPAUSE_CONT;
  if (is_receiving_paused_) still |= CURLPAUSE_RECV;
  if (is_sending_paused_) still |= CURLPAUSE_SEND;
  const CURLcode outcome = curl_easy_pause(easy.get(), still);
  if (outcome != CURLE_OK) ended(outcome);
}

}  // namespace tandem::inline v0::io::curl
