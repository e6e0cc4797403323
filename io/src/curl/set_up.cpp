// set_up.cpp: which option says what.
// SPDX-License-Identifier: MIT
#include "curl/set_up.hpp"

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

#include "curl/failure.hpp"
#include "curl/names.hpp"

namespace tandem::inline v0::io::curl {

namespace {

/// The options of one handle; the first that is refused is named.
class settings {
 public:
  settings(CURL* easy, std::string_view url) noexcept : easy_(easy), url_(url) {}

  void set(CURLoption option, const char* name, long value) {
    check_option(curl_easy_setopt(easy_, option, value), name, url_);
  }
  void set(CURLoption option, const char* name, const char* value) {
    check_option(curl_easy_setopt(easy_, option, value), name, url_);
  }
  /// curl would take a text with a zero as a shorter one.
  void set(CURLoption option, const char* name, const std::string& value) {
    if (value.find('\0') != value.npos) {
      throw error(option == CURLOPT_URL ? errc::bad_url : errc::bad_option,
                  std::string(name) + ": a text with a zero in it", without_password(url_));
    }
    set(option, name, value.c_str());
  }
  /// Of a text that is put into the head as it is: it may not begin a line of its own there.
  void set_line(CURLoption option, const char* name, const std::string& value) {
    if (value.find_first_of("\r\n") != value.npos) {
      throw error(errc::bad_option, std::string(name) + ": a text with a line break in it",
                  without_password(url_));
    }
    set(option, name, value);
  }
  /// What some builds of curl do not have, and need not.
  void try_text(CURLoption option, const char* value) noexcept {
    (void)curl_easy_setopt(easy_, option, value);
  }
  void set_size(CURLoption option, const char* name, curl_off_t value) {
    check_option(curl_easy_setopt(easy_, option, value), name, url_);
  }
  void set_list(CURLoption option, const char* name, curl_slist* value) {
    check_option(curl_easy_setopt(easy_, option, value), name, url_);
  }

 private:
  CURL* easy_;
  std::string_view url_;
};

long milliseconds_of(std::chrono::milliseconds time) noexcept {
  return static_cast<long>(std::clamp<std::int64_t>(time.count(), 1, LONG_MAX));
}

/// Neither may end the line that it stands in.
void check_field(std::string_view text, const exchange& transfer) {
  if (text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos) return;
  throw error(errc::bad_option, "a header has a line break, or a zero, in its name or value",
              without_password(transfer.asked.url));
}

void append(text_list& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)list.release();
  list.reset(longer);
}

void set_headers(settings& to, exchange& transfer) {
  const header_list& headers = transfer.asked.headers;
  for (const header_field field : headers) {
    check_field(field.name, transfer);
    check_field(field.value, transfer);
    std::string line(field.name);
    // A name and a colon alone is how curl is told to leave one of its own out.
    line += field.value.empty() ? ";" : ": ";
    append(transfer.header_lines, line.append(field.value));
  }
  // Else curl says that every POST is a form.
  if (transfer.asked.method == "POST" && !headers.has("Content-Type")) {
    append(transfer.header_lines, "Content-Type:");
  }
  if (transfer.header_lines) {
    to.set_list(CURLOPT_HTTPHEADER, "CURLOPT_HTTPHEADER", transfer.header_lines.get());
  }
}

void set_method(settings& to, const request& asked) {
  const bool may_have_body =
      asked.method == "POST" || asked.method == "PUT" || asked.method == "PATCH";
  const bool has_body = may_have_body || !asked.body.empty() || asked.source();
  if (asked.method.empty() ||
      asked.method.find_first_of(std::string_view(" \t\r\n\0", 5)) != asked.method.npos) {
    throw error(errc::bad_option, "the method \"" + asked.method + "\" is none",
                without_password(asked.url));
  }
  if (!has_body) {
    if (asked.method == "HEAD") return to.set(CURLOPT_NOBODY, "CURLOPT_NOBODY", 1L);
    if (asked.method != "GET") to.set(CURLOPT_CUSTOMREQUEST, "CURLOPT_CUSTOMREQUEST", asked.method);
    return;
  }
  curl_off_t size = -1;
  if (!asked.source()) size = static_cast<curl_off_t>(asked.body.size());
  if (asked.source_bytes()) size = static_cast<curl_off_t>(*asked.source_bytes());
  if (asked.method == "POST") {
    to.set(CURLOPT_POST, "CURLOPT_POST", 1L);
    return to.set_size(CURLOPT_POSTFIELDSIZE_LARGE, "CURLOPT_POSTFIELDSIZE_LARGE", size);
  }
  to.set(CURLOPT_UPLOAD, "CURLOPT_UPLOAD", 1L);
  to.set_size(CURLOPT_INFILESIZE_LARGE, "CURLOPT_INFILESIZE_LARGE", size);
  if (asked.method != "PUT") {
    to.set(CURLOPT_CUSTOMREQUEST, "CURLOPT_CUSTOMREQUEST", asked.method);
  }
}

void set_limits(settings& to, const transfer_limits& limits, std::chrono::milliseconds spent) {
  to.set(CURLOPT_CONNECTTIMEOUT_MS, "CURLOPT_CONNECTTIMEOUT_MS",
         milliseconds_of(limits.connect - spent));
  if (limits.total) {
    to.set(CURLOPT_TIMEOUT_MS, "CURLOPT_TIMEOUT_MS", milliseconds_of(*limits.total - spent));
  }
  if (limits.slow_bytes_per_second != 0) {
    to.set(CURLOPT_LOW_SPEED_LIMIT, "CURLOPT_LOW_SPEED_LIMIT",
           static_cast<long>(limits.slow_bytes_per_second));
    to.set(CURLOPT_LOW_SPEED_TIME, "CURLOPT_LOW_SPEED_TIME",
           static_cast<long>(std::max<std::int64_t>(limits.slow_for.count(), 1)));
  }
  if (limits.body_bytes) {
    to.set_size(CURLOPT_MAXFILESIZE_LARGE, "CURLOPT_MAXFILESIZE_LARGE",
                static_cast<curl_off_t>(std::min<std::uint64_t>(*limits.body_bytes, INT64_MAX)));
  }
  if (limits.redirects != 0) {
    to.set(CURLOPT_FOLLOWLOCATION, "CURLOPT_FOLLOWLOCATION", 1L);
    to.set(CURLOPT_MAXREDIRS, "CURLOPT_MAXREDIRS", static_cast<long>(limits.redirects));
  }
}

void set_user(settings& to, const request& asked) {
  switch (asked.auth) {
    case authentication::none: return;
    case authentication::bearer:
      to.set(CURLOPT_HTTPAUTH, "CURLOPT_HTTPAUTH", static_cast<long>(CURLAUTH_BEARER));
      return to.set_line(CURLOPT_XOAUTH2_BEARER, "CURLOPT_XOAUTH2_BEARER", asked.token);
    case authentication::basic:
      to.set(CURLOPT_HTTPAUTH, "CURLOPT_HTTPAUTH", static_cast<long>(CURLAUTH_BASIC));
      break;
    case authentication::digest:
      to.set(CURLOPT_HTTPAUTH, "CURLOPT_HTTPAUTH", static_cast<long>(CURLAUTH_DIGEST));
      break;
    case authentication::any:
      to.set(CURLOPT_HTTPAUTH, "CURLOPT_HTTPAUTH", static_cast<long>(CURLAUTH_ANY));
      break;
  }
  to.set_line(CURLOPT_USERNAME, "CURLOPT_USERNAME", asked.user);
  to.set_line(CURLOPT_PASSWORD, "CURLOPT_PASSWORD", asked.password);
}

void set_version(settings& to, http_version version) {
  long wanted = CURL_HTTP_VERSION_2TLS;
  if (version == http_version::http1_1) wanted = CURL_HTTP_VERSION_1_1;
  if (version == http_version::http2_cleartext) wanted = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  to.set(CURLOPT_HTTP_VERSION, "CURLOPT_HTTP_VERSION", wanted);
  if (version == http_version::http2 || version == http_version::http2_cleartext) {
    to.set(CURLOPT_PIPEWAIT, "CURLOPT_PIPEWAIT", 1L);
  }
}

/// curl keeps the authorities that it has read for the session's next connections, but only if they
/// are a file's alone: with a folder beside it each connection would read them all again (20 ms).
void set_authorities(settings& to, const session_options& shared) {
  static const bool has_file_of_its_own = curl_version_info(CURLVERSION_NOW)->cainfo != nullptr;
  if (!shared.ca_file.empty()) {
    to.set(CURLOPT_CAINFO, "CURLOPT_CAINFO", shared.ca_file.string());
  }
  if (!shared.ca_file.empty() || has_file_of_its_own) to.try_text(CURLOPT_CAPATH, nullptr);
}

void set_shared(settings& to, const session_options& shared) {
  to.set(CURLOPT_NOSIGNAL, "CURLOPT_NOSIGNAL", 1L);
  // A stop never waits for a thread of curl's resolver (names of redirects).
  to.set(CURLOPT_QUICK_EXIT, "CURLOPT_QUICK_EXIT", 1L);
  to.set(CURLOPT_PROTOCOLS_STR, "CURLOPT_PROTOCOLS_STR", "http,https");
  to.set(CURLOPT_REDIR_PROTOCOLS_STR, "CURLOPT_REDIR_PROTOCOLS_STR", "http,https");
  to.set(CURLOPT_PROXY, "CURLOPT_PROXY", shared.proxy);
  to.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, "CURLOPT_SUPPRESS_CONNECT_HEADERS", 1L);
  to.set(CURLOPT_DNS_CACHE_TIMEOUT, "CURLOPT_DNS_CACHE_TIMEOUT",
         static_cast<long>(std::max<std::int64_t>(shared.name_cache.count(), 60)));
  if (!shared.user_agent.empty()) {
    to.set_line(CURLOPT_USERAGENT, "CURLOPT_USERAGENT", shared.user_agent);
  }
  set_authorities(to, shared);
  if (!shared.verify) {
    to.set(CURLOPT_SSL_VERIFYPEER, "CURLOPT_SSL_VERIFYPEER", 0L);
    to.set(CURLOPT_SSL_VERIFYHOST, "CURLOPT_SSL_VERIFYHOST", 0L);
  }
  if (shared.cookies != cookie_policy::off) to.set(CURLOPT_COOKIEFILE, "CURLOPT_COOKIEFILE", "");
}

void set_raw(settings& to, const request& asked) {
  for (const auto& [number, value] : asked.raw_options()) {
    const std::string name = "option " + std::to_string(number);
    const auto option = static_cast<CURLoption>(number);
    const curl_easyoption* const known = curl_easy_option_by_id(option);
    const bool is_text = std::holds_alternative<std::string>(value);
    const bool takes_text = known != nullptr && known->type == CURLOT_STRING;
    const bool takes_number =
        known != nullptr &&
        (known->type == CURLOT_LONG || known->type == CURLOT_VALUES || known->type == CURLOT_OFF_T);
    if (is_text ? !takes_text : !takes_number) {
      throw error(errc::bad_option,
                  name + (is_text ? " takes no text" : " takes no number, or is unknown"),
                  without_password(asked.url));
    }
    if (is_text) {
      to.set(option, name.c_str(), std::get<std::string>(value));
    } else if (known->type == CURLOT_OFF_T) {
      to.set_size(option, name.c_str(), std::get<long>(value));
    } else {
      to.set(option, name.c_str(), std::get<long>(value));
    }
  }
}

}  // namespace

void set_up(CURLM* multi, const session_options& shared) {
  if (shared.cookies == cookie_policy::file && shared.cookie_file.empty()) {
    throw error(errc::bad_option,
                "session_options::cookie_file is empty, and cookies are to be kept in a file", "");
  }
  check_proxy(shared.proxy);
  const auto set = [multi](CURLMoption option, const char* name, unsigned value) {
    const CURLMcode code = curl_multi_setopt(multi, option, static_cast<long>(value));
    if (code != CURLM_OK) {
      throw error(errc::bad_option, std::string(name) + ": " + curl_multi_strerror(code), "");
    }
  };
  set(CURLMOPT_MAX_TOTAL_CONNECTIONS, "max_connections", shared.max_connections);
  set(CURLMOPT_MAX_HOST_CONNECTIONS, "max_connections_per_host", shared.max_connections_per_host);
  set(CURLMOPT_MAXCONNECTS, "max_idle_connections", std::max(shared.max_idle_connections, 1U));
}

void set_up(CURL* easy, exchange& transfer, const session_options& shared,
            std::chrono::milliseconds spent) {
  const request& asked = transfer.asked;
  settings to(easy, asked.url);
  to.set(CURLOPT_URL, "CURLOPT_URL", asked.url);
  // curl takes one buffer's fill from a socket before it asks again whether there is more. One that
  // has a buffer already, since its last transfer was broken off, refuses, and keeps that.
  (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 64L << 10);
  set_shared(to, shared);
  set_version(to, shared.version);
  set_limits(to, transfer.limits, spent);
  set_method(to, asked);
  set_headers(to, transfer);
  set_user(to, asked);
  if (transfer.address_lines) {
    to.set_list(CURLOPT_RESOLVE, "CURLOPT_RESOLVE", transfer.address_lines.get());
  }
  if (!asked.range.empty()) to.set_line(CURLOPT_RANGE, "CURLOPT_RANGE", asked.range);
  if (!asked.cookies.empty()) to.set_line(CURLOPT_COOKIE, "CURLOPT_COOKIE", asked.cookies);
  if (asked.compressed) to.set(CURLOPT_ACCEPT_ENCODING, "CURLOPT_ACCEPT_ENCODING", "");
  set_raw(to, asked);
  transfer.attach(easy);
}

}  // namespace tandem::inline v0::io::curl
