// inherited_sockets.cpp: what the environment says of descriptors that were passed on.
// SPDX-License-Identifier: MIT
#include <tandem/io/inherited_sockets.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tandem::inline v0::io {

namespace {

constexpr int first_inherited = 3;

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// @returns  negative if it is none
long number_of(std::string_view text) noexcept {
  long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

void forget_variables() noexcept {
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) (void)::unsetenv(name);
}

/// The first of "one:two:three", which loses it.
std::string next_name(std::string& names) {
  const std::size_t end = names.find(':');
  std::string name = names.substr(0, end);
  names = end == std::string::npos ? "" : names.substr(end + 1);
  return name.empty() ? "unknown" : name;
}

}  // namespace

std::vector<inherited_socket> inherited_sockets() {
  if (number_of(variable("LISTEN_PID")) != ::getpid()) return {};
  const long count = number_of(variable("LISTEN_FDS"));
  if (count < 0 || count > 65'536) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "inherited_sockets: LISTEN_FDS is '" +
                                std::string(variable("LISTEN_FDS")) + "', and no count");
  }
  for (int i = 0; i < count; ++i) {
    if (::fcntl(first_inherited + i, F_SETFD, FD_CLOEXEC) == 0) continue;
    throw std::system_error(errno, std::generic_category(),
                            "inherited_sockets: LISTEN_FDS says " + std::to_string(count) +
                                ", and descriptor " + std::to_string(first_inherited + i) +
                                " is not open");
  }
  std::string names(variable("LISTEN_FDNAMES"));
  std::vector<inherited_socket> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    std::string name = next_name(names);
    all.emplace_back(std::move(name), owned_descriptor(first_inherited + i));
  }
  forget_variables();
  return all;
}

}  // namespace tandem::inline v0::io
