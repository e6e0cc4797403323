// unix_endpoint.cpp: names of Unix sockets, and the paths that they leave.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_endpoint.hpp>

#include <algorithm>
#include <system_error>
#include <tandem/io/detail/local_name.hpp>

#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void refuse(std::errc why, const std::string& text) {
  throw std::system_error(std::make_error_code(why), "unix_endpoint: " + text);
}

}  // namespace

unix_endpoint::unix_endpoint(kind of, std::string_view name)
    : kind_(of), size_(static_cast<std::uint8_t>(name.size())) {
  std::ranges::copy(name, bytes_.begin());
}

unix_endpoint unix_endpoint::path(std::string_view name) {
  if (name.empty()) refuse(std::errc::invalid_argument, "a path is empty");
  if (name.find('\0') != std::string_view::npos) {
    refuse(std::errc::invalid_argument, "a path has a zero byte: use unix_endpoint::abstract");
  }
  if (name.size() > most_bytes) {
    refuse(std::errc::filename_too_long,
           "'" + std::string(name) + "' has " + std::to_string(name.size()) +
               " bytes, and a socket's path at most " + std::to_string(most_bytes) +
               ": change to its folder and use a relative path, or a shorter one");
  }
  return {kind::path, name};
}

unix_endpoint unix_endpoint::abstract(std::string_view name) {
  if (name.size() > most_bytes) {
    refuse(std::errc::filename_too_long, "an abstract name has " + std::to_string(name.size()) +
                                             " bytes, and at most " + std::to_string(most_bytes) +
                                             " are possible");
  }
  return {kind::abstract, name};
}

unix_endpoint unix_endpoint::parse(std::string_view text) {
  return text.starts_with('@') ? abstract(text.substr(1)) : path(text);
}

std::string unix_endpoint::to_string() const {
  switch (kind_) {
    case kind::path: return std::string(name());
    case kind::abstract: return "@" + std::string(name());
    case kind::unnamed: break;
  }
  return "an unnamed socket";
}

void detail::local_name::remove() noexcept {
  if (at_.is_unnamed()) return;
  const auto found = platform::identity_of(at_);
  if (found && found.value() == made_) platform::remove_path(at_);
  forget();
}

}  // namespace tandem::inline v0::io
