// environment_options.cpp: options that come from environment variables.
// SPDX-License-Identifier: MIT
#include <tandem/detail/environment_options.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem::inline v0::detail {

unsigned count_from_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  unsigned value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stopped != end || value == 0) {
    throw std::invalid_argument(std::string(name) + " is \"" + text +
                                "\": a whole number of at least 1 is needed");
  }
  return value;
}

bool switch_from_environment(const char* name, bool otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view wanted = text;
  if (wanted == "on" || wanted == "off") return wanted == "on";
  throw std::invalid_argument(std::string(name) + " is \"" + text +
                              "\": \"on\" or \"off\" is needed");
}

}  // namespace tandem::inline v0::detail
