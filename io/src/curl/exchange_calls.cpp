// exchange_calls.cpp: what curl calls for a transfer: its head, its body both ways, its progress.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "curl/exchange.hpp"
#include "curl/failure.hpp"

namespace tandem::inline v0::io::curl {

namespace {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::uint64_t not_negative(curl_off_t bytes) noexcept {
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace

void exchange::attach(CURL* handle) {
  const auto set = [&](CURLoption option, auto value) {
    check_option(curl_easy_setopt(handle, option, value), "a callback", asked.url);
  };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, curl_says_.data());
  set(CURLOPT_WRITEFUNCTION, &exchange::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &exchange::on_head);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_READFUNCTION, &exchange::on_wanted);
  set(CURLOPT_READDATA, this);
  set(CURLOPT_SEEKFUNCTION, &exchange::on_rewind);
  set(CURLOPT_SEEKDATA, this);
  if (asked.on_progress) {
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &exchange::on_progress);
    set(CURLOPT_XFERINFODATA, this);
  }
}

std::size_t exchange::on_body(char* bytes, std::size_t one, std::size_t count,
                              void* self) noexcept {
  exchange& me = *static_cast<exchange*>(self);
  try {
    return me.keep_body({bytes, one * count});
  } catch (...) {
    me.note(std::current_exception());
  }
  return 0;
}

std::size_t exchange::keep_body(std::string_view bytes) {
  set_has_head();
  if (bytes.empty()) return 0;
  // curl_session/pause. What curl could not hand out it keeps, and brings it again.
  if (way_ == way::stream && body_.size() - taken_ >= window_bytes) {
    is_receiving_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  body_bytes_ += bytes.size();
  if (limits.body_bytes && body_bytes_ > *limits.body_bytes) throw_body_too_large();
  if (asked.on_body) {
    asked.on_body(std::as_bytes(std::span(bytes)));
    return bytes.size();
  }
  if (body_.empty() && way_ == way::collect) {
    constexpr curl_off_t most_at_once = curl_off_t{8} << 20;
    curl_off_t length = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > 0) body_.reserve(static_cast<std::size_t>(std::min(length, most_at_once)));
  }
  body_.append(bytes);
  if (way_ == way::stream) changed.set();
  return bytes.size();
}

std::size_t exchange::on_head(char* bytes, std::size_t one, std::size_t count,
                              void* self) noexcept {
  exchange& me = *static_cast<exchange*>(self);
  const std::size_t size = one * count;
  try {
    me.head_bytes_ += size;
    if (me.head_bytes_ > me.limits.head_bytes) me.throw_head_too_large();
    me.head_line({bytes, size});
    return size;
  } catch (...) {
    me.note(std::current_exception());
  }
  return 0;
}

void exchange::head_line(std::string_view line) {
  // Behind the body there are fields only, whatever they are called.
  if (line.starts_with("HTTP/") && !has_head_) return status_line(line);
  if (trimmed(line).empty()) {
    is_head_complete_ = true;
    if (is_final_head()) set_has_head();
    // curl_session/refuse
    if (status_ >= 300 && is_sending_paused_) go_on(false, true);
    return;
  }
  if (line.front() == ' ' || line.front() == '\t') {  // it goes on: RFC 9112 5.2
    fields_.continue_last(trimmed(line));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;  // curl has its own opinion of such lines
  const std::string_view name = trimmed(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  fields_.add(name, value);
  if (asked.on_header) asked.on_header(name, value);
}

void exchange::status_line(std::string_view line) {
  fields_.clear();
  is_head_complete_ = false;
  status_ = 0;
  const std::size_t blank = line.find(' ');
  if (blank == line.npos) return;
  const char* const begin = line.data() + blank + 1;
  std::from_chars(begin, line.data() + line.size(), status_);
}

/// Whether curl will not ask again by itself. Of those heads of which this is not known the first
/// byte of the body, or the end, says it.
bool exchange::is_final_head() const noexcept {
  if (status_ < 200) return false;
  if (status_ / 100 == 3 && limits.redirects != 0 && fields_.has("Location")) return false;
  const bool asks_back = asked.auth == authentication::digest || asked.auth == authentication::any;
  return !(asks_back && (status_ == 401 || status_ == 407));
}

void exchange::set_has_head() noexcept {
  if (has_head_) return;
  has_head_ = true;
  if (way_ == way::stream) changed.set();
}

std::size_t exchange::on_wanted(char* room, std::size_t one, std::size_t count,
                                void* self) noexcept {
  exchange& me = *static_cast<exchange*>(self);
  const std::size_t size = one * count;
  if (!me.asked.source()) {
    const std::string_view rest = std::string_view(me.asked.body).substr(me.sent_bytes_);
    const std::size_t sent = std::min(size, rest.size());
    std::memcpy(room, rest.data(), sent);
    me.sent_bytes_ += sent;
    return sent;
  }
  if (me.given_.empty()) {
    if (me.is_last_given_) return 0;
    me.is_sending_paused_ = true;
    me.wants_more.set();
    return CURL_READFUNC_PAUSE;
  }
  const std::size_t sent = std::min(size, me.given_.size());
  std::memcpy(room, me.given_.data(), sent);
  me.given_ = me.given_.subspan(sent);
  return sent;
}

int exchange::on_rewind(void* self, curl_off_t offset, int origin) noexcept {
  exchange& me = *static_cast<exchange*>(self);
  if (me.asked.source()) return CURL_SEEKFUNC_CANTSEEK;
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  if (not_negative(offset) > me.asked.body.size()) return CURL_SEEKFUNC_FAIL;
  me.sent_bytes_ = not_negative(offset);
  return CURL_SEEKFUNC_OK;
}

int exchange::on_progress(void* self, curl_off_t to_download, curl_off_t downloaded,
                          curl_off_t to_upload, curl_off_t uploaded) noexcept {
  exchange& me = *static_cast<exchange*>(self);
  try {
    transfer_progress now;
    now.to_download_bytes = not_negative(to_download);
    now.downloaded_bytes = not_negative(downloaded);
    now.to_upload_bytes = not_negative(to_upload);
    now.uploaded_bytes = not_negative(uploaded);
    me.asked.on_progress(now);
    return 0;
  } catch (...) {
    me.note(std::current_exception());
  }
  return 1;
}

}  // namespace tandem::inline v0::io::curl
