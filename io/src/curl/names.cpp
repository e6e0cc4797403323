// names.cpp: one look-up for all who ask for a name at the same time.
// SPDX-License-Identifier: MIT
#include "curl/names.hpp"

#include <algorithm>
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

}  // namespace

std::optional<host_name> name_to_ask(std::string_view url, std::string_view proxy) {
  const std::string text(proxy.empty() ? url : proxy);
  if (text.find('\0') != text.npos) return std::nullopt;  // set_up() says so
  const parsed_url parsed = made_or_no_memory<parsed_url>(curl_url());
  const unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), flags);
  if (code != CURLUE_OK) {
    const errc which = proxy.empty() ? errc::bad_url : errc::bad_option;
    throw error(which, curl_url_strerror(code), without_password(text));
  }
  std::string host = part_of(parsed.get(), CURLUPART_HOST);
  std::string port = part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!proxy.empty() && part_of(parsed.get(), CURLUPART_PORT).empty()) port = "1080";
  if (needs_no_look_up(host)) return std::nullopt;
  return host_name(std::move(host), std::move(port));
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
    std::string words = "Could not resolve host: " + name.host;
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
