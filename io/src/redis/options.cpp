// options.cpp: URLs of Redis servers, and what options cannot be.
// SPDX-License-Identifier: MIT
#include <tandem/io/redis/options.hpp>

#include <charconv>
#include <limits>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/tcp_options.hpp>

namespace tandem::inline v0::io::redis {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw error(errc::bad_option, what); }

int digit(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      made += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? digit(text[at + 1]) : -1;
    const int low = high >= 0 ? digit(text[at + 2]) : -1;
    if (low < 0) refuse("redis URL: % is not followed by two hexadecimal digits");
    made += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return made;
}

template <class Number>
Number number_of(std::string_view text, const char* what, Number least = 0) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < least) {
    refuse("redis URL: " + std::string(what) + " is no number from " + std::to_string(least) +
           " to " + std::to_string(std::numeric_limits<Number>::max()) + ": " + std::string(text));
  }
  return number;
}

void parse_user(std::string_view text, options& made) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse("redis URL: a user has a password, user:password@");
  made.username = decoded(text.substr(0, colon));
  made.password = decoded(text.substr(colon + 1));
}

void parse_host(std::string_view text, options& made) {
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) refuse("redis URL: no ] after the address");
    made.host = std::string(text.substr(1, close - 1));
    end = close + 1;
    if (end < text.size() && text[end] != ':') refuse("redis URL: something after ]");
    if (end == text.size()) end = std::string_view::npos;
  } else if (const std::string_view host = text.substr(0, end); !host.empty()) {
    made.host = decoded(host);
  }
  if (end == std::string_view::npos) return;
  made.port = number_of<std::uint16_t>(text.substr(end + 1), "the port", 1);
}

void parse_tcp(std::string_view rest, options& made) {
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    made.database = number_of<unsigned>(rest.substr(slash + 1), "the database");
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parse_user(authority.substr(0, at), made);
    authority.remove_prefix(at + 1);
  }
  parse_host(authority, made);
}

void parse_local(std::string_view rest, options& made) {
  const std::size_t query = rest.find('?');
  made.path = decoded(rest.substr(0, query));
  if (query == std::string_view::npos) return;
  const std::string_view asked = rest.substr(query + 1);
  if (!asked.starts_with("db=")) refuse("redis URL: only ?db= is known");
  made.database = number_of<unsigned>(asked.substr(3), "the database");
}

}  // namespace

options::options() { tcp.connection.alive = keep_alive(); }
options::options(const options&) = default;
options::options(options&&) noexcept = default;
options& options::operator=(const options&) = default;
options& options::operator=(options&&) noexcept = default;
options::~options() = default;

options options::parse(std::string_view url) {
  options made;
  constexpr std::string_view tcp = "redis://";
  constexpr std::string_view local = "unix://";
  if (url.starts_with(tcp)) {
    parse_tcp(url.substr(tcp.size()), made);
  } else if (url.starts_with(local)) {
    parse_local(url.substr(local.size()), made);
  } else if (url.starts_with("rediss://")) {
    refuse("redis URL: rediss:// (TLS) is not spoken here; a TLS proxy such as stunnel does");
  } else {
    refuse("redis URL: it begins with redis:// or unix://, not as " + std::string(url));
  }
  made.check();
  return made;
}

void options::check() const {
  if (path.empty() && host.empty()) refuse("options::host is empty");
  if (path.empty() && port == 0) refuse("options::port is 0");
  if (password.empty() && !username.empty()) refuse("options::username without a password");
  if (client_name.find_first_of(" \n\r\t") != std::string::npos) {
    refuse("options::client_name has blanks");
  }
  if (max_unanswered_bytes == 0) refuse("options::max_unanswered_bytes is 0");
  if (max_reply_bytes == 0) refuse("options::max_reply_bytes is 0");
  if (connect_limit <= connect_limit.zero()) refuse("options::connect_limit is not positive");
}

std::string options::place() const {
  return path.empty() ? host + ":" + std::to_string(port) : path;
}

}  // namespace tandem::inline v0::io::redis
