// environment_options.cpp: options that come from environment variables.
// SPDX-License-Identifier: MIT
#include <tandem/detail/environment_options.hpp>

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tandem::inline v0::detail {

std::string_view text_from_environment(const char* name, std::string_view otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : otherwise;
}

unsigned count_from_environment(const char* name, unsigned otherwise) {
  const std::string_view text = text_from_environment(name, "");
  if (text.empty()) return otherwise;
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || value == 0) {
    throw std::invalid_argument(std::string(name) + " is \"" + std::string(text) +
                                "\": a whole number of at least 1 is needed");
  }
  return value;
}

bool switch_from_environment(const char* name, bool otherwise) {
  const std::string_view wanted = text_from_environment(name, "");
  if (wanted.empty()) return otherwise;
  if (wanted == "on" || wanted == "off") return wanted == "on";
  throw std::invalid_argument(std::string(name) + " is \"" + std::string(wanted) +
                              "\": \"on\" or \"off\" is needed");
}

}  // namespace tandem::inline v0::detail
