// names.cpp: one look-up for all who ask for a name at the same time.
// SPDX-License-Identifier: MIT
#include "curl/names.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/io/resolve.hpp>
#include <utility>
#include <vector>

#include "curl/failure.hpp"
#include "curl/library.hpp"

namespace tandem::inline v0::io::curl {

namespace {

constexpr std::size_t most_names = 4096;
constexpr unsigned url_flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;

std::string part_of(CURLU* parsed, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(parsed, part, &text, flags) != CURLUE_OK) return {};
  const owned_text owned(text);
  return owned.get();
}

bool needs_no_look_up(std::string_view host) noexcept {
  if (host.empty() || host.front() == '[') return true;
  if (host.find_first_not_of("0123456789.") == host.npos) return true;
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  return std::any_of(host.begin(), host.end(), [](char each) { return (each & 0x80) != 0; });
}

std::string line_of(const host_name& name, const std::vector<endpoint>& found) {
  std::string line = "+" + name.host + ":" + name.port + ":";
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i != 0) line += ',';
    const bool is_six = found[i].family() == address_family::ipv6;
    line += is_six ? "[" + found[i].address_to_string() + "]" : found[i].address_to_string();
  }
  return line;
}

[[noreturn]] void refuse_proxy(std::string_view proxy, std::string_view why) {
  throw error(
      errc::bad_option,
      "session_options::proxy: " + without_password(proxy) + " cannot be used: " + std::string(why),
      "");
}

/// Of a proxy: its scheme is one that curl knows, which curl itself would only say at a request.
parsed_url parsed_proxy(const std::string& text) {
  parsed_url parsed = made_or_no_memory<parsed_url>(curl_url());
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), url_flags);
  if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLUE_OK) refuse_proxy(text, curl_url_strerror(code));
  constexpr std::array<std::string_view, 7> known = {"http",    "https",  "socks",  "socks4",
                                                     "socks4a", "socks5", "socks5h"};
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (std::find(known.begin(), known.end(), scheme) == known.end()) {
    refuse_proxy(text, "its scheme is none of http, https, socks4, socks4a, socks5, socks5h");
  }
  return parsed;
}

host_name name_of_proxy(const std::string& proxy) {
  const parsed_url parsed = parsed_proxy(proxy);
  std::string port = part_of(parsed.get(), CURLUPART_PORT);
  // curl's own default.
  if (port.empty()) port = part_of(parsed.get(), CURLUPART_SCHEME) == "https" ? "443" : "1080";
  return {part_of(parsed.get(), CURLUPART_HOST), std::move(port), true};
}

host_name name_of_host(const std::string& url) {
  const parsed_url parsed = made_or_no_memory<parsed_url>(curl_url());
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), url_flags);
  if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLUE_OK) throw error(errc::bad_url, curl_url_strerror(code), without_password(url));
  return {part_of(parsed.get(), CURLUPART_HOST),
          part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT), false};
}

}  // namespace

void check_proxy(const std::string& proxy) {
  if (proxy.empty()) return;
  if (proxy.find('\0') != proxy.npos) {
    throw error(errc::bad_option, "session_options::proxy: a text with a zero in it", "");
  }
  const parsed_url parsed = parsed_proxy(proxy);
  if (part_of(parsed.get(), CURLUPART_HOST).empty()) refuse_proxy(proxy, "it names no host");
}

std::optional<host_name> name_to_ask(const std::string& url, const std::string& proxy) {
  if (proxy.empty() && url.find('\0') != url.npos) return std::nullopt;  // set_up() says so
  host_name name = proxy.empty() ? name_of_host(url) : name_of_proxy(proxy);
  if (needs_no_look_up(name.host)) return std::nullopt;
  return name;
}

task<std::string> name_cache::find(const host_name& name, std::chrono::milliseconds limit,
                                   std::string_view url) {
  const auto begun = tandem::now();
  const std::string key = name.host + ":" + name.port;
  if (entries_.size() > most_names) forget_old();
  std::shared_ptr<entry>& place = entries_[key];
  if (place == nullptr) place = std::make_shared<entry>();
  const std::shared_ptr<entry> at = place;
  const mutex_guard here = co_await at->one_asks.scoped_lock();
  // An answer that came while this one waited is new enough, however short they are kept.
  if (!at->line.empty() && (at->since >= begun || tandem::now() - at->since < keep_)) {
    co_return at->line;
  }
  ++asked_;
  resolve_options patience;
  patience.limit = limit;
  const result<std::vector<endpoint>> found =
      co_await as_result(resolve(name.host, name.port, patience));
  if (!found.has_value()) {
    if (found.is_cancelled()) std::rethrow_exception(found.exception());
    const errc code =
        found.error() == std::errc::timed_out ? errc::timed_out : errc::could_not_resolve;
    std::string words = name.is_proxy ? "the proxy's name " + name.host + " could not be resolved"
                                      : "Could not resolve host: " + name.host;
    words += " (" + found.error().message() + ")";
    throw error(code, std::move(words), without_password(url));
  }
  at->line = line_of(name, found.value());
  at->since = tandem::now();
  co_return at->line;
}

void name_cache::forget_old() {
  const auto now = tandem::now();
  std::erase_if(entries_, [&](const auto& each) {
    return each.second.use_count() == 1 && now - each.second->since >= keep_;
  });
}

}  // namespace tandem::inline v0::io::curl
