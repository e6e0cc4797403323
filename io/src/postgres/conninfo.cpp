// conninfo.cpp: libpq parses; names become addresses here.
// SPDX-License-Identifier: MIT
#include "postgres/conninfo.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <memory>
#include <new>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/resolve.hpp>
#include <utility>

#include "postgres/failure.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

struct option_list_freed {
  void operator()(PQconninfoOption* of) const noexcept { PQconninfoFree(of); }
};
using option_list = std::unique_ptr<PQconninfoOption, option_list_freed>;

/// As libpq separates lists: an empty text is a list of one that is empty.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

/// One of a list that has one for all, one for each, or is shorter than it should be: libpq says.
const std::string& part(const std::vector<std::string>& list, std::size_t number) {
  return list[list.size() == 1 || number >= list.size() ? 0 : number];
}

bool is_folder(std::string_view host) noexcept {
  return host.starts_with('/') || host.starts_with('@');
}

/// Comma lists of host, hostaddr and port that belong together.
class host_lists {
 public:
  void add(std::string_view host, std::string_view address, std::string_view port) {
    if (!is_first_) {
      hosts += ',';
      addresses += ',';
      ports += ',';
    }
    is_first_ = false;
    hosts += host;
    addresses += address;
    ports += port;
    has_address |= !address.empty();
  }
  bool is_empty() const noexcept { return is_first_; }

  std::string hosts;
  std::string addresses;
  std::string ports;
  bool has_address = false;

 private:
  bool is_first_ = true;
};

}  // namespace

conninfo::conninfo(const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw error(errc::bad_option, "postgres: the connection string has a zero byte");
  }
  char* message = nullptr;
  const option_list parsed(PQconninfoParse(text.c_str(), &message));
  if (parsed == nullptr) {
    const std::string why = trimmed(message);
    PQfreemem(message);
    throw error(errc::bad_option, "postgres: the connection string cannot be read: " + why);
  }
  for (const PQconninfoOption* each = parsed.get(); each->keyword != nullptr; ++each) {
    if (each->val != nullptr) given_[each->keyword] = each->val;
  }
  const bool has_host = !value("host").empty() || !value("hostaddr").empty();
  may_block_ = !has_host && !value("service").empty();
  if (may_block_) return;
  const option_list defaults(PQconndefaults());
  if (defaults == nullptr) throw std::bad_alloc();
  for (const PQconninfoOption* each = defaults.get(); each->keyword != nullptr; ++each) {
    const std::string_view keyword = each->keyword;
    if (each->val == nullptr || given_.contains(keyword)) continue;
    // Those of the environment are of no use beside a host that is given, but the port is.
    const bool is_place = keyword == "host" || keyword == "hostaddr";
    if (keyword == "port" || keyword == "connect_timeout" || (is_place && !has_host)) {
      given_[each->keyword] = each->val;
    }
  }
  given_.try_emplace("client_encoding", "UTF8");
  given_.try_emplace("fallback_application_name", "tandem");
}

std::string_view conninfo::value(const std::string& keyword) const {
  const auto found = given_.find(keyword);
  return found != given_.end() ? std::string_view(found->second) : std::string_view();
}

task<void> conninfo::resolve_hosts() {
  if (may_block_) co_return;
  const std::vector<std::string> hosts = parts_of(value("host"));
  const std::vector<std::string> addresses = parts_of(value("hostaddr"));
  const std::vector<std::string> ports = parts_of(value("port"));
  const std::size_t count = hosts.size() > addresses.size() ? hosts.size() : addresses.size();
  host_lists all;
  std::string not_found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string host = hosts.size() == count ? hosts[i] : std::string();
    const std::string address = addresses.size() == count ? addresses[i] : std::string();
    const std::string port = part(ports, i);
    if (!address.empty() || host.empty() || is_folder(host)) {
      all.add(host, address, port);
      continue;
    }
    const auto found = co_await as_result(io::resolve(host, std::uint16_t(0)));
    if (!found.has_value()) {
      if (found.is_cancelled()) std::rethrow_exception(found.exception());
      not_found +=
          (not_found.empty() ? "" : "; ") + ("\"" + host + "\": " + found.error().message());
      continue;
    }
    // postgres_connect/names
    for (const endpoint& each : found.value()) all.add(host, each.address_to_string(), port);
  }
  if (all.is_empty()) {
    throw error(errc::cannot_connect,
                "postgres::connection::open " + in_words() + ": no address of host " + not_found);
  }
  given_["host"] = std::move(all.hosts);
  given_["port"] = std::move(all.ports);
  if (all.has_address) given_["hostaddr"] = std::move(all.addresses);
}

std::optional<std::chrono::milliseconds> conninfo::limit() const {
  const std::string_view text = value("connect_timeout");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

std::string conninfo::in_words() const {
  std::string words(value("host").empty() ? value("hostaddr") : value("host"));
  if (words.empty())
    words = may_block_ ? "service " + std::string(value("service")) : "this machine";
  if (!value("port").empty()) words += ":" + std::string(value("port"));
  if (!value("dbname").empty()) words += ", database " + std::string(value("dbname"));
  if (!value("user").empty()) words += ", user " + std::string(value("user"));
  return words;
}

std::vector<const char*> conninfo::keywords() const {
  std::vector<const char*> list;
  for (const auto& [keyword, value] : given_) list.push_back(keyword.c_str());
  list.push_back(nullptr);
  return list;
}

std::vector<const char*> conninfo::values() const {
  std::vector<const char*> list;
  for (const auto& [keyword, value] : given_) list.push_back(value.c_str());
  list.push_back(nullptr);
  return list;
}

}  // namespace tandem::inline v0::io::postgres::detail
